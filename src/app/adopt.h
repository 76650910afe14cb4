// Adopting: bringing the database up to what the engine has and it does not know, as after the
// restore of an older backup. Part of each look of the observe loop. Cards, ports and addresses
// are held by whoever has them in the engine; nothing is charged; the operator decides
// (adoptions.h). Internal to app/.
#pragma once

#include <map>
#include <vector>

#include "app/deps.h"

namespace cardhour {

// What one look saw.
struct Sighting {
  const std::vector<EngineInstance>& seen;   // of the engine, after
  const std::vector<Instance>& known;        // the rows, not purged
  const std::map<HostId, Timestamp>& alive;  // each host's last proof of life before this process
};

enum class Accounting {
  whole,   // everything of ours in the engine has its row
  partly,  // something is changing; the next look goes on
};

// An error says what cannot be adopted; the next look tries again.
Result<Accounting> adopt_unknown(const Deps& deps, const Sighting& sighting, bool is_restored);

}  // namespace cardhour
