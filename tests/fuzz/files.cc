// The configuration and the catalog, as an operator may have written them. The first line says
// which: policy, models or prices.
#include <unistd.h>

#include <cstdio>

#include "adapters/files/catalog_file.h"
#include "adapters/files/policy_file.h"
#include "base/check.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/input.h"

namespace cardhour::fuzz {
namespace {

// One file in memory, written anew for each input.
class File {
 public:
  File() : path_("/proc/self/fd/" + std::to_string(memory_.number)) {}
  const std::string& write(std::string_view text) {
    CHECK(::ftruncate(memory_.number, 0) == 0 && ::pwrite(memory_.number, text.data(), text.size(),
                                                          0) == static_cast<ssize_t>(text.size()),
          "the file can be written");
    return path_;
  }

 private:
  struct Memory {
    FILE* file = std::tmpfile();
    int number = ::fileno(file);
  } memory_;
  std::string path_;
};

template <class T>
void check_refusal(const T& result) {
  if (result) return;
  CHECK(!result.error().what.en.empty() && !result.error().what.zh.empty(), "refused in both");
}

const Catalog& catalog() {
  static const Catalog kCatalog = [] {
    auto loaded = load_catalog(CARDHOUR_SOURCE_DIR "/catalog/gpu-models.toml");
    CHECK(loaded.has_value(), "the catalog is there");
    return std::move(*loaded);
  }();
  return kCatalog;
}

void run(std::string_view input) {
  static File file;
  const std::string_view kind = take_line(input);
  if (kind == "models") {
    check_refusal(load_catalog(file.write(input)));
  } else if (kind == "prices") {
    const auto prices = load_prices(file.write(input), catalog());
    check_refusal(prices);
    if (!prices) return;
    for (const Price& price : *prices) CHECK(price.per_hour.micro >= 0, "a price is not below 0");
  } else {
    Policy policy;
    const Policy before;
    const Status loaded = load_policy(file.write(input), policy);
    check_refusal(loaded);
    if (!loaded)
      CHECK(policy.minimum_unit == before.minimum_unit && policy.bin == before.bin,
            "a refused file changes nothing");
    CHECK(policy.minimum_unit.ms > 0 && policy.quotas.running >= 0, "a policy that can be");
  }
}

}  // namespace

Target files_target() {
  return {"files",
          run,
          {"policy\n", "models\n", "prices\n", "[money]", "[quotas]", "minimum_unit", "= \"1s\"",
           "= -1", "= 1e400", "'''", "\"\"\"", "[[model]]", "[a.b", "= {", "0x7fffffffffffffff",
           "1979-05-27T07:32:00Z", "#", "\\u0000"},
          20};
}

}  // namespace cardhour::fuzz
