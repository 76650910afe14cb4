#include "base/money.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <vector>

namespace cardhour {
namespace {

const Currency kYuan;
const Currency kYen{"JPY", "¥", 0};
const Currency kDinar{"KWD", "KD", 3};

constexpr int64_t kYearMs = days(365).ms;

// Up to a million yuan an hour, 64 cards, ten years: well above anything real.
Rate any_rate() {
  return {Money{*rc::gen::inRange<int64_t>(0, 1'000'000'000'000)},
          *rc::gen::element(hours(1), days(1))};
}
int64_t any_quantity() { return *rc::gen::inRange<int64_t>(0, 65); }
Duration any_elapsed() { return Duration{*rc::gen::inRange<int64_t>(0, 10 * kYearMs)}; }

TEST(Due, FloorsToTheMicroUnit) {
  const Rate rate{Money{1'980'000}};
  EXPECT_EQ(due(rate, 1, hours(1)), Money{1'980'000});
  EXPECT_EQ(due(rate, 8, minutes(30)), Money{7'920'000});
  EXPECT_EQ(due(rate, 1, milliseconds(1)), Money{0});
  EXPECT_EQ(due(rate, 1, milliseconds(2)), Money{1});
  EXPECT_EQ(due(rate, 0, hours(1)), Money{0});
  EXPECT_EQ(due({Money{6'600}, days(1)}, 20, days(30)), Money{3'960'000});
}

RC_GTEST_PROP(Due, NeverFallsAsTimePasses, ()) {
  const Rate rate = any_rate();
  const int64_t quantity = any_quantity();
  const Duration a = any_elapsed();
  const Duration b = any_elapsed();
  const auto [sooner, later] = std::minmax(a, b);
  RC_ASSERT(due(rate, quantity, sooner) <= due(rate, quantity, later));
}

RC_GTEST_PROP(Due, PartsAreWithinOneMicroUnitOfTheWhole, ()) {
  const Rate rate = any_rate();
  const int64_t quantity = any_quantity();
  const Duration a = any_elapsed();
  const Duration b = any_elapsed();
  const Money whole = due(rate, quantity, a + b);
  const Money parts = due(rate, quantity, a) + due(rate, quantity, b);
  RC_ASSERT(parts <= whole);
  RC_ASSERT(whole.micro - parts.micro <= 1);
}

RC_GTEST_PROP(Due, AnyPatternOfSettlementsSumsToTheSame, ()) {
  const Rate rate = any_rate();
  const int64_t quantity = any_quantity();
  Money posted;
  Duration now;
  const auto steps = *rc::gen::container<std::vector<int64_t>>(rc::gen::inRange(0, 86'400'000));
  for (int64_t step : steps) {
    now = now + Duration{step};
    posted += due(rate, quantity, now) - posted;
  }
  RC_ASSERT(posted == due(rate, quantity, now));
}

TEST(Affordable, OfAZeroRateIsForever) {
  EXPECT_EQ(affordable(Money{0}, Money{0}), kForever);
  EXPECT_EQ(affordable(Money{1}, Money{INT64_MAX}), kForever);
}

RC_GTEST_PROP(Affordable, IsTheExactInverseOfDue, ()) {
  const Money per_hour{*rc::gen::inRange<int64_t>(1, 64'000'000'000'000)};
  const Money funds{*rc::gen::inRange<int64_t>(0, 1'000'000'000'000)};
  const Duration longest = affordable(per_hour, funds);
  RC_PRE(longest < kForever);
  RC_ASSERT(due({per_hour}, 1, longest) <= funds);
  RC_ASSERT(due({per_hour}, 1, longest + milliseconds(1)) > funds);
}

TEST(Discounted, RoundsOnceHalfUp) {
  EXPECT_EQ(discounted(Money{1'980'000}, 9'000), Money{1'782'000});
  EXPECT_EQ(discounted(Money{1}, 5'000), Money{1});
  EXPECT_EQ(discounted(Money{1}, 4'999), Money{0});
  EXPECT_EQ(discounted(Money{3}, 10'000), Money{3});
}

TEST(Format, RoundsHalfUpAwayFromZero) {
  EXPECT_EQ(format(kYuan, Money{1'980'000}), "¥1.98");
  EXPECT_EQ(format(kYuan, Money{1'984'999}), "¥1.98");
  EXPECT_EQ(format(kYuan, Money{1'985'000}), "¥1.99");
  EXPECT_EQ(format(kYuan, Money{-1'985'000}), "-¥1.99");
  EXPECT_EQ(format(kYuan, Money{-4'999}), "¥0.00");
  EXPECT_EQ(format(kYuan, Money{999'999}), "¥1.00");
  EXPECT_EQ(format(kYen, Money{1'500'000}), "¥2");
  EXPECT_EQ(format(kYen, Money{-499'999}), "¥0");
  EXPECT_EQ(format(kDinar, Money{1'234'500}), "KD1.235");
  EXPECT_EQ(format(kYuan, Money{INT64_MIN}), "-¥9223372036854.78");
}

TEST(ParseMoney, ReadsWhatPeopleType) {
  EXPECT_EQ(parse_money("12"), Money{12'000'000});
  EXPECT_EQ(parse_money("12.5"), Money{12'500'000});
  EXPECT_EQ(parse_money("-0.000001"), Money{-1});
  EXPECT_EQ(parse_money("999999999999.999999"), Money{999'999'999'999'999'999});
  for (const char* text : {"", "-", ".", "1.", ".5", "+1", "1e3", "1,5", " 1", "1 ", "--1",
                           "0.0000001", "1000000000000", "1.2.3", "¥1", "0x10", "1.-5"}) {
    const auto parsed = parse_money(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code, ErrorCode::invalid_argument);
  }
}

RC_GTEST_PROP(ParseMoney, ReadsBackEveryDecimal, ()) {
  const Money money{*rc::gen::inRange<int64_t>(-999'999'999'999'999'999, 999'999'999'999'999'999)};
  RC_ASSERT(parse_money(to_decimal(money)) == money);
}

RC_GTEST_PROP(ParseMoney, NeverMisreadsGarbage, (const std::string& text)) {
  const auto parsed = parse_money(text);
  if (parsed) RC_ASSERT(text.find_first_not_of("-.0123456789") == std::string::npos);
}

TEST(Money, OverflowIsACheck) {
  EXPECT_DEATH(Money{INT64_MAX} + Money{1}, "money overflow");
  EXPECT_DEATH(Money{INT64_MAX} * 2, "money overflow");
  EXPECT_DEATH(-Money{INT64_MIN}, "money overflow");
  EXPECT_DEATH(due({Money{1}}, -1, hours(1)), "negative");
}

}  // namespace
}  // namespace cardhour
