#include "tests/fuzz/fuzz.h"

namespace cardhour::fuzz {

const std::vector<Target>& targets() {
  static const std::vector<Target> kTargets = {
      api_target(),   grammars_target(),     http_target(),   files_target(),
      guest_target(), command_line_target(), stream_target(), ssh_key_target()};
  return kTargets;
}

}  // namespace cardhour::fuzz
