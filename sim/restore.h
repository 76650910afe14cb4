// A life in which an older backup is put back over what has happened since: whatever the engine
// runs must be accounted for, held and uncharged, and the operator's decisions must hold.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/paths.h"

namespace cardhour {

// What is broken, in words; empty when all is well.
std::vector<std::string> live_through_restore(uint64_t seed, bool with_faults, Paths& paths);

}  // namespace cardhour
