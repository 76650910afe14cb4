#include "domain/estimate/cards.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "base/size.h"

namespace cardhour::estimate {
namespace {

const Currency kCurrency;

Catalog catalog() {
  return Catalog({{.key = "consumer",
                   .name = "Consumer",
                   .vram_bytes = 24 * kGiB,
                   .bandwidth_gb_per_s = 1000,
                   .fp32_tflops = 80,
                   .fp16_tflops = 160,
                   .int8_tops = 600,
                   .interconnect = "PCIe 4.0 x16",
                   .compute_capability = "8.9"},
                  {.key = "large",
                   .name = "Large",
                   .vram_bytes = 80 * kGiB,
                   .bandwidth_gb_per_s = 2000,
                   .fp32_tflops = 20,
                   .fp16_tflops = 300,
                   .int8_tops = 600,
                   .interconnect = "NVLink 600 GB/s",
                   .ecc = true,
                   .compute_capability = "8.0"},
                  {.key = "newest",
                   .name = "Newest",
                   .vram_bytes = 32 * kGiB,
                   .bandwidth_gb_per_s = 1800,
                   .fp32_tflops = 100,
                   .fp16_tflops = 200,
                   .int8_tops = 800,
                   .interconnect = "PCIe 5.0 x16",
                   .compute_capability = "12.0"},
                  {.key = "other",
                   .name = "Other",
                   .vram_bytes = 64 * kGiB,
                   .bandwidth_gb_per_s = 1600,
                   .fp32_tflops = 75,
                   .fp16_tflops = 300,
                   .interconnect = "HCCS 392 GB/s",
                   .ecc = true,
                   .warning = "Not CUDA. / 不是 CUDA。"}});
}
PriceBook prices() {
  return PriceBook({{"consumer", Mode::on_demand, Money{2'000'000}},
                    {"large", Mode::on_demand, Money{6'000'000}},
                    {"other", Mode::on_demand, Money{1'000'000}}});
}
CardsRequest wanted(CardTask task, double gib, int cards = 1) {
  CardsRequest request;
  request.task = task;
  request.vram_bytes = gib * static_cast<double>(kGiB);
  request.cards_max = cards;
  return request;
}
std::vector<std::string> order(const CardsRequest& request) {
  const Catalog cards = catalog();
  std::vector<std::string> keys;
  for (const CardRank& rank : rank_cards(request, cards, prices(), kCurrency)) {
    keys.push_back(rank.card->key);
  }
  return keys;
}
using Keys = std::vector<std::string>;
bool warns(const GpuModel& card, const std::string& of, int cards = 1, bool continuous = false) {
  const auto all = card_warnings(card, cards, continuous);
  return std::any_of(all.begin(), all.end(), [&](const Text& each) {
    return each.en.find(of) != std::string::npos && !each.zh.empty();
  });
}

// For rent first, not CUDA last among them, then what the task looks at for the money.
TEST(Cards, AreRankedByWhatTheTaskLooksAt) {
  EXPECT_EQ(order(wanted(CardTask::inference, 20)), (Keys{"consumer", "large", "other", "newest"}));
  EXPECT_EQ(order(wanted(CardTask::training, 20)), (Keys{"consumer", "large", "other", "newest"}));
  EXPECT_EQ(order(wanted(CardTask::images, 20)), (Keys{"large", "consumer", "other", "newest"}));
  EXPECT_EQ(order(wanted(CardTask::inference, 40)), (Keys{"large", "other"}));
  EXPECT_EQ(order(wanted(CardTask::inference, 81)), Keys{});
}

TEST(Cards, SayWhyInASentence) {
  const Catalog cards = catalog();
  const auto ranks = rank_cards(wanted(CardTask::inference, 12), cards, prices(), kCurrency);
  EXPECT_EQ(ranks.front().reason.en,
            "Fits (50 % of VRAM); 1000 GB/s of memory bandwidth for ¥2.00 an hour. The most "
            "bandwidth for "
            "the money.");
  EXPECT_NE(ranks.front().reason.zh.find("1000 GB/s"), std::string::npos);
  EXPECT_NE(ranks.back().reason.en.find("not for rent here"), std::string::npos);
  EXPECT_TRUE(cards_summary(ranks).en.starts_with("1 × Consumer."));
  EXPECT_TRUE(cards_summary({}).en.starts_with("Nothing fits"));
}

TEST(Cards, KeepToThePriceAndTheNumberOfCards) {
  CardsRequest request = wanted(CardTask::inference, 20);
  request.rate_per_hour_max = Money{3'000'000};
  EXPECT_EQ(order(request), (Keys{"consumer", "other", "newest"}));
  MemoryRequest big;
  big.model = shape_of_params(70e9);
  big.context = 128;
  request = wanted(CardTask::inference, 0);
  request.need = big;
  EXPECT_EQ(order(request), Keys{});
  request.cards_max = 4;
  EXPECT_EQ(order(request), (Keys{"large", "other"}));
}

TEST(Cards, WarnOfWhatAPersonShouldKnow) {
  const Catalog cards = catalog();
  const GpuModel& consumer = *cards.by_key("consumer");
  const GpuModel& large = *cards.by_key("large");
  EXPECT_TRUE(warns(consumer, "No ECC"));
  EXPECT_FALSE(warns(large, "No ECC"));
  EXPECT_TRUE(warns(*cards.by_key("newest"), "compute capability 12.0"));
  EXPECT_FALSE(warns(consumer, "compute capability"));
  EXPECT_TRUE(warns(*cards.by_key("other"), "Not CUDA"));
  EXPECT_TRUE(warns(consumer, "consumer card", 4, true));
  EXPECT_FALSE(warns(consumer, "consumer card", 1, true));
  EXPECT_FALSE(warns(consumer, "consumer card", 4, false));
  EXPECT_FALSE(warns(large, "consumer card", 4, true));
}

TEST(RuleOfThumb, WarnWhenRamIsSmallerThanVram) {
  const Catalog cards = catalog();
  EXPECT_FALSE(ram_warning(*cards.by_key("consumer"), 24 * kGiB).has_value());
  const auto warning = ram_warning(*cards.by_key("consumer"), 16 * kGiB);
  ASSERT_TRUE(warning.has_value());
  EXPECT_NE(warning->en.find("16 GiB"), std::string::npos);
}

TEST(Cards, ACatalogsWarningHasBothLanguages) {
  EXPECT_EQ(catalog_text("a / 甲"), (Text{"a", "甲"}));
  EXPECT_EQ(catalog_text("a"), (Text{"a", "a"}));
}

// ---- bounds ----

// 7B in FP16 on 1000 GB/s: 14 GB a token, 71.4 tokens a second; 160 TFLOPS over 14 GFLOP.
TEST(Throughput, IsBoundByBandwidthAndByCompute) {
  const Catalog cards = catalog();
  ThroughputRequest request;
  request.model = shape_of_params(7e9);
  request.context = 1;
  const Throughput alone = throughput_bounds(request, *cards.by_key("consumer"));
  EXPECT_NEAR(alone.decode, 1000.0 / 14, 0.01);
  EXPECT_TRUE(alone.bandwidth_bound);
  EXPECT_NEAR(alone.prefill, 160e12 / 14e9, 1);
  request.sequences = 1000;
  const Throughput many = throughput_bounds(request, *cards.by_key("consumer"));
  EXPECT_FALSE(many.bandwidth_bound);
  EXPECT_NEAR(many.decode, 160e12 / 14e9, 1);
  EXPECT_NEAR(many.decode_per_sequence, many.decode / 1000, 1e-9);
}

TEST(Throughput, MixturesReadOnlyWhatATokenPasses) {
  const Catalog cards = catalog();
  ThroughputRequest request;
  request.model = shape_of_params(47e9);
  request.context = 1;
  const double dense = throughput_bounds(request, *cards.by_key("large")).decode;
  request.model.active_params = 13e9;
  EXPECT_NEAR(throughput_bounds(request, *cards.by_key("large")).decode, dense * 47 / 13, 0.5);
}

TEST(Throughput, IsOfLanguageModels) {
  ThroughputRequest request;
  request.model.kind = ModelKind::diffusion;
  request.model.params = 1e9;
  EXPECT_EQ(check(request).error().field, "model");
}

RC_GTEST_PROP(ThroughputProperty, FallsWithContextAndRisesWithSequences, ()) {
  const Catalog cards = catalog();
  ThroughputRequest request;
  request.model = shape_of_params(*rc::gen::inRange(1, 400) * 1e9);
  request.context = *rc::gen::inRange(1, 100'000);
  request.sequences = *rc::gen::inRange(1, 256);
  ThroughputRequest longer = request;
  longer.context *= 2;
  ThroughputRequest more = request;
  more.sequences *= 2;
  const GpuModel& card = *cards.by_key("large");
  RC_ASSERT(throughput_bounds(longer, card).decode <= throughput_bounds(request, card).decode);
  RC_ASSERT(throughput_bounds(more, card).decode >=
            throughput_bounds(request, card).decode * (1 - 1e-12));
}

}  // namespace
}  // namespace cardhour::estimate
