#include "domain/idle.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

namespace cardhour {
namespace {

constexpr Timestamp kBegin{1'764'547'200'000};
const IdleLimits kLimits;

SeriesRow quiet_row() {
  SeriesRow row;
  row.fill(0);
  return row;
}
void set(SeriesRow& row, std::string_view column, float value) {
  row[column_of(SeriesKind::instance, column)] = value;
}

std::vector<SeriesPoint> an_hour_of(const SeriesRow& row) {
  std::vector<SeriesPoint> points;
  for (int i = 0; i <= 360; ++i) points.push_back({kBegin + seconds(10) * i, row});
  return points;
}

bool idle(const std::vector<SeriesPoint>& points, bool has_cards = true) {
  return was_idle(points, kBegin, kBegin + hours(1), has_cards, seconds(30), kLimits);
}

TEST(Idle, AnHourOfNothingIsIdle) { EXPECT_TRUE(idle(an_hour_of(quiet_row()))); }

TEST(Idle, OneSignOfLifeAnywhereInTheWindowIsBusy) {
  for (const char* column :
       {"gpu_percent", "gpu_percent_highest", "cpu_percent_highest", "disk_read_bytes_per_second",
        "disk_written_bytes_per_second", "network_received_bytes_per_second",
        "network_sent_bytes_per_second", "sessions"}) {
    for (const size_t where : {0, 1, 180, 360}) {
      auto points = an_hour_of(quiet_row());
      set(points[where].values, column, 100'000);
      EXPECT_FALSE(idle(points)) << column << " at " << where;
      set(points[where].values, column, std::nanf(""));
      EXPECT_FALSE(idle(points)) << column << " unknown at " << where;
    }
  }
}

TEST(Idle, GapsAreBusy) {
  auto points = an_hour_of(quiet_row());
  points.erase(points.begin() + 100, points.begin() + 102);
  EXPECT_TRUE(idle(points));  // two looks missed
  points.erase(points.begin() + 100, points.begin() + 103);
  EXPECT_FALSE(idle(points));
  points = an_hour_of(quiet_row());
  points.erase(points.begin(), points.begin() + 5);
  EXPECT_FALSE(idle(points));
  points = an_hour_of(quiet_row());
  points.resize(350);
  EXPECT_FALSE(idle(points));
  EXPECT_FALSE(idle({}));
}

TEST(Idle, WithoutCardsTheirColumnsDoNotMatter) {
  SeriesRow row = quiet_row();
  set(row, "gpu_percent", std::nanf(""));
  set(row, "gpu_percent_highest", std::nanf(""));
  EXPECT_FALSE(idle(an_hour_of(row), true));
  EXPECT_TRUE(idle(an_hour_of(row), false));
}

RC_GTEST_PROP(Idle, MissingDataNeverMakesItIdle, ()) {
  auto points = an_hour_of(quiet_row());
  const auto where = *rc::gen::inRange<size_t>(0, points.size());
  set(points[where].values, "sessions", 1);
  const auto drops = *rc::gen::container<std::vector<size_t>>(rc::gen::inRange<size_t>(0, 361));
  for (const size_t drop : drops) {
    if (drop < points.size() && drop != where) points[drop].values = unknown_row();
  }
  RC_ASSERT(!idle(points));
}

TEST(IdleStep, WarnsThenActsAndAnyActivityCancels) {
  IdleRule rule;
  rule.after = minutes(30);
  EXPECT_EQ(next_idle_step(rule, false, kBegin), IdleStep::nothing);
  EXPECT_EQ(next_idle_step(rule, true, kBegin), IdleStep::warn);
  rule.warned_at = kBegin;
  rule.deadline = kBegin + minutes(10);
  EXPECT_EQ(next_idle_step(rule, true, kBegin + minutes(9)), IdleStep::nothing);
  EXPECT_EQ(next_idle_step(rule, false, kBegin + minutes(9)), IdleStep::cancel);
  EXPECT_EQ(next_idle_step(rule, true, kBegin + minutes(10)), IdleStep::act);
  EXPECT_EQ(next_idle_step(rule, false, kBegin + minutes(11)), IdleStep::cancel);
  rule.deadline.reset();  // done: told
  EXPECT_EQ(next_idle_step(rule, true, kBegin + hours(9)), IdleStep::nothing);
  EXPECT_EQ(next_idle_step(rule, false, kBegin + hours(9)), IdleStep::cancel);
}

TEST(IdleStep, AHoldKeepsWarningsAway) {
  IdleRule rule;
  rule.hold_until = kBegin + hours(2);
  EXPECT_EQ(next_idle_step(rule, true, kBegin), IdleStep::nothing);
  rule.warned_at = kBegin;
  rule.deadline = kBegin + minutes(10);
  EXPECT_EQ(next_idle_step(rule, true, kBegin + minutes(20)), IdleStep::cancel);
}

}  // namespace
}  // namespace cardhour
