// What an instance with simulated cards gets to see, as a directory of the host that is
// mounted read-only at /opt/cardhour-sim: the simulated NVML library and the list of exactly
// its cards. One directory per instance under `state_dir`. Idempotent; thread-safe for
// different instances.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "base/id.h"
#include "ports/engine.h"

namespace cardhour {

std::string sim_cards_dir(const std::string& state_dir, const InstanceId& id);

// Writes the directory anew: `library` as libnvidia-ml.so.1, and `cards`.
Status put_sim_cards(const std::string& dir, const std::string& library,
                     const std::vector<EngineCard>& cards);
// Gone already is success.
Status remove_sim_cards(const std::string& dir);

// The lines of `cards` (adapters/gpu/simulated_cards.h, the long form); simulated ones only.
std::string sim_cards_text(const std::vector<EngineCard>& cards);

}  // namespace cardhour
