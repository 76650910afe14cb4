// Crash points: named places at which a test kills the server, in the middle of its real work
// (docs/decisions/0020-crash-points.md). A point is a place, a call and a moment:
//   "start.create claim.after"          the worker has locked the operation at this step
//   "start.create ensure_created.before" an engine call of the step; before, after
//   "start.create apply.inside"         its result is written, and not committed
//   "ask.stop inside"                   a request or a loop puts an operation in its place
//   "observe hosts.after", "loops write.inside", "request write.before", ...
// Which there are follows from the table of steps (domain/operation.h). They exist in builds
// with tests alone: in any other, being asked for one is refused (crash_points_none.cc).
// Thread-safe.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "ports/engine.h"
#include "ports/store.h"

namespace cardhour {

// Around the store and the engine of a server that a test will see die.
class CrashPoints {
 public:
  virtual ~CrashPoints() = default;
  virtual Store& store() = 0;
  virtual Engine& engine() = 0;
};

// As the environment says: CARDHOUR_CRASH_AT="POINT", or "POINT:N" for the Nth time that it is
// reached. nullptr: it says nothing. invalid_argument: no such point, or not in this build.
Result<std::unique_ptr<CrashPoints>> crash_points_from_environment(Store& store, Engine& engine);

// Every point, in the order in which an instance's life comes by; empty where there are none.
std::vector<std::string> crash_points();

}  // namespace cardhour
