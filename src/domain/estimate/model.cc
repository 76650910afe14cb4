#include "domain/estimate/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <tuple>

#include "base/size.h"

namespace cardhour::estimate {
namespace {

constexpr double kParamsMin = 1e5;
constexpr double kParamsMax = 1e13;
constexpr int kWidthMax = 1 << 20;  // of hidden, ffn and vocabulary
constexpr int kHeadsMax = 8192;     // and their width, and experts
constexpr int kLayersMax = 2048;

double attention_params(const ModelShape& shape) {
  const double query = 1.0 * shape.heads * shape.head_dim;
  const double key_value = 2.0 * shape.kv_heads * shape.head_dim;
  return shape.hidden * (2 * query + key_value);
}

// Gate, up and down projection of one expert.
double expert_params(const ModelShape& shape) { return 3.0 * shape.hidden * shape.ffn; }

double layers_params(const ModelShape& shape, int experts) {
  const double router = shape.experts > 1 ? 1.0 * shape.hidden * shape.experts : 0;
  const double norms = 2.0 * shape.hidden;
  return shape.layers * (attention_params(shape) + experts * expert_params(shape) + router + norms);
}

tl::unexpected<Error> out_of_range(const char* field, double lowest, double highest) {
  return invalid(field,
                 text("{} must be {} to {}", "{} 必须在 {} 到 {} 之间", field, lowest, highest));
}

// Letters and digits, lower case.
std::string folded(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) out.push_back(c);
  }
  return out;
}

Status check_widths(const ModelShape& shape) {
  const std::tuple<const char*, int, int> widths[] = {
      {"hidden", shape.hidden, kWidthMax},     {"heads", shape.heads, kHeadsMax},
      {"kv_heads", shape.kv_heads, kHeadsMax}, {"head_dim", shape.head_dim, kHeadsMax},
      {"ffn", shape.ffn, kWidthMax},           {"vocab", shape.vocab, 4 * kWidthMax},
      {"experts", shape.experts, kHeadsMax},   {"image_side", shape.image_side, 2 * kHeadsMax},
      {"layers", shape.layers, kLayersMax}};
  for (const auto& [field, value, highest] : widths) {
    if (value < 0 || value > highest) return out_of_range(field, 0, highest);
  }
  const std::pair<const char*, double> counts[] = {
      {"params", shape.params},
      {"active_params", shape.active_params},
      {"kv_values_per_layer", shape.kv_values_per_layer},
      {"encoder_params", shape.encoder_params},
      {"vae_params", shape.vae_params}};
  for (const auto& [field, value] : counts) {
    if (!(value >= 0 && value <= kParamsMax)) return out_of_range(field, 0, kParamsMax);
  }
  return {};
}

Status derive_architecture(ModelShape& shape) {
  if (shape.layers == 0 || shape.hidden == 0 || shape.heads == 0) {
    return invalid(
        "shape",
        Text{"a language model needs layers, hidden and heads, or params alone",
             "语言模型需要 layers、hidden 和 heads，或只给出 params"},
        Text{"take them from its config.json: num_hidden_layers, hidden_size, "
             "num_attention_heads",
             "可从 config.json 中取：num_hidden_layers、hidden_size、num_attention_heads"});
  }
  if (shape.kv_heads == 0) shape.kv_heads = shape.heads;
  if (shape.kv_heads > shape.heads) return out_of_range("kv_heads", 1, shape.heads);
  if (shape.head_dim == 0) shape.head_dim = std::max(1, shape.hidden / shape.heads);
  if (shape.ffn == 0) shape.ffn = 4 * shape.hidden;
  if (shape.experts > 1 && shape.experts_active == 0)
    shape.experts_active = std::min(2, shape.experts);
  if (shape.experts_active < 0 || shape.experts_active > std::max(shape.experts, 1)) {
    return out_of_range("experts_active", 0, std::max(shape.experts, 1));
  }
  return {};
}

}  // namespace

double bytes_of(Precision precision) {
  switch (precision) {
    case Precision::fp32:
      return 4;
    case Precision::fp16:
      return 2;
    case Precision::int8:
      return 1;
    case Precision::int4:
      return 0.5;
  }
  return 2;
}

Text precision_text(Precision precision) {
  switch (precision) {
    case Precision::fp32:
      return {"FP32", "FP32"};
    case Precision::fp16:
      return {"FP16/BF16", "FP16/BF16"};
    case Precision::int8:
      return {"8 bit", "8 位"};
    case Precision::int4:
      return {"4 bit", "4 位"};
  }
  return {};
}

double kv_values_per_token(const ModelShape& shape) {
  const double per_layer = shape.kv_values_per_layer > 0 ? shape.kv_values_per_layer
                                                         : 2.0 * shape.kv_heads * shape.head_dim;
  return shape.layers * per_layer;
}

double embedding_params(const ModelShape& shape) {
  return 1.0 * shape.vocab * shape.hidden * (shape.tied ? 1 : 2);
}

double lora_params(const ModelShape& shape, int rank) {
  const double width = shape.hidden;
  const double query = 1.0 * shape.heads * shape.head_dim;
  const double key_value = 1.0 * shape.kv_heads * shape.head_dim;
  const double attention = 2 * (width + query) + 2 * (width + key_value);
  const double feed_forward = std::max(shape.experts, 1) * 3.0 * (width + shape.ffn);
  return rank * shape.layers * (attention + feed_forward);
}

double count_params(const ModelShape& shape) {
  return embedding_params(shape) + layers_params(shape, std::max(shape.experts, 1)) + shape.hidden;
}

ModelShape shape_of_params(double params) {
  constexpr int kHeadDim = 128;
  ModelShape shape;
  shape.name = params_text(params);
  shape.params = params;
  shape.active_params = params;
  // The tolerance keeps a whole root from falling to the number below.
  shape.layers =
      std::max(1, static_cast<int>(std::cbrt(params / (12.0 * kHeadDim * kHeadDim)) + 1e-9));
  shape.hidden = kHeadDim * shape.layers;
  shape.heads = shape.layers;
  shape.kv_heads = shape.heads;
  shape.head_dim = kHeadDim;
  shape.ffn = shape.hidden * 8 / 3;
  shape.vocab = 32'000;
  return shape;
}

Result<double> parse_params(std::string_view text) {
  const auto bad = [&] {
    return invalid("params",
                   cardhour::text("\"{}\" is not a number of parameters", "“{}”不是有效的参数量",
                                  std::string(text.substr(0, 40))),
                   Text{"write it like 7B, 1.5B, 350M or 7000000000 (100K to 10000B)",
                        "请写成 7B、1.5B、350M 或 7000000000（100K 到 10000B）"});
  };
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value, std::chars_format::fixed);
  if (error != std::errc{} || at == text.data()) return bad();
  const std::string_view unit(at, static_cast<size_t>(end - at));
  if (unit == "B" || unit == "b") {
    value *= 1e9;
  } else if (unit == "M" || unit == "m") {
    value *= 1e6;
  } else if (unit == "K" || unit == "k") {
    value *= 1e3;
  } else if (!unit.empty()) {
    return bad();
  }
  if (!(value >= kParamsMin && value <= kParamsMax)) return bad();
  return value;
}

std::string params_text(double params) {
  const auto shown = [](double value, char unit) {
    std::string digits = fmt::format("{:.2f}", value);
    while (digits.back() == '0') digits.pop_back();
    if (digits.back() == '.') digits.pop_back();
    return digits + unit;
  };
  return params >= 1e9 ? shown(params / 1e9, 'B') : shown(params / 1e6, 'M');
}

std::string size_text(double bytes) {
  return for_people_bytes(static_cast<int64_t>(std::min(bytes, 9e18)));
}

Result<ModelShape> completed(ModelShape shape) {
  TRY(check_widths(shape));
  const bool size_alone = shape.kind == ModelKind::language && shape.layers == 0 &&
                          shape.hidden == 0 && shape.params > 0;
  if (size_alone) {
    if (shape.params < kParamsMin) return out_of_range("params", kParamsMin, kParamsMax);
    ModelShape usual = shape_of_params(shape.params);
    if (shape.kv_heads > 0) usual.kv_heads = std::min(shape.kv_heads, usual.heads);
    if (!shape.name.empty()) usual.name = shape.name;
    return usual;
  }
  if (shape.kind == ModelKind::language) {
    TRY(derive_architecture(shape));
    if (shape.params == 0) shape.params = count_params(shape);
  }
  if (!(shape.params >= kParamsMin && shape.params <= kParamsMax)) {
    return out_of_range("params", kParamsMin, kParamsMax);
  }
  if (shape.active_params == 0) {
    const bool sparse = shape.experts > 1;
    shape.active_params = sparse
                              ? embedding_params(shape) + layers_params(shape, shape.experts_active)
                              : shape.params;
  }
  shape.active_params = std::min(shape.active_params, shape.params);
  if (shape.kind == ModelKind::diffusion && shape.image_side == 0) shape.image_side = 1024;
  if (shape.name.empty()) shape.name = params_text(shape.params);
  return shape;
}

const ModelPreset* ModelPresets::by_word(std::string_view word) const {
  const std::string wanted = folded(word);
  const auto found = std::find_if(presets_.begin(), presets_.end(), [&](const ModelPreset& preset) {
    return folded(preset.key) == wanted || folded(preset.shape.name) == wanted;
  });
  return wanted.empty() || found == presets_.end() ? nullptr : &*found;
}

std::string ModelPresets::keys() const {
  std::string text;
  for (const ModelPreset& preset : presets_) text += (text.empty() ? "" : ", ") + preset.key;
  return text;
}

}  // namespace cardhour::estimate
