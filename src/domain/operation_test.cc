#include "domain/operation.h"

#include <gtest/gtest.h>

#include "base/enum_text.h"

namespace cardhour {
namespace {

std::optional<OperationKind> needed(Observed observed, Desired desired = Desired::running) {
  return needed_operation(Instance{.desired = desired, .observed = observed});
}

TEST(NeededOperation, FollowsFromTheState) {
  EXPECT_EQ(needed(Observed::creating), OperationKind::start);
  EXPECT_EQ(needed(Observed::starting), OperationKind::start);
  EXPECT_EQ(needed(Observed::stopping, Desired::stopped), OperationKind::stop);
  EXPECT_EQ(needed(Observed::releasing, Desired::released), OperationKind::stop);
  EXPECT_EQ(needed(Observed::in_bin, Desired::purged), OperationKind::purge);
}

TEST(NeededOperation, IsNoneWhereNothingMoves) {
  EXPECT_EQ(needed(Observed::running), std::nullopt);
  EXPECT_EQ(needed(Observed::stopped, Desired::stopped), std::nullopt);
  EXPECT_EQ(needed(Observed::in_bin, Desired::released), std::nullopt);
  EXPECT_EQ(needed(Observed::purged, Desired::purged), std::nullopt);
}

TEST(NeededOperation, BringsANoticeOnlyToWhatRuns) {
  Instance instance{.observed = Observed::running, .guest_current = false};
  EXPECT_EQ(needed_operation(instance), OperationKind::refresh);
  instance.observed = Observed::stopping;
  EXPECT_EQ(needed_operation(instance), OperationKind::stop);
  instance.observed = Observed::stopped;
  EXPECT_EQ(needed_operation(instance), std::nullopt);
}

TEST(FirstStep, BeginsAStartOfWhatExistsByHaltingIt) {
  EXPECT_EQ(first_step(OperationKind::start, {.observed = Observed::creating}), Step::create);
  EXPECT_EQ(first_step(OperationKind::start, {.observed = Observed::starting}), Step::halt);
  EXPECT_EQ(first_step(OperationKind::restart, {.observed = Observed::running}), Step::halt);
  EXPECT_EQ(first_step(OperationKind::stop, {.observed = Observed::stopping}), Step::shut_down);
  EXPECT_EQ(first_step(OperationKind::purge, {.observed = Observed::in_bin}), Step::remove);
  EXPECT_EQ(first_step(OperationKind::refresh, {.observed = Observed::running}), Step::deliver);
}

TEST(StepsOf, HoldWhereEachKindBegins) {
  for (OperationKind kind : {OperationKind::start, OperationKind::restart, OperationKind::stop,
                             OperationKind::purge, OperationKind::refresh}) {
    EXPECT_TRUE(has_step(kind, first_step(kind, {.observed = Observed::creating})));
    EXPECT_TRUE(has_step(kind, first_step(kind, {.observed = Observed::starting})));
    EXPECT_EQ(steps_of(kind).front(), first_step(kind, {.observed = Observed::starting}));
  }
  EXPECT_FALSE(has_step(OperationKind::stop, Step::boot));
}

TEST(Backoff, DoublesToHalfAMinute) {
  const int64_t expected[] = {1, 2, 4, 8, 16, 30, 30};
  for (int attempt = 0; attempt < 7; ++attempt) {
    EXPECT_EQ(backoff(attempt), seconds(expected[attempt])) << attempt;
  }
  EXPECT_EQ(backoff(1'000'000), seconds(30));
}

}  // namespace
}  // namespace cardhour
