#include "domain/operation.h"

#include <algorithm>
#include <array>
#include <boost/describe/enumerators.hpp>
#include <boost/mp11/algorithm.hpp>

namespace cardhour {
namespace {

constexpr auto kStartSteps =
    std::to_array<Step>({Step::halt, Step::create, Step::boot, Step::await_ready, Step::verify});
constexpr auto kRestartSteps =
    std::to_array<Step>({Step::halt, Step::boot, Step::await_ready, Step::verify});
constexpr auto kStopSteps = std::to_array<Step>({Step::shut_down, Step::force, Step::confirm});
constexpr auto kPurgeSteps = std::to_array<Step>({Step::remove});
constexpr auto kRefreshSteps = std::to_array<Step>({Step::deliver});

constexpr std::span<const Step> table(OperationKind kind) {
  switch (kind) {
    case OperationKind::start:
      return kStartSteps;
    case OperationKind::restart:
      return kRestartSteps;
    case OperationKind::stop:
      return kStopSteps;
    case OperationKind::purge:
      return kPurgeSteps;
    case OperationKind::refresh:
      return kRefreshSteps;
  }
  return {};
}

constexpr bool every_step_has_its_kind() {
  bool all = true;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<Step>>([&](auto step) {
    bool found = false;
    boost::mp11::mp_for_each<boost::describe::describe_enumerators<OperationKind>>([&](auto kind) {
      for (Step listed : table(kind.value)) found = found || listed == step.value;
    });
    all = all && found;
  });
  return all;
}
static_assert(every_step_has_its_kind(), "a new step belongs into the table of its kinds");

}  // namespace

std::span<const Step> steps_of(OperationKind kind) { return table(kind); }

bool has_step(OperationKind kind, Step step) {
  return std::ranges::find(table(kind), step) != table(kind).end();
}

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
