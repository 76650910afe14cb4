#include "domain/estimate/memory.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/size.h"

namespace cardhour::estimate {
namespace {

constexpr double kGB = 1e9;  // the rules of thumb count in 10^9

MemoryRequest serve(double params, Precision precision = Precision::fp16) {
  MemoryRequest request;
  request.model = shape_of_params(params);
  request.precision = precision;
  request.context = 128;  // short: what is left is the weights' own
  return request;
}
MemoryRequest train(double params, Workload workload) {
  MemoryRequest request;
  request.model = shape_of_params(params);
  request.workload = workload;
  request.context = 2048;
  return request;
}
Range part(const Memory& memory, const std::string& key) {
  Range sum;
  for (const MemoryPart& each : memory.parts) {
    if (each.key == key) sum = sum + each.bytes;
  }
  return sum;
}
Range per_card(const MemoryRequest& request) {
  EXPECT_TRUE(check(request).has_value());
  return memory_of(request).per_card;
}
Fit on_card(const MemoryRequest& request, double gib) {
  return fit_of(per_card(request), gib * static_cast<double>(kGiB));
}
double model_states(const Memory& memory) {
  return part(memory, "weights").likely + part(memory, "gradients").likely +
         part(memory, "optimizer").likely;
}

// ---- the rules of thumb, one test a number ----

// 7B in FP16, every head with its own keys and values, 1 sequence, short context.
TEST(RuleOfThumb, SevenBillionInSixteenBitAre14AndIn18To22) {
  const Memory memory = memory_of(serve(7e9));
  EXPECT_DOUBLE_EQ(part(memory, "weights").likely, 14 * kGB);
  EXPECT_EQ(std::lround(memory.per_card.likely / kGB), 18);
  EXPECT_EQ(std::lround(memory.per_card.high / kGB), 22);
  // 1.3 and 1.6 times the weights, the cache apart.
  EXPECT_NEAR((part(memory, "weights") + part(memory, "overhead")).likely, 1.3 * 14 * kGB, 1);
  EXPECT_NEAR((part(memory, "weights") + part(memory, "overhead")).high, 1.6 * 14 * kGB, 1);
}

TEST(RuleOfThumb, SevenBillionInSixteenBitJustFit24) {
  EXPECT_EQ(on_card(serve(7e9), 24), Fit::comfortable);
  EXPECT_GT(per_card(serve(7e9)).high / (24.0 * kGiB), 0.85);
  EXPECT_EQ(on_card(serve(7e9), 16), Fit::tight);
}

// 32 KV heads of 128, 4 sequences of 8192 tokens.
TEST(RuleOfThumb, FourSequencesOf8KTakeSevenBillionTo40) {
  MemoryRequest request = serve(7e9);
  request.context = 8192;
  request.sequences = 4;
  EXPECT_DOUBLE_EQ(part(memory_of(request), "kv_cache").low, 2.0 * 32 * 32 * 128 * 2 * 4 * 8192);
  EXPECT_GT(per_card(request).high, 40 * kGB);
  EXPECT_EQ(on_card(request, 24), Fit::no);
  EXPECT_EQ(on_card(request, 32), Fit::tight);
  EXPECT_EQ(on_card(request, 40), Fit::fits);
}

TEST(RuleOfThumb, FourBitAre3_5AndA12CardWorks) {
  EXPECT_DOUBLE_EQ(part(memory_of(serve(7e9, Precision::int4)), "weights").likely, 3.5 * kGB);
  MemoryRequest request = serve(7e9, Precision::int4);
  request.context = 4096;
  EXPECT_EQ(on_card(request, 12), Fit::comfortable);
}

TEST(RuleOfThumb, FullTrainingTakes16BytesAParameter) {
  const Memory memory = memory_of(train(7e9, Workload::full));
  EXPECT_DOUBLE_EQ(part(memory, "weights").likely, 2 * 7 * kGB);
  EXPECT_DOUBLE_EQ(part(memory, "gradients").likely, 2 * 7 * kGB);
  EXPECT_DOUBLE_EQ(part(memory, "optimizer").likely, (4 + 4 + 4) * 7 * kGB);
  EXPECT_DOUBLE_EQ(model_states(memory), 112 * kGB);
}

TEST(RuleOfThumb, InPractice16To20BytesAParameter) {
  const Memory memory = memory_of(train(7e9, Workload::full));
  const Range beyond = part(memory, "activations") + part(memory, "logits");
  EXPECT_NEAR((memory.per_card.low - beyond.low) / 7e9, 16, 0.01);
  EXPECT_NEAR(memory.per_card.high / 7e9, 20, 0.5);
  EXPECT_GT(memory.per_card.low, 112 * kGB);
}

TEST(RuleOfThumb, SevenBillionInFullNeedSeveralCards) {
  const MemoryRequest request = train(7e9, Workload::full);
  EXPECT_EQ(on_card(request, 80), Fit::no);
  EXPECT_EQ(on_card(spread(request, 4), 80), Fit::comfortable);
}

TEST(RuleOfThumb, LoraFreezesTheBaseAt2BytesOr4) {
  MemoryRequest request = train(7e9, Workload::lora);
  EXPECT_DOUBLE_EQ(part(memory_of(request), "weights").likely, 14 * kGB);
  // Of the base there are neither gradients nor moments: these are the adapters' alone.
  const double adapters = lora_params(request.model, 16);
  EXPECT_DOUBLE_EQ(part(memory_of(request), "gradients").likely, 2 * adapters);
  EXPECT_DOUBLE_EQ(part(memory_of(request), "optimizer").likely, 12 * adapters);
  EXPECT_LT(adapters, 0.01 * 7e9);
  request.precision = Precision::fp32;
  EXPECT_DOUBLE_EQ(part(memory_of(request), "weights").likely, 28 * kGB);
}

// 7B, sequence 2048, batch 1: on 24 with checkpointing; without it between 24 and 48.
TEST(RuleOfThumb, LoraOfSevenBillionFits24And48IsComfortable) {
  MemoryRequest request = train(7e9, Workload::lora);
  EXPECT_EQ(on_card(request, 24), Fit::comfortable);
  request.checkpointing = Checkpointing::off;
  EXPECT_EQ(on_card(request, 24), Fit::tight);
  EXPECT_EQ(on_card(request, 48), Fit::comfortable);
}

TEST(RuleOfThumb, FourteenBillionByQloraOn24ByLoraOn32Tight) {
  EXPECT_EQ(on_card(train(14e9, Workload::qlora), 24), Fit::comfortable);
  EXPECT_EQ(on_card(train(14e9, Workload::lora), 24), Fit::no);
  EXPECT_EQ(on_card(train(14e9, Workload::lora), 32), Fit::tight);
}

TEST(RuleOfThumb, ThirtyBillionByLoraAreOfThe80Class) {
  EXPECT_EQ(on_card(train(30e9, Workload::lora), 48), Fit::no);
  EXPECT_EQ(on_card(train(30e9, Workload::lora), 80), Fit::comfortable);
}

// A 7B in 4 bit, context 4096, 32 KV heads: 6 to 8 in practice. With a 13B on the same card
// it passes 24 once context grows.
TEST(RuleOfThumb, SeveralServedModelsShareACard) {
  MemoryRequest seven = serve(7e9, Precision::int4);
  seven.context = 4096;
  const Range alone = per_card(seven);
  EXPECT_GT(alone.likely, 6 * kGB);
  EXPECT_LT(alone.likely, 8 * kGB);
  MemoryRequest thirteen = serve(13e9, Precision::int4);
  thirteen.context = 512;
  seven.context = 512;
  seven.beside = {thirteen};
  EXPECT_EQ(on_card(seven, 24), Fit::comfortable);
  EXPECT_DOUBLE_EQ(
      per_card(seven).likely,
      per_card(thirteen).likely + part(memory_of(seven), "weights").likely +
          part(memory_of(seven), "unquantized").likely + part(memory_of(seven), "kv_cache").likely +
          part(memory_of(seven), "prompt").likely + part(memory_of(seven), "overhead").likely);
  seven.context = seven.beside[0].context = 8192;
  EXPECT_GT(per_card(seven).likely, 24 * kGB);
}

// ---- published formulas ----

// Rajbhandari et al., ZeRO: Memory Optimizations Toward Training Trillion Parameter Models,
// SC20, figure 1: 7.5B parameters over 64 cards take 120 GB without, 31.4 GB at stage 1,
// 16.6 GB at stage 2 and 1.9 GB at stage 3.
TEST(Published, ZeroStages) {
  for (const auto& [stage, gigabytes] :
       {std::pair{0, 120.0}, std::pair{1, 31.4}, std::pair{2, 16.6}, std::pair{3, 1.9}}) {
    MemoryRequest request = train(7.5e9, Workload::full);
    request.cards = 64;
    request.zero_stage = stage;
    EXPECT_NEAR(model_states(memory_of(request)) / kGB, gigabytes, 0.05) << stage;
  }
}

// Korthikanti et al., Reducing Activation Recomputation in Large Transformer Models, 2022,
// table 2: with tensor parallelism t a layer keeps sbh(10 + 24 / t) bytes beside attention;
// with full recomputation 2sbh a layer.
TEST(Published, Activations) {
  MemoryRequest request = train(7e9, Workload::full);
  const double sbh = 2048.0 * request.model.hidden;
  request.checkpointing = Checkpointing::off;
  EXPECT_DOUBLE_EQ(part(memory_of(request), "activations").likely, sbh * 34 * request.model.layers);
  request.cards = request.tensor_parallel = 4;
  EXPECT_DOUBLE_EQ(part(memory_of(request), "activations").likely, sbh * 16 * request.model.layers);
  request.checkpointing = Checkpointing::on;
  EXPECT_DOUBLE_EQ(part(memory_of(request), "activations").likely,
                   sbh * (2.0 * request.model.layers + 16));
}

// Dettmers et al., 8-bit Optimizers via Block-wise Quantization, 2022: both moments in a byte.
TEST(Published, EightBitAdamKeeps6BytesInsteadOf12) {
  MemoryRequest request = train(1e9, Workload::full);
  EXPECT_DOUBLE_EQ(part(memory_of(request), "optimizer").likely, 12e9);
  request.optimizer = Optimizer::adam_8bit;
  EXPECT_DOUBLE_EQ(part(memory_of(request), "optimizer").likely, 6e9);
}

// ---- layouts ----

TEST(Memory, TensorParallelismSplitsTheCacheNoFurtherThanItsHeads) {
  MemoryRequest request = serve(7e9);
  request.model.kv_heads = 4;
  const double whole = part(memory_of(request), "kv_cache").low;
  request.cards = request.tensor_parallel = 8;
  EXPECT_DOUBLE_EQ(part(memory_of(request), "kv_cache").low, whole / 4);
  EXPECT_DOUBLE_EQ(part(memory_of(request), "weights").low, 14 * kGB / 8);
  EXPECT_EQ(memory_warnings(request).size(), 1u);
  // Latent attention keeps one vector for all heads.
  request.model.kv_values_per_layer = 576;
  EXPECT_DOUBLE_EQ(part(memory_of(request), "kv_cache").low, 576.0 * 32 * 2 * 128);
}

TEST(Memory, RefusesWhatCannotBe) {
  const auto field = [](auto change) {
    MemoryRequest request = serve(7e9);
    change(request);
    const Status status = check(request);
    return status ? std::string() : status.error().field;
  };
  EXPECT_EQ(field([](MemoryRequest&) {}), "");
  EXPECT_EQ(field([](MemoryRequest& r) { r.context = 0; }), "context");
  EXPECT_EQ(field([](MemoryRequest& r) { r.sequences = 1 << 20; }), "sequences");
  EXPECT_EQ(field([](MemoryRequest& r) { r.zero_stage = 4; }), "zero_stage");
  EXPECT_EQ(field([](MemoryRequest& r) { r.tensor_parallel = 3; }), "tensor_parallel");
  EXPECT_EQ(field([](MemoryRequest& r) { r.workload = Workload::diffusion; }), "workload");
  EXPECT_EQ(field([](MemoryRequest& r) {
              r.workload = Workload::lora;
              r.precision = Precision::int4;
            }),
            "precision");
}

TEST(Memory, TellsWhatBringsItOntoASmallerCard) {
  const Catalog catalog(
      {{.key = "small", .name = "Small", .vram_bytes = 12 * kGiB, .compute_capability = "8.6"},
       {.key = "middle", .name = "Middle", .vram_bytes = 24 * kGiB, .compute_capability = "8.6"},
       {.key = "other", .name = "Other", .vram_bytes = 8 * kGiB}});
  const auto found = changes(serve(7e9), catalog);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].key, "int8");
  EXPECT_EQ(found[1].key, "int4");
  EXPECT_EQ(found[1].card->key, "small");  // never the one that is not CUDA
  // A card that is the smallest already can get no smaller.
  EXPECT_TRUE(changes(serve(3e9, Precision::int4), catalog).empty());
}

TEST(Memory, CountsTheFewestCardsThatCarryIt) {
  const Catalog catalog(
      {{.key = "a", .name = "A", .vram_bytes = 24 * kGiB, .compute_capability = "8.9"}});
  const auto one = card_fits(serve(7e9), catalog).front();
  EXPECT_EQ(one.cards, 1);
  EXPECT_EQ(one.fit, Fit::comfortable);
  EXPECT_EQ(one.utilisation_percent, 71);
  const auto several = card_fits(serve(70e9), catalog).front();
  EXPECT_EQ(several.cards, 8);
  EXPECT_EQ(several.fit_alone, Fit::no);
  EXPECT_EQ(card_fits(serve(700e9), catalog).front().fit, Fit::no);
}

// Presets of 50, 100, 200 GB and more; warn at 90 and 95 % full; keep 3 checkpoints, and the
// fourth is written before one goes.
TEST(RuleOfThumb, DisksOf50And100And200StayBelow90Percent) {
  const EstimateRules rules;
  EXPECT_EQ(disk_need(serve(7e9), rules).data_disk_bytes, 50 * kGiB);
  EXPECT_EQ(disk_need(serve(30e9), rules).data_disk_bytes, 100 * kGiB);
  EXPECT_EQ(disk_need(serve(70e9), rules).data_disk_bytes, 200 * kGiB);
  const DiskNeed full = disk_need(train(7e9, Workload::full), rules);
  EXPECT_DOUBLE_EQ(full.bytes, 14 * kGB + 4 * 14 * 7 * kGB);
  EXPECT_GE(static_cast<double>(full.data_disk_bytes) * 0.9, full.bytes);
  EXPECT_NE(full.sentence.en.find("below 90 %; at 95 %"), std::string::npos) << full.sentence.en;
}

// ---- properties ----

rc::Gen<MemoryRequest> any_request() {
  return rc::gen::map(rc::gen::tuple(rc::gen::inRange(100, 200'000), rc::gen::inRange(1, 20'000),
                                     rc::gen::inRange(1, 64), rc::gen::inRange(0, 4),
                                     rc::gen::inRange(0, 4), rc::gen::inRange(0, 4)),
                      [](const std::tuple<int, int, int, int, int, int>& drawn) {
                        const auto& [megas, context, sequences, workload, precision, zero] = drawn;
                        MemoryRequest request;
                        request.model = shape_of_params(megas * 1e6);
                        request.context = context;
                        request.sequences = sequences;
                        request.workload = static_cast<Workload>(workload);
                        request.precision = static_cast<Precision>(precision);
                        const bool trained = request.workload == Workload::lora ||
                                             request.workload == Workload::full;
                        if (trained) request.precision = Precision::fp16;
                        request.zero_stage = zero;
                        request.cards = 8;
                        return request;
                      });
}
bool nowhere_less(const MemoryRequest& more, const MemoryRequest& less) {
  const Range a = memory_of(more).per_card;
  const Range b = memory_of(less).per_card;
  return a.low >= b.low && a.likely >= b.likely && a.high >= b.high;
}

// Whatever architecture is accepted has finite sizes, and texts that can be written.
RC_GTEST_PROP(MemoryProperty, AnyAcceptedArchitectureCanBeAnswered, ()) {
  const auto count = [](int highest) {
    return rc::gen::element(0, 1, 2, highest / 2, highest, highest + 1, -1);
  };
  MemoryRequest request;
  request.model.layers = *count(2048);
  request.model.hidden = *count(1 << 20);
  request.model.heads = *count(8192);
  request.model.kv_heads = *count(8192);
  request.model.head_dim = *count(8192);
  request.model.ffn = *count(1 << 20);
  request.model.vocab = *count(4 << 20);
  request.model.experts = *count(8192);
  request.model.params = *rc::gen::element(0.0, 1e5, 7e9, 1e13, 1e14);
  const auto shape = completed(request.model);
  if (!shape) return;
  request.model = *shape;
  request.context = 16 << 20;
  request.sequences = 65'536;
  request.workload = *rc::gen::element(Workload::inference, Workload::lora, Workload::full);
  request.lora_rank = 4096;
  RC_ASSERT(std::isfinite(memory_of(request).per_card.high));
  RC_ASSERT(disk_need(request, EstimateRules{}).data_disk_bytes >= 50 * kGiB);
  RC_ASSERT(!memory_summary(request, memory_of(request)).zh.empty());
}
RC_GTEST_PROP(MemoryProperty, LowIsAtMostLikelyIsAtMostHigh, ()) {
  const Range range = memory_of(*any_request()).per_card;
  RC_ASSERT(range.low > 0);
  RC_ASSERT(range.low <= range.likely);
  RC_ASSERT(range.likely <= range.high);
}
RC_GTEST_PROP(MemoryProperty, PartsSumUp, ()) {
  const Memory memory = memory_of(*any_request());
  Range sum;
  for (const MemoryPart& each : memory.parts) sum = sum + each.bytes;
  RC_ASSERT(std::abs(sum.likely - memory.per_card.likely) <= 1e-9 * sum.likely);
}
RC_GTEST_PROP(MemoryProperty, GrowsWithParameters, (double share)) {
  MemoryRequest less = *any_request();
  MemoryRequest more = less;
  more.model = shape_of_params(less.model.params * (1 + std::fmod(std::abs(share), 3)));
  if (!std::isfinite(more.model.params)) return;
  RC_ASSERT(nowhere_less(more, less));
}
RC_GTEST_PROP(MemoryProperty, GrowsWithContext, ()) {
  const MemoryRequest less = *any_request();
  MemoryRequest more = less;
  more.context += *rc::gen::inRange(0, 100'000);
  RC_ASSERT(nowhere_less(more, less));
}
RC_GTEST_PROP(MemoryProperty, GrowsWithBatch, ()) {
  const MemoryRequest less = *any_request();
  MemoryRequest more = less;
  more.sequences += *rc::gen::inRange(0, 512);
  RC_ASSERT(nowhere_less(more, less));
}
RC_GTEST_PROP(MemoryProperty, ShrinksWithTheStageOfZero, ()) {
  MemoryRequest more = *any_request();
  more.zero_stage = *rc::gen::inRange(0, 3);
  MemoryRequest less = more;
  less.zero_stage += 1;
  RC_ASSERT(nowhere_less(more, less));
}
RC_GTEST_PROP(MemoryProperty, ShrinksWithMoreCards, ()) {
  MemoryRequest request = *any_request();
  request.cards = 1;
  if (request.zero_stage == 0) request.zero_stage = 3;
  RC_ASSERT(nowhere_less(spread(request, 2), spread(request, 8)));
}

}  // namespace
}  // namespace cardhour::estimate
