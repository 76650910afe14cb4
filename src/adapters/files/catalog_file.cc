#include "adapters/files/catalog_file.h"

#include <algorithm>
#include <set>

#include "adapters/files/toml_file.h"
#include "base/size.h"

namespace cardhour {
namespace {

using namespace toml_file;

// Reads one [[model]].
class ModelReader {
 public:
  ModelReader(const std::string& path, const toml::table& table) : path_(path), table_(table) {}

  Result<GpuModel> read() {
    TRY(each(table_, [this](std::string_view key, const toml::node& value) {
      seen_.insert(std::string(key));
      return field(key, value);
    }));
    for (const char* needed :
         {"key", "name", "driver_names", "vram", "bandwidth_gb_per_s", "fp32_tflops", "fp16_tflops",
          "int8_tops", "interconnect", "ecc", "compute_capability", "source"}) {
      if (!seen_.contains(needed)) {
        return wrong(path_, table_, needed, Text{"is missing", "缺失"});
      }
    }
    return std::move(model_);
  }

 private:
  Status field(std::string_view key, const toml::node& value) {
    if (key == "driver_names") return names(key, value);
    if (key == "vram") return vram(key, value);
    if (key == "ecc") return put(bool_of(path_, key, value), model_.ecc);
    if (std::string* place = text_field(key)) return text_into(key, value, *place);
    if (double* place = number_field(key)) return number_into(key, value, *place);
    return unknown_key(path_, value, key);
  }
  std::string* text_field(std::string_view key) {
    if (key == "key") return &model_.key;
    if (key == "name") return &model_.name;
    if (key == "interconnect") return &model_.interconnect;
    if (key == "compute_capability") return &model_.compute_capability;
    if (key == "warning") return &model_.warning;
    if (key == "source") return &model_.source;
    return nullptr;
  }
  double* number_field(std::string_view key) {
    if (key == "bandwidth_gb_per_s") return &model_.bandwidth_gb_per_s;
    if (key == "fp32_tflops") return &model_.fp32_tflops;
    if (key == "fp16_tflops") return &model_.fp16_tflops;
    if (key == "int8_tops") return &model_.int8_tops;
    return nullptr;
  }

  template <class T>
  Status put(Result<T> value, T& place) {
    TRY_ASSIGN(place, std::move(value));
    return {};
  }
  Status text_into(std::string_view key, const toml::node& value, std::string& place) {
    TRY_ASSIGN(place, text_of(path_, key, value));
    const bool may_be_empty = key == "compute_capability" || key == "warning";
    if (place.empty() && !may_be_empty) {
      return wrong(path_, value, key, Text{"is empty", "不能为空"});
    }
    const bool is_key_text =
        place.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos;
    if (key == "key" && !is_key_text) {
      return wrong(path_, value, key, Text{"has only a-z, 0-9 and -", "只能包含 a-z、0-9 和 -"});
    }
    return {};
  }
  Status number_into(std::string_view key, const toml::node& value, double& place) {
    TRY_ASSIGN(place, number_of(path_, key, value));
    if (place >= 0 && place < 1e6) return {};  // NaN is neither
    return wrong(path_, value, key, Text{"is out of range", "超出范围"});
  }
  Status vram(std::string_view key, const toml::node& value) {
    TRY_ASSIGN(const std::string typed, text_of(path_, key, value));
    const Result<int64_t> bytes = parse_size(typed);
    if (!bytes) return within(path_, value, key, bytes.error());
    if (*bytes < kGiB) return wrong(path_, value, key, Text{"is out of range", "超出范围"});
    model_.vram_bytes = *bytes;
    return {};
  }
  Status names(std::string_view key, const toml::node& value) {
    const toml::array* list = value.as_array();
    if (list == nullptr || list->empty()) {
      return wrong(path_, value, key, Text{"must be a list of names", "必须是名称列表"});
    }
    for (const toml::node& item : *list) {
      TRY_ASSIGN(std::string name, text_of(path_, key, item));
      model_.driver_names.push_back(std::move(name));
    }
    return {};
  }

  const std::string& path_;
  const toml::table& table_;
  GpuModel model_;
  std::set<std::string> seen_;
};

bool shares_a_name(const GpuModel& a, const GpuModel& b) {
  // Sizes of one card may share a driver name; the memory tells them apart.
  return a.vram_bytes == b.vram_bytes &&
         std::ranges::any_of(a.driver_names, [&](const std::string& name) {
           return std::ranges::find(b.driver_names, name) != b.driver_names.end();
         });
}

Status check_apart(const std::string& path, const toml::node& node, const GpuModel& model,
                   const std::vector<GpuModel>& before) {
  for (const GpuModel& other : before) {
    if (other.key == model.key || shares_a_name(other, model)) {
      return wrong(path, node, model.key,
                   text("is there twice: see {}", "重复：参见 {}", other.key));
    }
  }
  return {};
}

Result<std::vector<GpuModel>> read_models(const std::string& path, const toml::node& list) {
  std::vector<GpuModel> models;
  const toml::array* tables = list.as_array();
  if (tables == nullptr) {
    return wrong(path, list, "model", Text{"must be [[model]]", "必须写成 [[model]]"});
  }
  for (const toml::node& node : *tables) {
    TRY_ASSIGN(const toml::table* table, table_of(path, "model", node));
    TRY_ASSIGN(GpuModel model, ModelReader(path, *table).read());
    TRY(check_apart(path, node, model, models));
    models.push_back(std::move(model));
  }
  return models;
}

Result<Money> amount_of(const std::string& path, std::string_view key, const toml::node& value) {
  TRY_ASSIGN(const std::string typed, text_of(path, key, value));
  const Result<Money> amount = parse_money(typed);
  if (!amount) return within(path, value, key, amount.error());
  if (amount->micro < 0) return wrong(path, value, key, Text{"is negative", "不能为负数"});
  return *amount;
}

Status read_no_gpu(const std::string& path, const toml::table& table, std::vector<Price>& prices) {
  return each(table, [&](std::string_view key, const toml::node& value) -> Status {
    if (key != "per_hour") return unknown_key(path, value, key);
    TRY_ASSIGN(const Money amount, amount_of(path, key, value));
    prices.push_back({"", Mode::no_gpu, amount});
    return {};
  });
}

Status read_on_demand(const std::string& path, const toml::table& table, const Catalog& catalog,
                      std::vector<Price>& prices) {
  return each(table, [&](std::string_view key, const toml::node& value) -> Status {
    if (catalog.by_key(key) == nullptr) {
      auto error = wrong(path, value, key, Text{"is not in the catalog", "不在型号目录中"});
      error.value().next = text("the catalog has {}", "目录中有 {}", catalog.keys());
      return error;
    }
    TRY_ASSIGN(const Money amount, amount_of(path, key, value));
    prices.push_back({std::string(key), Mode::on_demand, amount});
    return {};
  });
}

}  // namespace

Result<Catalog> load_catalog(const std::string& path) {
  TRY_ASSIGN(const toml::table file, toml_file::read(path));
  std::vector<GpuModel> models;
  TRY(each(file, [&](std::string_view key, const toml::node& value) -> Status {
    if (key != "model") return unknown_key(path, value, key);
    TRY_ASSIGN(models, read_models(path, value));
    return {};
  }));
  return Catalog(std::move(models));
}

Result<std::vector<Price>> load_prices(const std::string& path, const Catalog& catalog) {
  TRY_ASSIGN(const toml::table file, toml_file::read(path));
  std::vector<Price> prices;
  TRY(each(file, [&](std::string_view key, const toml::node& value) -> Status {
    if (key != "no_gpu" && key != "on_demand") return unknown_key(path, value, key);
    TRY_ASSIGN(const toml::table* section, table_of(path, key, value));
    if (key == "no_gpu") return read_no_gpu(path, *section, prices);
    return read_on_demand(path, *section, catalog, prices);
  }));
  return prices;
}

}  // namespace cardhour
