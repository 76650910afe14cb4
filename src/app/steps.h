// One step of an operation, done through the engine: no database here. Every step is
// idempotent. Internal to app/.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/deps.h"
#include "domain/operation.h"

namespace cardhour {

// What a step needs beside its rows.
struct StepInput {
  GuestIdentity identity;
  std::optional<Error> no_identity;  // why the secrets of `identity` are missing
  std::vector<Card> cards;           // allocated to the instance
};

struct StepResult {
  enum class Kind { next, again, done, failed };
  Kind kind = Kind::again;
  Step step = Step::create;           // next: which
  std::optional<Timestamp> deadline;  // next: of that step
  Duration wait;                      // again: how long to wait
  Error error;                        // again: why (may be empty); failed: what the renter sees
  std::string engine_run;             // done, of a start: the engine's mark of the run
};

StepResult perform_step(const Deps& deps, const Operation& operation, const Instance& instance,
                        const StepInput& input);

}  // namespace cardhour
