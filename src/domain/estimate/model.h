// The shape of a model as far as memory and speed depend on it, and the presets of
// catalog/model-presets.toml. Counting follows the published architectures: one embedding,
// layers of attention and feed-forward, one output projection.
// Doubles are counts and bytes of estimates; money never is one. Pure, thread-safe values.
#pragma once

#include <boost/describe/class.hpp>
#include <boost/describe/enum.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace cardhour::estimate {

enum class ModelKind { language, diffusion };
BOOST_DESCRIBE_ENUM(ModelKind, language, diffusion)

// How a number is stored. fp16 is BF16 too, int8 is FP8 too.
enum class Precision { fp32, fp16, int8, int4 };
BOOST_DESCRIBE_ENUM(Precision, fp32, fp16, int8, int4)
double bytes_of(Precision precision);
Text precision_text(Precision precision);

struct ModelShape {
  std::string name;  // what to call it: "Llama 3.1 8B", "7B"
  ModelKind kind = ModelKind::language;
  double params = 0;         // all that lie in memory; of a diffusion model: of its denoiser
  double active_params = 0;  // that one token passes; below `params` for experts
  int layers = 0;
  int hidden = 0;
  int heads = 0;
  int kv_heads = 0;
  int head_dim = 0;
  int ffn = 0;  // of one expert
  int vocab = 0;
  int experts = 0;         // 0 or 1: dense
  int experts_active = 0;  // a token
  bool tied = false;       // input and output embedding are one matrix
  double kv_values_per_layer =
      0;  // kept a token, if not 2 x kv_heads x head_dim (latent attention)

  // Of diffusion models: what stands beside the denoiser, and the side of its native image.
  double encoder_params = 0;
  double vae_params = 0;
  int image_side = 0;
};

struct ModelPreset {
  std::string key;  // "llama-3.1-8b"
  ModelShape shape;
  std::string source;  // where architecture and size are published
};

// Values kept for one token in all layers: 2 x layers x KV heads x head dimension.
double kv_values_per_token(const ModelShape& shape);
// Parameters of embedding and output projection, which quantisation usually leaves at 16 bit.
double embedding_params(const ModelShape& shape);
// Trainable parameters of LoRA of this rank on every linear layer.
double lora_params(const ModelShape& shape, int rank);
// Counted from the architecture; what a model card rounds.
double count_params(const ModelShape& shape);

// A decoder as models of this size are built: layers L, hidden 128 L, so that 12 L hidden^2 is
// the size, heads of 128, every head with its own keys and values. 7e9 gives Llama's 32 and 4096.
ModelShape shape_of_params(double params);

// "7B", "350M", "1.5b", "7000000000". invalid_argument says what was expected.
Result<double> parse_params(std::string_view text);
// "7.62B", "350M".
std::string params_text(double params);
// "13 GiB"
std::string size_text(double bytes);

// Fills in what can be derived (head dimension, parameters, active ones) and refuses what
// cannot be.
Result<ModelShape> completed(ModelShape shape);

class ModelPresets {
 public:
  ModelPresets() = default;
  explicit ModelPresets(std::vector<ModelPreset> presets) : presets_(std::move(presets)) {}
  const std::vector<ModelPreset>& all() const { return presets_; }
  // A key, in whatever case and with whatever separators ("Llama 3.1 8B"). Null when unknown.
  const ModelPreset* by_word(std::string_view word) const;
  // Keys, for error messages.
  std::string keys() const;

 private:
  std::vector<ModelPreset> presets_;
};

}  // namespace cardhour::estimate
