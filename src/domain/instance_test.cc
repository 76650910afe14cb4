#include "domain/instance.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "base/enum_text.h"
#include "domain/operation.h"

namespace cardhour {
namespace {

constexpr std::array kStates = {Observed::creating, Observed::starting, Observed::running,
                                Observed::stopping, Observed::stopped,  Observed::releasing,
                                Observed::in_bin,   Observed::purged};

// All states that events lead to from there, itself included.
std::set<Observed> reachable(Observed from) {
  std::set<Observed> seen = {from};
  std::vector<Observed> todo = {from};
  while (!todo.empty()) {
    const Observed state = todo.back();
    todo.pop_back();
    for (const LifecycleEdge& edge : lifecycle()) {
      if (edge.from == state && seen.insert(edge.to).second) todo.push_back(edge.to);
    }
  }
  return seen;
}

TEST(Lifecycle, StopIsAcceptedFromEveryStateThatMayRun) {
  for (Observed state : {Observed::creating, Observed::starting, Observed::running}) {
    EXPECT_EQ(next_state(state, LifecycleEvent::stop), Observed::stopping) << enum_text(state);
  }
  // Elsewhere it is stopped already, or on the way: nothing to do.
  for (Observed state : {Observed::stopping, Observed::stopped, Observed::releasing,
                         Observed::in_bin, Observed::purged}) {
    EXPECT_EQ(next_state(state, LifecycleEvent::stop), std::nullopt) << enum_text(state);
  }
}

TEST(Lifecycle, ReleaseIsAcceptedFromEveryLiveState) {
  for (Observed state : kStates) {
    const bool is_released =
        state == Observed::releasing || state == Observed::in_bin || state == Observed::purged;
    const auto to = next_state(state, LifecycleEvent::release);
    EXPECT_EQ(to.has_value(), !is_released) << enum_text(state);
    if (to) {
      EXPECT_EQ(*to, state == Observed::stopped ? Observed::in_bin : Observed::releasing);
    }
  }
}

TEST(Lifecycle, EveryStateIsReachedFromTheFirst) {
  EXPECT_EQ(reachable(Observed::creating).size(), kStates.size());
}

TEST(Lifecycle, PurgedIsReachedFromEveryStateAndIsTheEnd) {
  for (Observed state : kStates) {
    EXPECT_TRUE(reachable(state).contains(Observed::purged)) << enum_text(state);
  }
  EXPECT_EQ(reachable(Observed::purged).size(), 1u);
}

TEST(Lifecycle, NothingIsDestroyedWithoutHavingBeenInTheBin) {
  for (const LifecycleEdge& edge : lifecycle()) {
    if (edge.to == Observed::purged) {
      EXPECT_EQ(edge.from, Observed::in_bin);
    }
  }
}

TEST(Lifecycle, OnlyAReadyRunIsRunning) {
  for (const LifecycleEdge& edge : lifecycle()) {
    if (edge.to == Observed::running) {
      // An adopted one was ready before this database knew of it.
      EXPECT_TRUE(edge.event == LifecycleEvent::ready || edge.event == LifecycleEvent::adopt);
    }
  }
}

TEST(Lifecycle, AFailedStartReturnsToStopped) {
  for (Observed state : {Observed::creating, Observed::starting}) {
    Instance instance{.observed = state};
    advance(instance, LifecycleEvent::fail);
    advance(instance, LifecycleEvent::stopped);
    EXPECT_EQ(instance.observed, Observed::stopped);
    advance(instance, LifecycleEvent::start);
    EXPECT_EQ(instance.observed, Observed::starting);
  }
}

TEST(Lifecycle, ARestoreUndoesARelease) {
  Instance instance{.observed = Observed::stopped};
  advance(instance, LifecycleEvent::release);
  EXPECT_EQ(instance.observed, Observed::in_bin);
  advance(instance, LifecycleEvent::restore);
  EXPECT_EQ(instance.observed, Observed::stopped);

  instance.observed = Observed::running;
  advance(instance, LifecycleEvent::release);
  advance(instance, LifecycleEvent::restore);
  advance(instance, LifecycleEvent::stopped);
  EXPECT_EQ(instance.observed, Observed::stopped);
}

TEST(LifecycleDeathTest, AnEdgeThatIsNotThereIsABug) {
  Instance instance{.id = {"ix"}, .observed = Observed::purged};
  EXPECT_DEATH(advance(instance, LifecycleEvent::start), "purged by start");
}

RC_GTEST_PROP(Lifecycle, AfterAnyWalkStopAndReleaseLeadToTheBin, ()) {
  Instance instance;
  const auto steps = *rc::gen::container<std::vector<size_t>>(rc::gen::inRange<size_t>(0, 100));
  for (size_t step : steps) {
    std::vector<LifecycleEvent> possible;
    for (const LifecycleEdge& edge : lifecycle()) {
      if (edge.from == instance.observed && edge.event != LifecycleEvent::purged) {
        possible.push_back(edge.event);
      }
    }
    advance(instance, possible.at(step % possible.size()));
  }
  for (LifecycleEvent event :
       {LifecycleEvent::stop, LifecycleEvent::release, LifecycleEvent::stopped}) {
    if (next_state(instance.observed, event)) advance(instance, event);
  }
  RC_ASSERT(instance.observed == Observed::in_bin);
}

// Nothing stays half-way: after any walk, what moves has an operation, and the table has the edges
// by which that operation ends, well or badly.
RC_GTEST_PROP(Lifecycle, AfterAnyWalkWhatMovesHasAnOperationThatCanEnd, ()) {
  Instance instance;
  const auto steps = *rc::gen::container<std::vector<size_t>>(rc::gen::inRange<size_t>(0, 100));
  for (const size_t step : steps) {
    std::vector<LifecycleEvent> possible;
    for (const LifecycleEdge& edge : lifecycle()) {
      if (edge.from == instance.observed) possible.push_back(edge.event);
    }
    if (possible.empty()) break;  // purged
    advance(instance, possible[step % possible.size()]);
  }
  const auto leads = [&](LifecycleEvent event) {
    return next_state(instance.observed, event).has_value();
  };
  const auto needed = needed_operation(instance);
  const bool starts = leads(LifecycleEvent::ready);
  const bool stops = leads(LifecycleEvent::stopped);
  RC_ASSERT(!(starts && stops));
  if (starts) RC_ASSERT(needed == OperationKind::start && leads(LifecycleEvent::fail));
  if (stops) RC_ASSERT(needed == OperationKind::stop);
  if (!starts && !stops) RC_ASSERT(needed != OperationKind::start && needed != OperationKind::stop);
}

TEST(Lifecycle, TheDocumentHasEveryEdge) {
  const std::string text = lifecycle_markdown();
  for (const LifecycleEdge& edge : lifecycle()) {
    const std::string row = "| " + std::string(enum_text(edge.from)) + " | " +
                            std::string(enum_text(edge.event)) + " | " +
                            std::string(enum_text(edge.to)) + " |";
    EXPECT_NE(text.find(row), std::string::npos) << row;
  }
  EXPECT_NE(text.find("stateDiagram"), std::string::npos);
}

}  // namespace
}  // namespace cardhour
