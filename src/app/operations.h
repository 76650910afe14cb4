// The workers' side of operations: claim one, do one step of it through the engine, apply
// the result in a guarded transaction. Each step is idempotent, so a kill anywhere loses
// nothing. Thread-safe: several workers call run_one() at once.
#pragma once

#include <mutex>
#include <string>
#include <vector>

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
  // An operation whose result the store did not take: still locked by this process. It is
  // opened before anything else is claimed, and its step done again.
  struct Stuck {
    OperationId id;
    std::string lock_token;
  };
  Status open_stuck();

  Deps deps_;
  std::mutex mutex_;
  std::vector<Stuck> stuck_;
};

}  // namespace cardhour
