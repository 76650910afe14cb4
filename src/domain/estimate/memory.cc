#include "domain/estimate/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace cardhour::estimate {
namespace {

// Inference: what comes beside the weights. Frugal runtimes report one per cent; experience says
// 1.3 to 1.6 times the weights in all.
constexpr Range kServingOverhead{0.01, 0.30, 0.60};
// Image models: what their images take is counted apart.
constexpr Range kImageOverhead{0.01, 0.05, 0.15};
// Paged caches waste under 4 per cent (Kwon et al. 2023); others more.
constexpr Range kCacheSlack{1.00, 1.04, 1.10};
// Training: fragments and buffers. 16 bytes a parameter become 16 to 20.
constexpr Range kTrainingOverhead{0.0, 0.125, 0.25};
// Logits of a step: 32 bit, and their copies for the loss and its gradient.
constexpr Range kLogitBytes{4, 8, 12};
// A pixel of a generated image at 16 bit: at the least the latents, decoding in tiles; else the
// decoder works on the whole image.
constexpr Range kPixelBytes{100, 2500, 4500};
// Bits of scales and zero points that 4-bit formats keep for each weight, at most.
constexpr double kScaleBits = 0.5;

constexpr int kContextMax = 16 << 20;
constexpr int kSequencesMax = 65'536;
constexpr int kCardsMax = 1024;
constexpr int kRankMax = 4096;

bool trains(Workload workload) {
  return workload == Workload::lora || workload == Workload::qlora || workload == Workload::full;
}

Range exactly(double value) { return {value, value, value}; }

// The shares that the layout gives to one card.
struct Layout {
  double tensor = 1;         // of what tensor parallelism splits
  double optimizer = 1;      // of what ZeRO splits from stage 1,
  double gradients = 1;      // from stage 2,
  double weights = 1;        // from stage 3
  double cache = 1;          // KV heads can be split no further than one a card
  std::string weights_text;  // "", or " / 8"
  std::string optimizer_text;
  std::string gradients_text;
};

std::string over(double share) { return share == 1 ? "" : fmt::format(" / {:.0f}", 1 / share); }

Layout layout_of(const MemoryRequest& request) {
  Layout layout;
  layout.tensor = 1.0 / request.tensor_parallel;
  const double group = 1.0 * request.tensor_parallel / request.cards;
  if (trains(request.workload)) {
    if (request.zero_stage >= 1) layout.optimizer = group;
    if (request.zero_stage >= 2) layout.gradients = group;
    if (request.zero_stage >= 3) layout.weights = group;
  }
  layout.weights *= layout.tensor;
  layout.gradients *= layout.tensor;
  layout.optimizer *= layout.tensor;
  // Latent attention keeps one vector for all heads: every card has all of it.
  const bool latent = request.model.kv_values_per_layer > 0;
  const int cache_parts =
      latent ? 1 : std::min(request.tensor_parallel, std::max(request.model.kv_heads, 1));
  layout.cache = 1.0 / cache_parts;
  layout.weights_text = over(layout.weights);
  layout.optimizer_text = over(layout.optimizer);
  layout.gradients_text = over(layout.gradients);
  return layout;
}

// ---- parts ----

Precision base_precision(const MemoryRequest& request) {
  if (request.workload == Workload::qlora) return Precision::int4;
  if (request.workload == Workload::full) return Precision::fp16;
  return request.precision;
}

void add_weights(const MemoryRequest& request, const Layout& layout, Memory& to) {
  const ModelShape& model = request.model;
  const Precision precision = base_precision(request);
  const double bytes = bytes_of(precision);
  const double params = model.params + model.encoder_params + model.vae_params;
  const double weights = params * bytes * layout.weights;
  to.parts.push_back({"weights",
                      {"weights", "权重"},
                      exactly(weights),
                      {"parameters × bytes", "参数量 × 字节"},
                      fmt::format("{} × {} B{} = {}", params_text(params), bytes,
                                  layout.weights_text, size_text(weights))});
  if (precision != Precision::int8 && precision != Precision::int4) return;
  // GPTQ, AWQ and NF4 leave embedding and output projection at 16 bit.
  const double kept = embedding_params(model) * (2 - bytes) * layout.weights;
  const double scales = precision == Precision::int4 ? params * kScaleBits / 8 * layout.weights : 0;
  to.parts.push_back({"unquantized",
                      {"embeddings kept at 16 bit, scales", "保留 16 位的嵌入层与量化系数"},
                      {0, kept, kept + scales},
                      {"embeddings × bytes beyond the others'", "嵌入层参数 × 多出的字节"},
                      fmt::format("{} × {} B{} = {}", params_text(embedding_params(model)),
                                  2 - bytes, layout.weights_text, size_text(kept))});
}

void add_serving(const MemoryRequest& request, const Layout& layout, Memory& to) {
  const ModelShape& model = request.model;
  const double tokens = 1.0 * request.context * request.sequences;
  const double cache =
      kv_values_per_token(model) * bytes_of(request.kv_precision) * tokens * layout.cache;
  to.parts.push_back(
      {"kv_cache",
       {"KV cache", "KV 缓存"},
       {cache * kCacheSlack.low, cache * kCacheSlack.likely, cache * kCacheSlack.high},
       {"values a token × bytes × tokens × sequences × slack",
        "每词元数值 × 字节 × 词元 × 序列 × 余量"},
       fmt::format("{:.0f} × {} B × {} × {}{} × {} = {}", kv_values_per_token(model),
                   bytes_of(request.kv_precision), request.context, request.sequences,
                   over(layout.cache), kCacheSlack.likely, size_text(cache * kCacheSlack.likely))});
  // A prompt's activations: 8 vectors of the hidden width and two of the feed-forward's.
  const double per_token = 2.0 * (8.0 * model.hidden + 2.0 * model.ffn) * layout.tensor;
  to.parts.push_back(
      {"prompt",
       {"activations of the prompt", "提示词的激活值"},
       {0, per_token * request.context, per_token * tokens},
       {"tokens × bytes × (8 × width + 2 × feed-forward)",
        "词元 × 字节 × (8 × 宽度 + 2 × 前馈宽度)"},
       fmt::format("{} × 2 B × (8 × {} + 2 × {}){} = {}", request.context, model.hidden, model.ffn,
                   over(layout.tensor), size_text(per_token * request.context))});
}

void add_pixels(const MemoryRequest& request, Memory& to) {
  const int side = request.image_side > 0 ? request.image_side : request.model.image_side;
  const double pixels = 1.0 * side * side * request.sequences;
  to.parts.push_back(
      {"activations",
       {"activations of the images", "图像的激活值"},
       {pixels * kPixelBytes.low, pixels * kPixelBytes.likely, pixels * kPixelBytes.high},
       {"side × side × images × bytes", "边长 × 边长 × 图像数 × 字节"},
       fmt::format("{} × {} × {} × {} B = {}", side, side, request.sequences, kPixelBytes.likely,
                   size_text(pixels * kPixelBytes.likely))});
}

double optimizer_bytes(Optimizer optimizer) { return optimizer == Optimizer::adam ? 12 : 6; }

// Gradients, master weights and moments of what is trained.
void add_states(double params, const MemoryRequest& request, const Layout& layout, Memory& to) {
  const double gradients = params * 2 * layout.gradients;
  to.parts.push_back({"gradients",
                      {"gradients", "梯度"},
                      exactly(gradients),
                      {"trained parameters × bytes", "训练参数 × 字节"},
                      fmt::format("{} × 2 B{} = {}", params_text(params), layout.gradients_text,
                                  size_text(gradients))});
  const double bytes = optimizer_bytes(request.optimizer);
  const double optimizer = params * bytes * layout.optimizer;
  to.parts.push_back(
      {"optimizer",
       {"optimizer: master weights and two moments", "优化器：主权重与两个动量"},
       exactly(optimizer),
       {"trained parameters × (master + moments)", "训练参数 × (主权重 + 动量)"},
       fmt::format("{} × {} B{} = {}", params_text(params),
                   request.optimizer == Optimizer::adam ? "(4 + 4 + 4)" : "(4 + 1 + 1)",
                   layout.optimizer_text, size_text(optimizer))});
}

// Korthikanti et al. 2022, without the attention matrix, which fused attention does not keep:
// 34 bytes a token, layer and hidden value; with checkpointing 2, and one layer in full.
void add_activations(const MemoryRequest& request, const Layout& layout, Memory& to) {
  const ModelShape& model = request.model;
  const double tokens = 1.0 * request.context * request.sequences;
  const double layer = tokens * model.hidden * (10 + 24 * layout.tensor);
  const double entries = 2 * tokens * model.hidden * model.layers;
  const bool checkpointed = request.checkpointing == Checkpointing::on;
  const double bytes = checkpointed ? entries + layer : layer * model.layers;
  const std::string each = fmt::format("(10 + 24{})", over(layout.tensor));
  to.parts.push_back(
      {"activations",
       checkpointed ? Text{"activations, with gradient checkpointing", "激活值（梯度检查点）"}
                    : Text{"activations", "激活值"},
       exactly(bytes),
       checkpointed ? Text{"sequences × tokens × width × (2 × layers + one layer)",
                           "序列 × 词元 × 宽度 × (2 × 层数 + 一层)"}
                    : Text{"sequences × tokens × width × bytes × layers",
                           "序列 × 词元 × 宽度 × 字节 × 层数"},
       checkpointed
           ? fmt::format("{} × {} × {} × (2 B × {} + {} B) = {}", request.sequences,
                         request.context, model.hidden, model.layers, each, size_text(bytes))
           : fmt::format("{} × {} × {} × {} B × {} = {}", request.sequences, request.context,
                         model.hidden, each, model.layers, size_text(bytes))});
  const double logits = tokens * model.vocab * layout.tensor;
  to.parts.push_back(
      {"logits",
       {"logits and loss", "logits 与损失"},
       {logits * kLogitBytes.low, logits * kLogitBytes.likely, logits * kLogitBytes.high},
       {"sequences × tokens × vocabulary × bytes", "序列 × 词元 × 词表 × 字节"},
       fmt::format("{} × {} × {} × {} B{} = {}", request.sequences, request.context, model.vocab,
                   kLogitBytes.likely, over(layout.tensor),
                   size_text(logits * kLogitBytes.likely))});
}

void add_training(const MemoryRequest& request, const Layout& layout, Memory& to) {
  if (request.workload == Workload::full) {
    add_states(request.model.params, request, layout, to);
  } else {
    const double params = lora_params(request.model, request.lora_rank);
    const double adapters = params * 2 * layout.weights;
    to.parts.push_back({"adapters",
                        {"adapters", "适配器"},
                        exactly(adapters),
                        {"parameters of this rank × bytes", "该秩的参数量 × 字节"},
                        fmt::format("r {}: {} × 2 B{} = {}", request.lora_rank, params_text(params),
                                    layout.weights_text, size_text(adapters))});
    add_states(params, request, layout, to);
  }
  add_activations(request, layout, to);
}

Range sum(const std::vector<MemoryPart>& parts) {
  Range total;
  for (const MemoryPart& part : parts) total = total + part.bytes;
  return total;
}

void add_overhead(const MemoryRequest& request, Memory& to) {
  const bool training = trains(request.workload);
  const bool draws = request.workload == Workload::diffusion;
  const Range share = training ? kTrainingOverhead : draws ? kImageOverhead : kServingOverhead;
  // Serving takes it of the weights, training of everything.
  const Range base = training ? sum(to.parts) : to.parts.front().bytes;
  const Range bytes{base.low * share.low, base.likely * share.likely, base.high * share.high};
  to.parts.push_back(
      {"overhead",
       training ? Text{"buffers and fragments", "缓冲与碎片"}
                : Text{"runtime: buffers, graphs, fragments", "运行时：缓冲、图与碎片"},
       bytes,
       training ? Text{"all above × share", "以上合计 × 比例"}
                : Text{"weights × share", "权重 × 比例"},
       fmt::format("{} × {} = {}", size_text(base.likely), share.likely, size_text(bytes.likely))});
}

Memory alone(const MemoryRequest& request) {
  const Layout layout = layout_of(request);
  Memory memory;
  add_weights(request, layout, memory);
  if (request.workload == Workload::inference) add_serving(request, layout, memory);
  if (request.workload == Workload::diffusion) add_pixels(request, memory);
  if (trains(request.workload)) add_training(request, layout, memory);
  add_overhead(request, memory);
  memory.per_card = sum(memory.parts);
  return memory;
}

tl::unexpected<Error> range_error(const char* field, int64_t lowest, int64_t highest) {
  return invalid(field,
                 text("{} must be {} to {}", "{} 必须在 {} 到 {} 之间", field, lowest, highest));
}

Status check_counts(const MemoryRequest& request) {
  const std::tuple<const char*, int, int, int> rows[] = {
      {"context", request.context, 1, kContextMax},
      {"sequences", request.sequences, 1, kSequencesMax},
      {"lora_rank", request.lora_rank, 1, kRankMax},
      {"zero_stage", request.zero_stage, 0, 3},
      {"cards", request.cards, 1, kCardsMax},
      {"tensor_parallel", request.tensor_parallel, 1, kCardsMax},
      {"image_side", request.image_side, 0, 16'384}};
  for (const auto& [field, value, lowest, highest] : rows) {
    if (value < lowest || value > highest) return range_error(field, lowest, highest);
  }
  return {};
}

}  // namespace

Range operator+(const Range& a, const Range& b) {
  return {a.low + b.low, a.likely + b.likely, a.high + b.high};
}
Range operator*(const Range& a, double factor) {
  return {a.low * factor, a.likely * factor, a.high * factor};
}

Status check(const MemoryRequest& request) {
  TRY(check_counts(request));
  if (request.cards % request.tensor_parallel != 0) {
    return invalid("tensor_parallel", Text{"cards must be a multiple of tensor_parallel",
                                           "显卡数必须是 tensor_parallel 的整数倍"});
  }
  const bool draws = request.model.kind == ModelKind::diffusion;
  if (draws != (request.workload == Workload::diffusion)) {
    return invalid("workload",
                   draws ? text("{} makes images: only the workload diffusion is estimated for it",
                                "{} 是图像模型：只能估算 diffusion 任务", request.model.name)
                         : text("{} is a language model: it cannot run the workload diffusion",
                                "{} 是语言模型，不能用于 diffusion 任务", request.model.name));
  }
  const bool quantized =
      request.precision == Precision::int4 || request.precision == Precision::int8;
  if (quantized && (request.workload == Workload::lora || request.workload == Workload::full)) {
    return invalid(
        "precision",
        Text{"this training needs fp16 or fp32 weights", "此类训练需要 fp16 或 fp32 权重"},
        Text{"for a 4-bit base take the workload qlora", "4 位底座请选择 qlora"});
  }
  for (const MemoryRequest& other : request.beside) TRY(check(other));
  return {};
}

Memory memory_of(const MemoryRequest& request) {
  CHECK(check(request).has_value(), "a request that was checked");
  Memory memory = alone(request);
  for (const MemoryRequest& other : request.beside) {
    const Range bytes = alone(other).per_card;
    memory.parts.push_back({"beside",
                            text("beside it: {}", "同卡另有：{}", other.model.name),
                            bytes,
                            {"all its parts", "其全部组成"},
                            fmt::format("{} = {}", other.model.name, size_text(bytes.likely))});
    memory.per_card = memory.per_card + bytes;
  }
  memory.all_cards = memory.per_card * request.cards;
  return memory;
}

Text memory_summary(const MemoryRequest& request, const Memory& memory) {
  const std::string low = size_text(memory.per_card.low);
  const std::string likely = size_text(memory.per_card.likely);
  const std::string high = size_text(memory.per_card.high);
  if (request.cards == 1) {
    return text("{} needs about {} of VRAM: {} at the least, {} to be comfortable.",
                "{} 约需 {} 显存：最少 {}，宽裕则需 {}。", request.model.name, likely, low, high);
  }
  return text(
      "{} needs about {} of VRAM on each of {} cards: {} at the least, {} to be comfortable.",
      "{0} 在 {2} 张卡上每张约需 {1} 显存：最少 {3}，宽裕则需 {4}。", request.model.name, likely,
      request.cards, low, high);
}

std::vector<Text> memory_warnings(const MemoryRequest& request) {
  std::vector<Text> out;
  if (request.workload == Workload::inference && request.context >= 8192) {
    const double logits = 4.0 * request.context * request.model.vocab;
    out.push_back(
        text("A runtime that computes the logits of a whole prompt needs {} more for a moment.",
             "若运行时为整个提示词计算 logits，瞬时还需 {}。", size_text(logits)));
  }
  if (request.workload == Workload::inference && request.tensor_parallel > 1 &&
      request.model.kv_heads > 0 && request.tensor_parallel > request.model.kv_heads) {
    out.push_back(
        text("With {} KV heads the cache cannot be split over {} cards: it is kept more than once.",
             "KV 头只有 {} 个，缓存无法拆到 {} 张卡上，会重复存放。", request.model.kv_heads,
             request.tensor_parallel));
  }
  if (trains(request.workload) && request.cards > 1 && request.zero_stage == 0 &&
      request.tensor_parallel == 1) {
    out.push_back({"Without ZeRO every card keeps everything: more cards do not make it smaller.",
                   "不使用 ZeRO 时每张卡都保存全部状态：加卡并不减少单卡显存。"});
  }
  return out;
}

}  // namespace cardhour::estimate
