#include "domain/operation.h"

#include <algorithm>

namespace cardhour {

std::optional<OperationKind> needed_operation(const Instance& instance) {
  switch (instance.observed) {
    case Observed::creating:
    case Observed::starting:
      return OperationKind::start;
    case Observed::stopping:
    case Observed::releasing:
      return OperationKind::stop;
    case Observed::in_bin:
      if (instance.desired == Desired::purged) return OperationKind::purge;
      return std::nullopt;
    case Observed::running:
      if (!instance.guest_current) return OperationKind::refresh;
      return std::nullopt;
    case Observed::stopped:
    case Observed::purged:
      return std::nullopt;
  }
  return std::nullopt;
}

Step first_step(OperationKind kind, const Instance& instance) {
  switch (kind) {
    // A start that follows a run (no-GPU to GPU) halts it first; halting what is stopped is
    // nothing to do, so every start of an instance that exists begins there.
    case OperationKind::start:
      return instance.observed == Observed::creating ? Step::create : Step::halt;
    case OperationKind::restart:
      return Step::halt;
    case OperationKind::stop:
      return Step::shut_down;
    case OperationKind::purge:
      return Step::remove;
    case OperationKind::refresh:
      return Step::deliver;
  }
  return Step::create;
}

Duration backoff(int attempt) {
  return std::min(seconds(int64_t{1} << std::min(attempt, 5)), seconds(30));
}

}  // namespace cardhour
