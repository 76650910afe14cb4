#include "domain/estimate/price.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "base/size.h"

namespace cardhour::estimate {
namespace {

const EstimateRules kRules;
const Currency kCurrency;
constexpr Money k4090{1'980'000};
constexpr Money kNoGpu{100'000};

GpuModel card(const std::string& key, double fp16, double bandwidth, int64_t gib = 24) {
  GpuModel model;
  model.key = key;
  model.name = key;
  model.vram_bytes = gib * kGiB;
  model.fp16_tflops = fp16;
  model.bandwidth_gb_per_s = bandwidth;
  model.compute_capability = "8.9";
  return model;
}
const GpuModel kCard = card("rtx-4090", 165.2, 1008);

Usage usage(Duration run, Duration span, int cards = 1) { return {run, span, Duration{}, cards}; }
std::vector<CostRow> rows(const Usage& use) {
  return cost_rows(kCard, k4090, kNoGpu, use, kRules, kCurrency);
}
CostRow row(const Usage& use, PayMode mode) {
  for (const CostRow& each : rows(use)) {
    if (each.mode == mode) return each;
  }
  return {};
}
std::string two_decimals(Money money) { return format(Currency{"CNY", "", 2}, money); }

// ---- the worked examples ----

TEST(WorkedExample, TwentyTwoHoursADayForFourteenDays) {
  const Usage use = usage(hours(22 * 14), days(14));
  EXPECT_EQ(two_decimals(row(use, PayMode::on_demand).total), "609.84");
  const CostRow weeks = row(use, PayMode::week);
  EXPECT_EQ(weeks.packages, 2);
  EXPECT_EQ(two_decimals(weeks.total), "465.70");
  EXPECT_EQ(weeks.saves_percent, 24);
}

TEST(WorkedExample, ThirteenHoursADayForTwentyDays) {
  const Usage use = usage(hours(13 * 20), days(20));
  EXPECT_EQ(two_decimals(row(use, PayMode::on_demand).total), "514.80");
  const CostRow weeks = row(use, PayMode::week);
  EXPECT_EQ(weeks.packages, 3);
  EXPECT_EQ(two_decimals(weeks.total), "698.54");
  EXPECT_LT(weeks.saves_percent, 0);
  // On demand is the cheapest but for spot.
  EXPECT_EQ(rows(use)[1].mode, PayMode::on_demand);
}

TEST(WorkedExample, AWeekIsPaid232_848) {
  EXPECT_EQ(to_decimal(package_price(kRules, k4090, PayMode::week)), "232.848000");
}

// ---- the rules, one test a number ----

TEST(RuleOfThumb, CostIsRateByHoursByTrials) {
  // 18 750 steps at 0.9 s and 2.5 trials: 11.71875 h.
  EXPECT_EQ(two_decimals(
                row(usage(duration_of(16'875 * 2.5), duration_of(16'875 * 2.5)), PayMode::on_demand)
                    .total),
            "23.20");
}
TEST(RuleOfThumb, PackagesCost90And70And55Percent) {
  EXPECT_EQ(price_percent(kRules, PayMode::day), 90);
  EXPECT_EQ(price_percent(kRules, PayMode::week), 70);
  EXPECT_EQ(price_percent(kRules, PayMode::month), 55);
  EXPECT_EQ(term_of(PayMode::day), hours(24));
  EXPECT_EQ(term_of(PayMode::week), hours(168));
  EXPECT_EQ(term_of(PayMode::month), hours(720));
}
TEST(RuleOfThumb, APackageBreaksEvenAtItsPriceFactor) {
  EXPECT_EQ(package_break_even(kRules, PayMode::day), minutes(1296));   // 21.6 h
  EXPECT_EQ(package_break_even(kRules, PayMode::week), minutes(7056));  // 117.6 h
  EXPECT_EQ(package_break_even(kRules, PayMode::month), hours(396));
  for (const PayMode term : {PayMode::day, PayMode::week, PayMode::month}) {
    const Duration even = package_break_even(kRules, term);
    const Usage below = usage(even - minutes(1), term_of(term));
    const Usage above = usage(even + minutes(1), term_of(term));
    EXPECT_GT(row(below, term).total, row(below, PayMode::on_demand).total);
    EXPECT_LT(row(above, term).total, row(above, PayMode::on_demand).total);
  }
}
TEST(RuleOfThumb, SpotIs40Percent) {
  EXPECT_EQ(to_decimal(row(usage(hours(10), hours(10)), PayMode::spot).total), "7.920000");
}
TEST(RuleOfThumb, KeepTwiceTheCostAndTopUp10To20Hours) {
  const Balance balance = balance_of(Money{23'203'125}, k4090, kRules);
  EXPECT_EQ(balance.keep, Money{46'406'250});
  EXPECT_EQ(to_decimal(balance.first_topup_low), "19.800000");
  EXPECT_EQ(to_decimal(balance.first_topup_high), "39.600000");
}
TEST(RuleOfThumb, CheckpointsEvery15To30MinutesKeep3) {
  EXPECT_EQ(checkpoint_of(seconds(1), hours(1), kRules).suggested, minutes(15));
  EXPECT_EQ(checkpoint_of(minutes(5), days(7), kRules).suggested, minutes(30));
  EXPECT_EQ(kRules.checkpoints_kept, 3);
}
TEST(RuleOfThumb, AnImageIsWorthItBeyond20Minutes) {
  EXPECT_EQ(cost_advice(kRules, {}).size(), 2u);
  EXPECT_EQ(cost_advice(kRules, minutes(20)).size(), 2u);
  const auto advice = cost_advice(kRules, minutes(21));
  ASSERT_EQ(advice.size(), 3u);
  EXPECT_NE(advice.back().en.find("20 min"), std::string::npos) << advice.back().en;
}
TEST(RuleOfThumb, APackagePaysFrom60PercentTheySay) {
  EXPECT_NE(cost_advice(kRules, {})[1].en.find("from 60 %"), std::string::npos);
}

// Young 1974, equation 1: T = sqrt(2 Ts Tf).
TEST(Published, YoungsCheckpointInterval) {
  const Checkpoint point = checkpoint_of(seconds(50), hours(4), kRules);
  EXPECT_EQ(point.interval, seconds(1200));
  EXPECT_EQ(point.suggested, minutes(20));
  EXPECT_EQ(point.lost_percent, 8);  // 50 / 1200 + 600 / 14400
}

TEST(Cost, NothingButOnDemandIsForSale) {
  for (const CostRow& each : rows(usage(hours(5), hours(5)))) {
    EXPECT_EQ(for_sale(each.mode), each.mode == PayMode::on_demand);
    const bool says_so = each.sentence.en.find("Not for sale") != std::string::npos;
    EXPECT_EQ(says_so, !for_sale(each.mode)) << each.sentence.en;
  }
}
TEST(Cost, NoGpuHoursAreAddedOnce) {
  Usage use = usage(hours(2), hours(2), 4);
  use.no_gpu = hours(10);
  EXPECT_EQ(to_decimal(row(use, PayMode::on_demand).total), "16.840000");  // 4 x 2 x 1.98 + 1
}

// ---- plans ----

const Catalog kCatalog({card("small", 100, 1000, 24), card("large", 400, 2000, 80),
                        card("tiny", 50, 500, 12)});
const PriceBook kPrices({{"small", Mode::on_demand, Money{2'000'000}},
                         {"large", Mode::on_demand, Money{5'000'000}},
                         {"tiny", Mode::on_demand, Money{500'000}}});
Work work(double hours_on_small) {
  Work out;
  out.measured_on = kCatalog.by_key("small");
  out.one_card_seconds = hours_on_small * 3600;
  return out;
}
std::vector<Plan> plans_of(const Work& wanted) {
  return plans(wanted, kCatalog, kPrices, kRules, kCurrency);
}

TEST(Plans, TheCheapestThatMeetsTheDeadlineComesFirst) {
  Work wanted = work(10);
  EXPECT_EQ(plans_of(wanted).front().card->key, "tiny");  // 20 h for 10
  wanted.deadline = hours(12);
  const Plan first = plans_of(wanted).front();
  EXPECT_TRUE(first.meets_deadline);
  // The large one: 2.83 times as fast, 3.5 h for 17.68; two tiny ones: 11.1 h for 11.11.
  EXPECT_EQ(first.card->key, "tiny");
  EXPECT_EQ(first.cards, 2);
  wanted.vram_bytes = 20.0 * kGiB;
  EXPECT_EQ(plans_of(wanted).front().card->key, "large");
  wanted.deadline = minutes(1);
  EXPECT_FALSE(plans_of(wanted).front().meets_deadline);
  EXPECT_EQ(plans_of(wanted).front().cards, 8);  // none is in time: the fastest
}
TEST(Plans, AnotherCardIsAsFastAsComputeAndBandwidthSay) {
  const Speed speed = relative_speed(*kCatalog.by_key("large"), *kCatalog.by_key("small"));
  EXPECT_DOUBLE_EQ(speed.low, 2);
  EXPECT_DOUBLE_EQ(speed.high, 4);
  EXPECT_DOUBLE_EQ(speed.likely, std::sqrt(8.0));
}
TEST(Plans, SmallAgainstLarge) {
  Work wanted = work(10);
  wanted.vram_bytes = 20.0 * kGiB;
  const auto verdict = small_against_large(plans_of(wanted), kCurrency);
  ASSERT_TRUE(verdict.has_value());
  EXPECT_NE(verdict->en.find("1 × large"), std::string::npos) << verdict->en;
  EXPECT_NE(verdict->zh.find("1 × large"), std::string::npos) << verdict->zh;
  EXPECT_FALSE(small_against_large({}, kCurrency).has_value());
}
TEST(Plans, LeaveOutWhatIsNotForRentOrTooSmall) {
  Work wanted = work(1);
  wanted.vram_bytes = 79.9 * kGiB;
  EXPECT_TRUE(plans_of(wanted).empty());
  wanted.vram_bytes = 0;
  EXPECT_EQ(plans(wanted, kCatalog, PriceBook(), kRules, kCurrency).size(), 0u);
}

// ---- own or rent ----

OwnRequest own(double hours_per_month) {
  OwnRequest request;
  request.rent_per_hour = k4090;
  request.hours_per_month = hours_per_month;
  request.machine_price = kRules.machine_price;
  request.machine_watts = kRules.machine_watts;
  request.price_per_kwh = kRules.price_per_kwh;
  request.value_lost_percent = kRules.value_lost_percent;
  return request;
}
Own answer(const OwnRequest& request) { return own_or_rent(request, kRules, kCurrency); }

TEST(RuleOfThumb, AMachineIs20000At600WAndLosesHalfItsValue) {
  EXPECT_EQ(to_decimal(kRules.machine_price), "20000.000000");
  EXPECT_EQ(kRules.machine_watts, 600);
  EXPECT_EQ(to_decimal(answer(own(50)).value_lost_per_month), "833.333333");  // 10 000 / 12
}
TEST(RuleOfThumb, TenHoursADayAre180KilowattHoursAMonth) {
  EXPECT_DOUBLE_EQ(answer(own(300)).energy_kwh_per_month, 180);
}
TEST(RuleOfThumb, TheComputedBreakEvenIsAboveTheRuleOf150Hours) {
  EXPECT_EQ(kRules.own_rule_hours, 150);
  const Own result = answer(own(50));
  ASSERT_TRUE(result.break_even_hours.has_value());
  EXPECT_GT(*result.break_even_hours, 150);
  EXPECT_NEAR(*result.break_even_hours, 833.333333 / (1.98 - 0.48), 0.01);
}
TEST(RuleOfThumb, At50HoursAMonthRent) {
  EXPECT_EQ(answer(own(50)).advice, OwnAdvice::rent);
  EXPECT_TRUE(answer(own(50)).sentence.en.starts_with("Rent: 50 hours"));
}
TEST(RuleOfThumb, OwnedMachinesAreUsed5To10Percent) {
  const auto reasons = answer(own(50)).reasons;
  EXPECT_TRUE(std::any_of(reasons.begin(), reasons.end(), [](const Text& each) {
    return each.en.find("5 to 10 %") != std::string::npos;
  }));
}

TEST(Own, AdvisesWhatTheLoadAndTheDataAskFor) {
  EXPECT_EQ(answer(own(600)).advice, OwnAdvice::own);
  OwnRequest steady = own(500);
  steady.steady = true;
  EXPECT_EQ(answer(steady).advice, OwnAdvice::reserve);
  EXPECT_NE(answer(steady).sentence.en.find("not for sale"), std::string::npos);
  OwnRequest bound = own(50);
  bound.data_must_stay = true;
  EXPECT_EQ(answer(bound).advice, OwnAdvice::private_deployment);
}
TEST(Own, TheCurvesCrossAtTheBreakEven) {
  const Own at = answer(own(*answer(own(50)).break_even_hours));
  EXPECT_NEAR(static_cast<double>(at.at.own_per_month.micro - at.at.rent_per_month.micro), 0, 1e3);
  EXPECT_FALSE(at.curve.front().own_per_hour.has_value());
}
TEST(Own, NeverPaysWhereAnHourOfPowerCostsMoreThanRenting) {
  OwnRequest request = own(100);
  request.price_per_kwh = Money{10'000'000};
  EXPECT_FALSE(answer(request).break_even_hours.has_value());
}
TEST(Own, RefusesWhatCannotBe) {
  OwnRequest request = own(0);
  EXPECT_EQ(check(request).error().field, "hours_per_month");
  request = own(10);
  request.price_per_kwh = Money{-1};
  EXPECT_EQ(check(request).error().field, "price_per_kwh");
  request = own(10);
  request.months = 0;
  EXPECT_EQ(check(request).error().field, "months");
}

// ---- properties ----

RC_GTEST_PROP(CostProperty, IsLinearInPriceUpToAMicroUnit, ()) {
  const Money price{*rc::gen::inRange<int64_t>(0, 1'000'000'000)};
  const Duration run{*rc::gen::inRange<int64_t>(0, days(365).ms)};
  const int factor = *rc::gen::inRange(1, 9);
  const auto total = [&](Money each) {
    return cost_rows(kCard, each, kNoGpu, usage(run, run), kRules, kCurrency);
  };
  const auto on_demand = [](const std::vector<CostRow>& all) {
    for (const CostRow& each : all) {
      if (each.mode == PayMode::on_demand) return each.total.micro;
    }
    return int64_t{0};
  };
  const int64_t difference = on_demand(total(price * factor)) - factor * on_demand(total(price));
  RC_ASSERT(difference >= 0);
  RC_ASSERT(difference < factor);
}
RC_GTEST_PROP(CostProperty, IsWhatTheMeterWouldCharge, ()) {
  const Duration run{*rc::gen::inRange<int64_t>(0, days(365).ms)};
  const int cards = *rc::gen::inRange(1, 17);
  RC_ASSERT(row(usage(run, run, cards), PayMode::on_demand).total == due(Rate{k4090}, cards, run));
}
RC_GTEST_PROP(OwnProperty, AnHourGetsCheaperTheMoreThereAre, ()) {
  const auto curve = answer(own(*rc::gen::inRange(1, 744))).curve;
  for (size_t i = 2; i < curve.size(); ++i) {
    RC_ASSERT(*curve[i].own_per_hour <= *curve[i - 1].own_per_hour);
    RC_ASSERT(curve[i].rent_per_month >= curve[i - 1].rent_per_month);
  }
}

}  // namespace
}  // namespace cardhour::estimate
