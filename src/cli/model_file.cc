#include "cli/model_file.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <optional>

#include "adapters/http/json_codec.h"
#include "cli/width.h"

namespace cardhour::cli {
namespace {

namespace json = boost::json;

// Config files are under 100 KiB; headers of the largest models list 100 000 tensors.
constexpr size_t kConfigBytesMax = 4 << 20;
constexpr size_t kHeaderBytesMax = 64 << 20;
constexpr double kCountMax = 1e13;

using Keys = std::initializer_list<const char*>;

tl::unexpected<Error> unreadable(Text what) {
  return invalid(
      "--file", std::move(what),
      Text{"a config.json of a language model, or a .safetensors file, is expected; else say "
           "--params 7B",
           "需要语言模型的 config.json 或 .safetensors 文件；也可用 --params 7B"});
}

// A number under one of the names; 0 when there is none, or when it is no number.
double number_of(const json::object& object, Keys names) {
  for (const char* name : names) {
    const json::value* value = object.if_contains(name);
    if (value == nullptr || !value->is_number()) continue;
    const double number = value->to_number<double>();
    if (number > 0 && number <= kCountMax) return number;
  }
  return 0;
}

int count_of(const json::object& object, Keys names) {
  return static_cast<int>(std::min(number_of(object, names), 2e9));
}

bool flag_of(const json::object& object, const char* name) {
  const json::value* value = object.if_contains(name);
  return value != nullptr && value->is_bool() && value->get_bool();
}

std::string word_of(const json::object& object, const char* name) {
  const json::value* value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : "";
}

// Those that have two matrices in their feed-forward instead of three.
bool is_plain(const std::string& type) {
  constexpr std::array kPlain = {"gpt2", "gpt_neox", "gpt_neo", "gptj",
                                 "opt",  "bloom",    "falcon",  "phi"};
  return std::find(kPlain.begin(), kPlain.end(), type) != kPlain.end();
}

void read_feed_forward(const json::object& config, const std::string& type,
                       wire::ModelShapeRequest& shape) {
  shape.experts = count_of(config, {"num_local_experts", "num_experts", "n_routed_experts"});
  shape.experts_active = count_of(config, {"num_experts_per_tok", "num_experts_per_token"});
  const bool sparse = shape.experts > 1;
  const int of_experts = sparse ? count_of(config, {"moe_intermediate_size"}) : 0;
  shape.ffn =
      of_experts > 0
          ? of_experts
          : count_of(config, {"intermediate_size", "ffn_hidden_size", "n_inner", "ffn_dim"});
  if (shape.ffn == 0) shape.ffn = 4 * shape.hidden;
  if (is_plain(type)) shape.ffn = shape.ffn * 2 / 3;
  if (type == "qwen") shape.ffn /= 2;  // its first generation counts gate and up together
}

// ---- safetensors ----

struct Tensor {
  std::string_view name;
  std::vector<double> sides;

  double elements() const {
    double product = 1;
    for (const double side : sides) product *= side;
    return product;
  }
};

Result<Tensor> tensor_of(std::string_view name, const json::value& value) {
  Tensor tensor{name, {}};
  const json::object* entry = value.if_object();
  const json::value* shape = entry == nullptr ? nullptr : entry->if_contains("shape");
  if (shape == nullptr || !shape->is_array() || shape->get_array().size() > 8) {
    return unreadable(
        text("the tensor {} has no shape", "张量 {} 没有 shape", clean(std::string(name))));
  }
  for (const json::value& side : shape->get_array()) {
    if (!side.is_number() || side.to_number<double>() < 0 || side.to_number<double>() > kCountMax) {
      return unreadable(text("the shape of {} is not a list of sizes", "{} 的 shape 不是尺寸列表",
                             clean(std::string(name))));
    }
    tensor.sides.push_back(side.to_number<double>());
  }
  return tensor;
}

// What the names and shapes of weights tell of the architecture.
class ShapeFromTensors {
 public:
  void add(const Tensor& tensor) {
    shape_.params += tensor.elements();
    layers_ = std::max(layers_, layer_of(tensor.name));
    if (tensor.sides.size() != 2) return;
    const auto rows = static_cast<int>(std::min(tensor.sides[0], 1e9));
    const auto columns = static_cast<int>(std::min(tensor.sides[1], 1e9));
    if (tensor.name.ends_with("embed_tokens.weight")) {
      shape_.vocab = rows;
      shape_.hidden = columns;
    }
    if (tensor.name.ends_with("q_proj.weight")) query_ = rows;
    if (tensor.name.ends_with("k_proj.weight")) key_ = rows;
    if (tensor.name.ends_with("gate_proj.weight")) shape_.ffn = rows;
    if (tensor.name.ends_with("lm_head.weight")) has_head_ = true;
  }

  wire::ModelShapeRequest take() {
    const int head = key_ % 128 == 0 && query_ % 128 == 0 ? 128 : 64;
    const bool known = shape_.hidden > 0 && layers_ >= 0 && query_ >= head && key_ >= head;
    if (!known) {
      // Only the size is certain.
      wire::ModelShapeRequest size;
      size.params = shape_.params;
      return size;
    }
    shape_.layers = layers_ + 1;
    shape_.head_dim = head;
    shape_.heads = query_ / head;
    shape_.kv_heads = key_ / head;
    shape_.tied = !has_head_;
    return shape_;
  }

 private:
  // 12 of "model.layers.12.mlp"; -1 when it is of no layer.
  static int layer_of(std::string_view name) {
    constexpr std::string_view kLayers = "layers.";
    const size_t at = name.find(kLayers);
    if (at == std::string_view::npos) return -1;
    int layer = -1;
    std::from_chars(name.data() + at + kLayers.size(), name.data() + name.size(), layer);
    return std::clamp(layer, -1, 100'000);
  }

  wire::ModelShapeRequest shape_;
  int layers_ = -1;
  int query_ = 0;
  int key_ = 0;
  bool has_head_ = false;
};

// ---- files ----

std::string read_bytes(std::ifstream& file, size_t count) {
  std::string bytes(count, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(count));
  bytes.resize(static_cast<size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return bytes;
}

// The 8 bytes before a header: its length, little-endian.
uint64_t length_of(const std::string& bytes) {
  uint64_t length = 0;
  for (size_t i = 8; i-- > 0;) length = length << 8 | static_cast<uint8_t>(bytes[i]);
  return length;
}

}  // namespace

Result<wire::ModelShapeRequest> parse_config(std::string_view text) {
  const auto parsed = parse_json(text, JsonReadOptions{UnknownFields::ignore, kConfigBytesMax});
  if (!parsed || !parsed->is_object()) {
    return unreadable(
        {"this is not a config.json: it is no JSON object", "不是 config.json：不是 JSON 对象"});
  }
  const json::object* config = &parsed->get_object();
  // Models that also see keep their language part apart.
  const json::value* inner = config->if_contains("text_config");
  if (inner != nullptr && inner->is_object()) config = &inner->get_object();
  const std::string type = word_of(*config, "model_type");
  wire::ModelShapeRequest shape;
  shape.layers = count_of(*config, {"num_hidden_layers", "n_layer", "num_layers", "n_layers"});
  shape.hidden = count_of(*config, {"hidden_size", "n_embd", "d_model"});
  shape.heads = count_of(*config, {"num_attention_heads", "n_head", "n_heads"});
  if (shape.layers == 0 || shape.hidden == 0 || shape.heads == 0) {
    return unreadable(
        {"the config.json lacks num_hidden_layers, hidden_size or num_attention_heads",
         "config.json 中缺少 num_hidden_layers、hidden_size 或 num_attention_heads"});
  }
  shape.kv_heads = count_of(
      *config, {"num_key_value_heads", "multi_query_group_num", "num_kv_heads", "n_head_kv"});
  if (shape.kv_heads == 0 && flag_of(*config, "multi_query")) shape.kv_heads = 1;
  shape.head_dim = count_of(*config, {"head_dim", "kv_channels"});
  shape.vocab = count_of(*config, {"vocab_size", "padded_vocab_size"});
  shape.tied = flag_of(*config, "tie_word_embeddings");
  read_feed_forward(*config, type, shape);
  const double latent = number_of(*config, {"kv_lora_rank"});
  if (latent > 0) shape.kv_values_per_layer = latent + number_of(*config, {"qk_rope_head_dim"});
  shape.name = clean(type.substr(0, 60));
  return shape;
}

Result<wire::ModelShapeRequest> parse_safetensors_header(std::string_view text) {
  const auto parsed = parse_json(text, JsonReadOptions{UnknownFields::ignore, kHeaderBytesMax});
  if (!parsed || !parsed->is_object()) {
    return unreadable({"the header of the safetensors file is no JSON object",
                       "safetensors 文件的头部不是 JSON 对象"});
  }
  ShapeFromTensors from;
  int tensors = 0;
  for (const auto& entry : parsed->get_object()) {
    const std::string_view name(entry.key().data(), entry.key().size());
    if (name == "__metadata__") continue;
    if (name.ends_with(".qweight") || name.ends_with(".quant_map")) {
      return unreadable({"these weights are quantised, so that their shapes do not tell the size",
                         "权重已量化，无法从形状得出大小"});
    }
    TRY_ASSIGN(const Tensor tensor, tensor_of(name, entry.value()));
    from.add(tensor);
    ++tensors;
  }
  if (tensors == 0) return unreadable({"there are no tensors in it", "文件中没有张量"});
  return from.take();
}

Result<wire::ModelShapeRequest> read_model_file(const std::string& typed) {
  namespace fs = std::filesystem;
  std::error_code error;
  const std::string path = fs::is_directory(typed, error) ? typed + "/config.json" : typed;
  std::ifstream file(path, std::ios::binary);
  if (!fs::is_regular_file(path, error) || !file) {
    return fail(ErrorCode::not_found,
                text("there is no file {} that can be read", "没有可读取的文件 {}", clean(path)),
                Text{"give the path of a config.json or of a .safetensors file",
                     "请给出 config.json 或 .safetensors 文件的路径"});
  }
  if (path.find("-of-") != std::string::npos && path.ends_with(".safetensors")) {
    return unreadable({"this is one of several shards: it holds a part of the model",
                       "这是多个分片之一，只含模型的一部分"});
  }
  const std::string head = read_bytes(file, 9);
  // The top byte of a length is zero; no JSON has that.
  if (head.size() == 9 && head[8] == '{' && head[7] == '\0') {
    const uint64_t length = length_of(head);
    if (length < 2 || length > kHeaderBytesMax) {
      return unreadable(
          {"its safetensors header has an impossible length", "safetensors 头部长度异常"});
    }
    file.seekg(8);
    const std::string header = read_bytes(file, length);
    if (header.size() != length) {
      return unreadable(
          {"the file ends within its safetensors header", "文件在 safetensors 头部内中断"});
    }
    return parse_safetensors_header(header);
  }
  file.clear();
  file.seekg(0);
  const std::string text = read_bytes(file, kConfigBytesMax + 1);
  if (text.size() > kConfigBytesMax)
    return unreadable({"it is too large for a config.json", "文件过大，不是 config.json"});
  return parse_config(text);
}

}  // namespace cardhour::cli
