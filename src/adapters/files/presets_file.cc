#include "adapters/files/presets_file.h"

#include <limits>
#include <map>
#include <variant>

#include "adapters/files/toml_file.h"
#include "base/enum_text.h"

namespace cardhour {
namespace {

using namespace toml_file;
using estimate::ModelKind;
using estimate::ModelPreset;
using estimate::ModelShape;

struct Size {
  double* place;  // a number of parameters, as text: "7B"
};
struct Count {
  double* place;
};
using Place = std::variant<std::string*, int*, bool*, ModelKind*, Size, Count>;

// Every key of a [[model]], and where it goes.
std::map<std::string_view, Place> places(ModelPreset& preset) {
  ModelShape& shape = preset.shape;
  return {{"key", &preset.key},
          {"name", &shape.name},
          {"source", &preset.source},
          {"kind", &shape.kind},
          {"params", Size{&shape.params}},
          {"active_params", Size{&shape.active_params}},
          {"encoder_params", Size{&shape.encoder_params}},
          {"vae_params", Size{&shape.vae_params}},
          {"layers", &shape.layers},
          {"hidden", &shape.hidden},
          {"heads", &shape.heads},
          {"kv_heads", &shape.kv_heads},
          {"head_dim", &shape.head_dim},
          {"ffn", &shape.ffn},
          {"vocab", &shape.vocab},
          {"experts", &shape.experts},
          {"experts_active", &shape.experts_active},
          {"image_side", &shape.image_side},
          {"tied", &shape.tied},
          {"kv_values_per_layer", Count{&shape.kv_values_per_layer}}};
}

// Reads one value into its place.
struct Reader {
  const std::string& path;
  std::string_view key;
  const toml::node& value;

  Status operator()(std::string* place) const {
    TRY_ASSIGN(*place, text_of(path, key, value));
    if (place->empty()) return wrong(path, value, key, Text{"is empty", "不能为空"});
    return {};
  }
  Status operator()(int* place) const {
    TRY_ASSIGN(const int64_t number, integer_of(path, key, value));
    if (number < 0 || number > std::numeric_limits<int>::max()) {
      return wrong(path, value, key, Text{"is out of range", "超出范围"});
    }
    *place = static_cast<int>(number);
    return {};
  }
  Status operator()(bool* place) const {
    TRY_ASSIGN(*place, bool_of(path, key, value));
    return {};
  }
  Status operator()(ModelKind* place) const {
    TRY_ASSIGN(const std::string word, text_of(path, key, value));
    const auto kind = enum_from<ModelKind>(word);
    if (!kind) {
      return wrong(path, value, key, Text{"is language or diffusion", "可选 language、diffusion"});
    }
    *place = *kind;
    return {};
  }
  Status operator()(const Size& size) const {
    TRY_ASSIGN(const std::string word, text_of(path, key, value));
    const Result<double> params = estimate::parse_params(word);
    if (!params) return within(path, value, key, params.error());
    *size.place = *params;
    return {};
  }
  Status operator()(const Count& count) const {
    TRY_ASSIGN(*count.place, number_of(path, key, value));
    return {};
  }
};

Result<ModelPreset> read_preset(const std::string& path, const toml::table& table) {
  ModelPreset preset;
  const auto known = places(preset);
  TRY(each(table, [&](std::string_view key, const toml::node& value) -> Status {
    const auto place = known.find(key);
    if (place == known.end()) return unknown_key(path, value, key);
    return std::visit(Reader{path, key, value}, place->second);
  }));
  for (const char* needed : {"key", "name", "params", "source"}) {
    if (!table.contains(needed)) return wrong(path, table, needed, Text{"is missing", "缺失"});
  }
  Result<ModelShape> shape = estimate::completed(preset.shape);
  if (!shape) return within(path, table, preset.key, shape.error());
  preset.shape = std::move(*shape);
  return preset;
}

}  // namespace

Result<estimate::ModelPresets> load_presets(const std::string& path) {
  TRY_ASSIGN(const toml::table file, toml_file::read(path));
  std::vector<ModelPreset> presets;
  TRY(each(file, [&](std::string_view key, const toml::node& list) -> Status {
    if (key != "model") return unknown_key(path, list, key);
    const toml::array* tables = list.as_array();
    if (tables == nullptr)
      return wrong(path, list, key, Text{"must be [[model]]", "必须写成 [[model]]"});
    for (const toml::node& node : *tables) {
      TRY_ASSIGN(const toml::table* table, table_of(path, "model", node));
      TRY_ASSIGN(ModelPreset preset, read_preset(path, *table));
      const estimate::ModelPresets before(presets);
      if (before.by_word(preset.key) != nullptr || before.by_word(preset.shape.name) != nullptr) {
        return wrong(path, node, preset.key, Text{"is there twice", "重复"});
      }
      presets.push_back(std::move(preset));
    }
    return {};
  }));
  return estimate::ModelPresets(std::move(presets));
}

}  // namespace cardhour
