// Owning a machine against renting its hours.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/check.h"
#include "domain/estimate/price.h"

namespace cardhour::estimate {
namespace {

constexpr double kHoursOfMonth = 720;
constexpr double kCurve[] = {0, 50, 100, 150, 200, 300, 400, 500, 600, 720};

Duration in_hours(double hours) { return duration_of(hours * 3600); }

// kWh cost money; a machine takes watts.
Money power(const OwnRequest& request, Duration run) {
  const Money thousand = due(Rate{request.price_per_kwh}, request.machine_watts, run);
  return Money{thousand.micro / 1000};
}

// After `months` the machine is worth (1 - lost)^(months / 12) of its price.
Money value_lost_per_month(const OwnRequest& request) {
  const double kept = std::pow(1 - request.value_lost_percent / 100.0, request.months / 12.0);
  const auto basis_points = static_cast<int64_t>(std::lround((1 - kept) * 10'000));
  return Money{discounted(request.machine_price, basis_points).micro / request.months};
}

OwnPoint point_at(const OwnRequest& request, Money fixed, double hours_per_month) {
  OwnPoint point;
  point.hours = hours_per_month;
  const Duration run = in_hours(hours_per_month);
  point.own_per_month = fixed + power(request, run);
  point.rent_per_month = due(Rate{request.rent_per_hour}, 1, run);
  if (run >= hours(1)) {
    const auto exact = static_cast<__int128>(point.own_per_month.micro) * hours(1).ms / run.ms;
    point.own_per_hour = Money{static_cast<int64_t>(exact)};
  }
  return point;
}

// Hours where owning and renting cost the same; nothing when the hour of power alone costs more,
// or the month is too short.
std::optional<double> break_even(Money fixed, Money rent_per_hour, Money power_per_hour) {
  const int64_t margin = rent_per_hour.micro - power_per_hour.micro;
  if (margin <= 0) return std::nullopt;
  const double hours = static_cast<double>(fixed.micro) / static_cast<double>(margin);
  return hours <= kHoursOfMonth ? std::optional(hours) : std::nullopt;
}

OwnAdvice advice_of(const OwnRequest& request, const Own& own, const EstimateRules& rules) {
  if (request.data_must_stay) return OwnAdvice::private_deployment;
  if (own.break_even_hours && request.hours_per_month >= *own.break_even_hours)
    return OwnAdvice::own;
  const double package_hours = kHoursOfMonth * rules.package_month_percent / 100;
  if (request.steady && request.hours_per_month >= package_hours) return OwnAdvice::reserve;
  return OwnAdvice::rent;
}

Text advice_sentence(const Own& own, const Currency& currency) {
  const std::string own_cost = format(currency, own.at.own_per_month);
  const std::string rent_cost = format(currency, own.at.rent_per_month);
  const auto with = [&](const char* en, const char* zh) {
    return text(en, zh, own.at.hours, own_cost, rent_cost);
  };
  switch (own.advice) {
    case OwnAdvice::rent:
      return with("Rent: {0:.0f} hours a month cost {2} rented, {1} owned.",
                  "租用：每月 {0:.0f} 小时，租用 {2}，自有 {1}。");
    case OwnAdvice::reserve:
      return with(
          "Rent, and reserve by the month where that is offered: {0:.0f} steady hours cost {2} on "
          "demand, {1} owned. Packages are not for sale on this deployment yet.",
          "租用，并在可购月包时包月：每月稳定 {0:.0f} 小时，按量 {2}，自有 "
          "{1}。本部署暂未开售套餐。");
    case OwnAdvice::own:
      return with("Own: {0:.0f} hours a month cost {1} owned, {2} rented.",
                  "自有：每月 {0:.0f} 小时，自有 {1}，租用 {2}。");
    case OwnAdvice::private_deployment:
      return with(
          "A private deployment, because the data must stay: {0:.0f} hours a month cost {1} on a "
          "machine "
          "of your own, {2} rented.",
          "私有部署，因为数据不能外出：每月 {0:.0f} 小时，自有机器 {1}，租用 {2}。");
  }
  return {};
}

void add_reasons(const OwnRequest& request, const EstimateRules& rules, Own& to) {
  if (to.break_even_hours) {
    to.reasons.push_back(text("Computed break-even: {:.0f} effective hours a month.",
                              "计算得出的盈亏平衡点：每月 {:.0f} 个有效小时。",
                              *to.break_even_hours));
  } else {
    to.reasons.push_back({"Owning does not break even within a month's 720 hours.",
                          "即使跑满每月 720 小时，自有也不划算。"});
  }
  to.reasons.push_back(
      text("The rule of thumb says {} effective hours a month; it leaves out part of the costs.",
           "经验值是每月 {} 个有效小时；它没有计入全部成本。", rules.own_rule_hours));
  to.reasons.push_back(
      text("Owned machines are used {} to {} % of the year: count hours that really work.",
           "自有机器全年利用率通常只有 {}% 到 {}%：请按真正工作的小时计。",
           rules.owned_use_percent_min, rules.owned_use_percent_max));
  if (request.hours_per_month < rules.own_rule_hours && !request.data_must_stay) {
    to.reasons.push_back(
        text("{:.0f} hours are below both.", "{:.0f} 小时低于两者。", request.hours_per_month));
  }
}

void add_formulas(const OwnRequest& request, const Currency& currency, Own& to) {
  to.formulas.push_back(
      {{"value lost a month", "每月折旧"},
       fmt::format("{} × (1 - (1 - {} %)^({} / 12)) / {} = {}",
                   format(currency, request.machine_price), request.value_lost_percent,
                   request.months, request.months, format(currency, to.value_lost_per_month))});
  to.formulas.push_back({{"energy a month", "每月用电"},
                         fmt::format("{} W × {:.0f} h / 1000 = {:.0f} kWh", request.machine_watts,
                                     request.hours_per_month, to.energy_kwh_per_month)});
  if (to.break_even_hours) {
    to.formulas.push_back(
        {{"break-even", "盈亏平衡"},
         fmt::format("({} + {}) / ({} - {}) = {:.0f} h", format(currency, to.value_lost_per_month),
                     format(currency, request.upkeep_per_month),
                     format(currency, request.rent_per_hour), format(currency, to.power_per_hour),
                     *to.break_even_hours)});
  }
}

}  // namespace

Status check(const OwnRequest& request) {
  if (!(request.hours_per_month > 0 && request.hours_per_month <= 744)) {
    return invalid("hours_per_month", Text{"hours_per_month must be 0 to 744",
                                           "hours_per_month 必须在 0 到 744 之间"});
  }
  const std::tuple<const char*, Money, int64_t> amounts[] = {
      {"machine_price", request.machine_price, 1'000'000'000},
      {"price_per_kwh", request.price_per_kwh, 1000},
      {"upkeep_per_month", request.upkeep_per_month, 1'000'000'000}};
  for (const auto& [field, amount, highest] : amounts) {
    if (amount.micro < 0 || amount > Money{highest * 1'000'000}) {
      return invalid(field, text("{} must be 0 to {}", "{} 必须在 0 到 {} 之间", field, highest));
    }
  }
  if (request.machine_watts < 0 || request.machine_watts > 100'000) {
    return invalid("machine_watts", Text{"machine_watts must be 0 to 100000",
                                         "machine_watts 必须在 0 到 100000 之间"});
  }
  if (request.value_lost_percent < 0 || request.value_lost_percent > 100) {
    return invalid("value_lost_percent", Text{"value_lost_percent must be 0 to 100",
                                              "value_lost_percent 必须在 0 到 100 之间"});
  }
  if (request.months < 1 || request.months > 120) {
    return invalid("months", Text{"months must be 1 to 120", "months 必须在 1 到 120 之间"});
  }
  return {};
}

Own own_or_rent(const OwnRequest& request, const EstimateRules& rules, const Currency& currency) {
  CHECK(check(request).has_value(), "a request that was checked");
  Own own;
  own.value_lost_per_month = value_lost_per_month(request);
  own.power_per_hour = power(request, hours(1));
  own.energy_kwh_per_month = request.machine_watts / 1000.0 * request.hours_per_month;
  const Money fixed = own.value_lost_per_month + request.upkeep_per_month;
  own.break_even_hours = break_even(fixed, request.rent_per_hour, own.power_per_hour);
  own.at = point_at(request, fixed, request.hours_per_month);
  for (const double at : kCurve) own.curve.push_back(point_at(request, fixed, at));
  own.advice = advice_of(request, own, rules);
  own.sentence = advice_sentence(own, currency);
  add_reasons(request, rules, own);
  add_formulas(request, currency, own);
  return own;
}

}  // namespace cardhour::estimate
