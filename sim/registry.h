// The paths that a run of the simulation has to hit: each at least once over the seeds of
// `./check`, or the run fails. Thread-safe: pure.
#pragma once

#include <string>
#include <vector>

namespace cardhour {

std::vector<std::string> registered_paths();

}  // namespace cardhour
