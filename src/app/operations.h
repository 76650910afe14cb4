// The workers' side of operations: claim one, do one step of it through the engine, apply
// the result in a guarded transaction. Each step is idempotent, so a kill anywhere loses
// nothing. Thread-safe: several workers call run_one() at once.
#pragma once

#include "app/deps.h"

namespace cardhour {

class Operations {
 public:
  explicit Operations(const Deps& deps) : deps_(deps) {}

  // Does one step of one due operation. False when nothing was due.
  Result<bool> run_one();
  // At start-up: locks of a dead process are opened.
  Status unlock_all();
  // When the next pending operation is due.
  Result<std::optional<Timestamp>> next_due();

 private:
  Deps deps_;
};

}  // namespace cardhour
