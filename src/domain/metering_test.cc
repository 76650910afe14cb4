#include "domain/metering.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace cardhour {
namespace {

constexpr Money k4090{1'980'000};
constexpr Money kNoGpu{100'000};

Timestamp at(std::string_view clock) {
  return *parse_rfc3339("2026-12-01T" + std::string(clock) + "Z");
}

Segment segment(Timestamp opened, Money rate = k4090, Duration unit = seconds(1)) {
  return {.rate_per_hour = rate, .unit = unit, .opened_at = opened, .booked_until = opened};
}
Segment closed(Segment segment, Timestamp at, Cause cause) {
  segment.closed_at = at;
  segment.close_cause = cause;
  return segment;
}
Money run_cost(std::string_view from, std::string_view to, Duration unit, Money rate = k4090) {
  return segment_due(closed(segment(at(from), rate, unit), at(to), Cause::renter), at("23:59:59"));
}
std::string decimal(Money money) { return to_decimal(money); }

// The worked examples of the billing rules.

TEST(WorkedExample, NoGpuForThirtySecondsIsOneMinimumLine) {
  const Money run = run_cost("10:00:00", "10:00:30", seconds(1), kNoGpu);
  EXPECT_EQ(decimal(run), "0.000833");
  EXPECT_EQ(decimal(minimum_line(run, Policy{}.minimum_charge)), "0.009167");
  EXPECT_EQ(decimal(run + minimum_line(run, Policy{}.minimum_charge)), "0.010000");
}

TEST(WorkedExample, ThirtySevenMinutesOnDemand) {
  EXPECT_EQ(decimal(run_cost("10:00:00", "10:37:00", seconds(1))), "1.221000");
}

TEST(WorkedExample, DaysOnDemand) {
  const auto cost = [](int hours_a_day, int days_long) {
    Money sum;
    for (int day = 0; day < days_long; ++day) {
      const Timestamp start = at("00:00:00") + days(day);
      const Timestamp stop = start + hours(hours_a_day);
      sum += segment_due(closed(segment(start), stop, Cause::renter), stop);
    }
    return decimal(sum);
  };
  EXPECT_EQ(cost(22, 14), "609.840000");
  EXPECT_EQ(cost(13, 20), "514.800000");
}

TEST(WorkedExample, UnitOfAnHour) {
  EXPECT_EQ(run_cost("10:50:00", "11:10:00", hours(1)), k4090);
  EXPECT_EQ(run_cost("10:50:00", "10:55:00", hours(1)), k4090);
  // Started again at 10:56: a second run, a second unit.
  EXPECT_EQ(run_cost("10:56:00", "11:10:00", hours(1)), k4090);
  EXPECT_EQ(run_cost("10:00:00", "11:00:00", hours(1)), k4090);
  EXPECT_EQ(run_cost("10:00:00", "11:00:01", hours(1)), k4090 * 2);
}

TEST(WorkedExample, SixYuanLastForAnHourAndTwelveMinutes) {
  const Timestamp now = at("10:00:00");
  const std::vector<Segment> open = {segment(now, Money{2'000'000}),
                                     segment(now, Money{3'000'000})};
  EXPECT_EQ(decimal(burn_per_hour(open)), "5.000000");
  EXPECT_EQ(covered_until(open, Money{6'000'000}, now), now + minutes(72));
}

TEST(Metering, ChargesAUnitWhenItStarts) {
  const Segment run = segment(at("10:00:00"), k4090, hours(1));
  EXPECT_EQ(segment_due(run, at("10:00:00")), Money{});
  EXPECT_EQ(segment_due(run, at("10:00:00") + milliseconds(1)), k4090);
  EXPECT_EQ(segment_due(run, at("11:00:00")), k4090);
  EXPECT_EQ(segment_due(run, at("11:00:00") + milliseconds(1)), k4090 * 2);
}

TEST(Metering, NothingBeforeItOpensAndNothingAfterItCloses) {
  const Segment run = segment(at("10:00:00"));
  EXPECT_EQ(segment_due(run, at("09:00:00")), Money{});
  const Segment done = closed(run, at("11:00:00"), Cause::renter);
  EXPECT_EQ(segment_due(done, at("11:00:00")), k4090);
  EXPECT_EQ(segment_due(done, at("23:00:00")), k4090);
}

TEST(Metering, CountsCards) {
  Segment run = segment(at("10:00:00"));
  run.quantity = 8;
  EXPECT_EQ(segment_due(run, at("10:30:00")), k4090 * 4);
  EXPECT_EQ(burn_per_hour({run}), k4090 * 8);
}

TEST(Metering, AnInvoluntaryStopIsExactToTheMillisecond) {
  for (Cause cause : {Cause::arrears, Cause::vanished, Cause::host_reboot, Cause::host_silent,
                      Cause::restart_failed, Cause::expired, Cause::admin}) {
    EXPECT_FALSE(is_voluntary(cause));
    const Segment run = closed(segment(at("10:00:00"), Money{3'600'000'000}, hours(1)),
                               at("10:00:00") + milliseconds(1'234), cause);
    EXPECT_EQ(segment_due(run, at("12:00:00")), Money{1'234'000});
  }
}

TEST(Metering, AVoluntaryStopIsRoundedUp) {
  for (Cause cause : {Cause::renter, Cause::guest_shutdown}) {
    EXPECT_TRUE(is_voluntary(cause));
    const Segment run = closed(segment(at("10:00:00"), Money{3'600'000'000}, seconds(1)),
                               at("10:00:00") + milliseconds(1'234), cause);
    EXPECT_EQ(segment_due(run, at("12:00:00")), Money{2'000'000});
  }
}

TEST(Metering, AnInvoluntaryStopGivesBackTheTailOfAUnit) {
  Segment run = segment(at("10:00:00"), k4090, hours(1));
  run.posted = segment_due(run, at("10:20:00"));
  EXPECT_EQ(run.posted, k4090);
  run = closed(run, at("10:30:00"), Cause::host_reboot);
  EXPECT_EQ(accrued({run}, at("10:30:00")), Money{-990'000});
}

TEST(CarryOver, IsTheUnusedPartOfTheLastUnit) {
  Segment run = segment(at("10:00:00"), k4090, hours(1));
  EXPECT_EQ(carry_over(run, at("10:20:00")), minutes(40));
  EXPECT_EQ(carry_over(run, at("11:00:00")), Duration{});
  EXPECT_EQ(carry_over(run, at("10:00:00")), Duration{});
  run.carried = minutes(40);
  EXPECT_EQ(carry_over(run, at("10:30:00")), minutes(10));
  EXPECT_EQ(carry_over(run, at("10:40:00")), Duration{});
  EXPECT_EQ(carry_over(run, at("10:41:00")), minutes(59));
}

TEST(CarryOver, AShapeThatFitsInTheCarriedTimeCostsNothing) {
  Segment run = segment(at("10:00:00"), k4090, hours(1));
  run.carried = minutes(40);
  EXPECT_EQ(segment_due(run, at("10:40:00")), Money{});
  EXPECT_EQ(segment_due(run, at("10:40:00") + milliseconds(1)), k4090);
  EXPECT_EQ(segment_due(closed(run, at("10:41:00"), Cause::arrears), at("12:00:00")),
            Money{33'000});
}

Duration any_unit() { return *rc::gen::element(seconds(1), minutes(1), hours(1), milliseconds(7)); }

RC_GTEST_PROP(CarryOver, ShapesOfOneRunAreRoundedUpOnce, ()) {
  const Duration unit = any_unit();
  const auto lengths = *rc::gen::nonEmpty(
      rc::gen::container<std::vector<int64_t>>(rc::gen::inRange<int64_t>(0, 10'000'000)));
  Timestamp now = at("10:00:00");
  Duration carried;
  Duration charged;
  Duration lasted;
  for (int64_t ms : lengths) {
    Segment shape = segment(now, k4090, unit);
    shape.carried = carried;
    now = now + milliseconds(ms);
    lasted = lasted + milliseconds(ms);
    charged = charged + charged_time(shape, now, true);
    carried = carry_over(shape, now);
    RC_ASSERT(carried.ms >= 0 && carried < unit);
  }
  RC_ASSERT(charged.ms == (lasted.ms + unit.ms - 1) / unit.ms * unit.ms);
}

RC_GTEST_PROP(Settlement, AnySequenceOfInstantsSumsToTheSame, ()) {
  Segment run =
      segment(at("10:00:00"), Money{*rc::gen::inRange<int64_t>(0, 100'000'000)}, any_unit());
  run.quantity = *rc::gen::inRange<int64_t>(1, 17);
  run.carried = Duration{*rc::gen::inRange<int64_t>(0, run.unit.ms)};
  auto instants =
      *rc::gen::container<std::vector<int64_t>>(rc::gen::inRange<int64_t>(0, 100'000'000));
  std::ranges::sort(instants);
  const Timestamp end = run.opened_at + milliseconds(100'000'000);
  const Cause cause = *rc::gen::element(Cause::renter, Cause::arrears, Cause::host_reboot);

  const Money whole = segment_due(closed(run, end, cause), end);
  for (int64_t ms : instants) {
    const Money more = segment_due(run, run.opened_at + milliseconds(ms)) - run.posted;
    RC_ASSERT(more >= Money{});
    run.posted += more;
  }
  run = closed(run, end, cause);
  const Money last = segment_due(run, end + days(1)) - run.posted;
  if (is_voluntary(cause)) RC_ASSERT(last >= Money{});
  run.posted += last;
  RC_ASSERT(run.posted == whole);
  RC_ASSERT(accrued({run}, end + days(9)) == Money{});
}

RC_GTEST_PROP(Settlement, NeverFallsAsTimePasses, ()) {
  const Segment run = segment(at("10:00:00"), k4090, any_unit());
  const auto a = *rc::gen::inRange<int64_t>(-10'000, 10'000'000);
  const auto b = *rc::gen::inRange<int64_t>(-10'000, 10'000'000);
  const auto [sooner, later] = std::minmax(a, b);
  RC_ASSERT(segment_due(run, run.opened_at + milliseconds(sooner)) <=
            segment_due(run, run.opened_at + milliseconds(later)));
}

TEST(MinimumLine, LiftsARunThatCostAnythingOnce) {
  const Policy policy;
  EXPECT_EQ(minimum_line(Money{}, policy.minimum_charge), Money{});
  EXPECT_EQ(minimum_line(Money{-5}, policy.minimum_charge), Money{});
  EXPECT_EQ(minimum_line(Money{1}, policy.minimum_charge), Money{9'999});
  EXPECT_EQ(minimum_line(Money{9'999}, policy.minimum_charge), Money{1});
  EXPECT_EQ(minimum_line(Money{10'000}, policy.minimum_charge), Money{});
  EXPECT_EQ(minimum_line(Money{10'001}, policy.minimum_charge), Money{});
  EXPECT_EQ(minimum_line(Money{1}, Money{}), Money{});
}

TEST(MinimumLine, OwesWhatWasPosted) {
  Segment line = segment(at("10:00:00"));
  line.meter = Meter::minimum;
  line.rate_per_hour = Money{};
  line.posted = Money{9'167};
  EXPECT_EQ(segment_due(line, at("23:00:00")), Money{9'167});
}

TEST(CoveredUntil, IsOpenEndedWhenNothingBurns) {
  const Timestamp now = at("10:00:00");
  EXPECT_EQ(covered_until({}, Money{5}, now), std::nullopt);
  EXPECT_EQ(covered_until({segment(now, Money{})}, Money{}, now), std::nullopt);
}

TEST(CoveredUntil, LooksAtWhatIsPaidAlready) {
  const Timestamp now = at("10:00:00");
  Segment run = segment(now, Money{3'600'000});
  run.posted = Money{1'000'000};
  EXPECT_EQ(covered_until({run}, Money{2'000'000}, now), now + seconds(3'000));
}

TEST(CoveredUntil, LiesInThePastWhenThePresentIsNotCovered) {
  const Segment run = segment(at("10:00:00"), Money{3'600'000});
  EXPECT_EQ(covered_until({run}, Money{600'000}, at("12:00:00")), at("10:10:00"));
  EXPECT_EQ(covered_until({run}, Money{}, at("12:00:00")), at("10:00:00"));
}

RC_GTEST_PROP(CoveredUntil, IsWhatTryingEveryMillisecondFinds, ()) {
  const Timestamp now = at("10:00:00");
  std::vector<Segment> open;
  const int count = *rc::gen::inRange(1, 4);
  for (int i = 0; i < count; ++i) {
    // About a micro-unit a millisecond, so that the border is a few seconds away.
    Segment run = segment(now - milliseconds(*rc::gen::inRange<int64_t>(0, 1'000)),
                          Money{*rc::gen::inRange<int64_t>(1'800'000, 10'000'000)},
                          milliseconds(*rc::gen::inRange<int64_t>(1, 700)));
    run.carried = milliseconds(*rc::gen::inRange<int64_t>(0, run.unit.ms));
    run.posted = segment_due(run, run.opened_at + milliseconds(*rc::gen::inRange<int64_t>(0, 500)));
    open.push_back(run);
  }
  const Money balance{*rc::gen::inRange<int64_t>(0, 1'000)};
  const Timestamp found = covered_until(open, balance, now).value();
  Timestamp tried = now - milliseconds(1'001);
  while (accrued(open, tried + milliseconds(1)) <= balance) tried = tried + milliseconds(1);
  RC_ASSERT(found == tried);
}

}  // namespace
}  // namespace cardhour
