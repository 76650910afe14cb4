#include "domain/series.h"

#include <gtest/gtest.h>

#include <cmath>

namespace cardhour {
namespace {

constexpr Timestamp kNow{1'764'547'200'000};

SeriesPoint point(int at_seconds, float first, float highest) {
  SeriesPoint p{kNow + seconds(at_seconds), unknown_row()};
  p.values[column_of(SeriesKind::card, "gpu_percent")] = first;
  p.values[column_of(SeriesKind::card, "gpu_percent_highest")] = highest;
  return p;
}

TEST(Series, CombinesWhatIsKnownAndKeepsWhatIsNot) {
  const std::vector<SeriesPoint> points = {point(0, 10, 10), point(10, NAN, 90),
                                           point(20, 20, NAN)};
  const SeriesRow row = combine(SeriesKind::card, points);
  EXPECT_EQ(row[0], 15);
  EXPECT_EQ(row[1], 90);
  EXPECT_TRUE(std::isnan(row[2]));
}

TEST(Series, ResamplingKeepsGaps) {
  const std::vector<SeriesPoint> points = {point(0, 10, 1), point(50, 30, 1), point(200, 5, 1)};
  const auto out = resample(SeriesKind::card, points, minutes(1));
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(out[0].values[0], 20);
  EXPECT_EQ(out[1].at, kNow + minutes(3));
}

TEST(Series, LowestIsTheLowest) {
  std::vector<SeriesPoint> points(2, SeriesPoint{kNow, unknown_row()});
  const size_t lowest = column_of(SeriesKind::instance, "gpu_percent_lowest");
  points[0].values[lowest] = 40;
  points[1].values[lowest] = 3;
  EXPECT_EQ(combine(SeriesKind::instance, points)[lowest], 3);
}

TEST(Series, ReadsTheTierThatReachesBack) {
  const auto plan = [](Duration ago, Duration range, std::optional<Duration> step) {
    return *plan_range(kNow - ago, kNow - ago + range, step, kNow);
  };
  EXPECT_EQ(plan(hours(1), hours(1), std::nullopt).tier, 0u);
  EXPECT_EQ(plan(hours(1), hours(1), std::nullopt).step, seconds(20));
  EXPECT_EQ(plan(hours(1), hours(1), seconds(1)).step, seconds(10));
  EXPECT_EQ(plan(days(2), hours(1), seconds(10)).tier, 1u);
  EXPECT_EQ(plan(days(2), hours(1), seconds(10)).step, minutes(1));
  EXPECT_EQ(plan(days(60), days(60), std::nullopt).tier, 2u);
  EXPECT_EQ(plan(hours(20), hours(20), minutes(5)).tier, 1u);
  EXPECT_EQ(plan(days(300), hours(2), std::nullopt).tier, 2u);
}

TEST(Series, RefusesNonsense) {
  EXPECT_FALSE(plan_range(kNow, kNow, std::nullopt, kNow));
  EXPECT_FALSE(plan_range(kNow - days(31), kNow, minutes(1), kNow));
}

}  // namespace
}  // namespace cardhour
