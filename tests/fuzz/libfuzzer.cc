// libFuzzer over one target, named by CARDHOUR_FUZZ_TARGET: tests/fuzz/run.
#include <cstdlib>
#include <string>

#include "base/check.h"
#include "base/crypto.h"
#include "tests/fuzz/fuzz.h"

namespace {

const cardhour::fuzz::Target& target() {
  static const cardhour::fuzz::Target* const kTarget = [] {
    cardhour::crypto_init();
    const char* name = std::getenv("CARDHOUR_FUZZ_TARGET");
    for (const auto& each : cardhour::fuzz::targets()) {
      if (name != nullptr && std::string(name) == each.name) return &each;
    }
    cardhour::check_failed(__FILE__, __LINE__, "CARDHOUR_FUZZ_TARGET", "names a target");
  }();
  return *kTarget;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  target().run(std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
