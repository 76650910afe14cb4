// The cost of hours, packages, balance and checkpoints.
#include "domain/estimate/price.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace cardhour::estimate {
namespace {

constexpr int64_t kPercent = 100;  // basis points of one per cent

int64_t ceil_of(Duration whole, Duration part) { return (whole.ms + part.ms - 1) / part.ms; }

CostRow on_demand_row(const GpuModel& card, Money per_hour, const Usage& usage, PayMode mode) {
  CostRow row;
  row.card = &card;
  row.mode = mode;
  row.rate_per_hour = per_hour * usage.cards;
  row.cards_cost = due(Rate{per_hour}, usage.cards, usage.run);
  return row;
}

CostRow package_row(const GpuModel& card, Money per_hour, const Usage& usage, PayMode mode,
                    const EstimateRules& rules) {
  CostRow row;
  row.card = &card;
  row.mode = mode;
  row.packages = static_cast<int>(ceil_of(usage.span, term_of(mode)));
  row.rate_per_hour = discounted(per_hour, price_percent(rules, mode) * kPercent) * usage.cards;
  row.cards_cost = package_price(rules, per_hour, mode) * row.packages * usage.cards;
  return row;
}

int saving(Money of, Money against) {
  if (against.micro == 0) return 0;
  const auto left = static_cast<__int128>(against.micro - of.micro) * 100;
  const auto half = against.micro / 2;
  return static_cast<int>((left >= 0 ? left + half : left - half) / against.micro);
}

Text row_sentence(const CostRow& row, const Usage& usage, const Currency& currency) {
  const std::string hours = fmt::format("{:.1f} h", static_cast<double>(usage.run.ms) / 3.6e6);
  const std::string total = format(currency, row.total);
  const std::string cards = fmt::format("{} × {}", usage.cards, row.card->name);
  if (row.packages == 0 && row.mode == PayMode::on_demand) {
    return text("{} on demand for {}: {}.", "{} 按量 {}：{}。", cards, hours, total);
  }
  const Text mode = pay_mode_text(row.mode);
  Text sentence = row.packages > 0
                      ? Text{fmt::format("{}, {} {} package{}: {}", cards, row.packages, mode.en,
                                         row.packages == 1 ? "" : "s", total),
                             fmt::format("{}，{} 个{}：{}", cards, row.packages, mode.zh, total)}
                      : text("{} as spot for {}: {}", "{} 竞价 {}：{}", cards, hours, total);
  if (row.saves_percent > 0) {
    sentence.en += fmt::format(", {} % less than on demand", row.saves_percent);
    sentence.zh += fmt::format("，比按量省 {}%", row.saves_percent);
  } else if (row.saves_percent < 0) {
    sentence.en += ", dearer than on demand";
    sentence.zh += "，比按量贵";
  }
  sentence.en += ". Not for sale on this deployment yet.";
  sentence.zh += "。本部署暂未开售。";
  return sentence;
}

}  // namespace

Text pay_mode_text(PayMode mode) {
  switch (mode) {
    case PayMode::on_demand:
      return {"on demand", "按量"};
    case PayMode::spot:
      return {"spot", "竞价"};
    case PayMode::day:
      return {"day", "日包"};
    case PayMode::week:
      return {"week", "周包"};
    case PayMode::month:
      return {"month", "月包"};
  }
  return {};
}

bool for_sale(PayMode mode) { return mode == PayMode::on_demand; }

Duration term_of(PayMode package) {
  switch (package) {
    case PayMode::day:
      return hours(24);
    case PayMode::week:
      return hours(168);
    case PayMode::month:
      return hours(720);
    case PayMode::on_demand:
    case PayMode::spot:
      break;
  }
  CHECK(false, "only packages have a term");
  return {};
}

int price_percent(const EstimateRules& rules, PayMode package) {
  switch (package) {
    case PayMode::on_demand:
      return 100;
    case PayMode::spot:
      return rules.spot_percent;
    case PayMode::day:
      return rules.package_day_percent;
    case PayMode::week:
      return rules.package_week_percent;
    case PayMode::month:
      return rules.package_month_percent;
  }
  return 100;
}

Money package_price(const EstimateRules& rules, Money on_demand_per_hour, PayMode package) {
  const Money per_hour = discounted(on_demand_per_hour, price_percent(rules, package) * kPercent);
  return per_hour * (term_of(package).ms / hours(1).ms);
}

Duration package_break_even(const EstimateRules& rules, PayMode package) {
  return Duration{term_of(package).ms / 100 * price_percent(rules, package)};
}

std::vector<CostRow> cost_rows(const GpuModel& card, Money on_demand_per_hour,
                               Money no_gpu_per_hour, const Usage& usage,
                               const EstimateRules& rules, const Currency& currency) {
  CHECK(usage.cards >= 1 && usage.run.ms >= 0 && usage.span >= usage.run, "a usage that can be");
  const Money spot = discounted(on_demand_per_hour, rules.spot_percent * kPercent);
  std::vector<CostRow> rows = {on_demand_row(card, on_demand_per_hour, usage, PayMode::on_demand),
                               on_demand_row(card, spot, usage, PayMode::spot)};
  for (const PayMode package : {PayMode::day, PayMode::week, PayMode::month}) {
    rows.push_back(package_row(card, on_demand_per_hour, usage, package, rules));
  }
  const Money on_demand = rows.front().cards_cost;
  for (CostRow& row : rows) {
    row.no_gpu_cost = due(Rate{no_gpu_per_hour}, 1, usage.no_gpu);
    row.total = row.cards_cost + row.no_gpu_cost;
    row.saves_percent = saving(row.cards_cost, on_demand);
    row.sentence = row_sentence(row, usage, currency);
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const CostRow& a, const CostRow& b) { return a.total < b.total; });
  return rows;
}

std::vector<Formula> cost_formulas(const Usage& usage, const CostRow& row, double trial_factor,
                                   const Currency& currency) {
  const double run = static_cast<double>(usage.run.ms) / 3.6e6;
  std::vector<Formula> formulas;
  if (trial_factor != 1) {
    formulas.push_back(
        {{"hours with trials", "含试错的小时数"},
         fmt::format("{:.2f} h × {} = {:.2f} h", run / trial_factor, trial_factor, run)});
  }
  formulas.push_back({{"card-hours", "卡时"},
                      fmt::format("{:.2f} h × {} = {:.2f}", run, usage.cards, run * usage.cards)});
  const Money cards = row.total - row.no_gpu_cost;
  formulas.push_back({{"cards on demand", "按量费用"},
                      fmt::format("{}/h × {:.2f} h = {}", format(currency, row.rate_per_hour), run,
                                  format(currency, cards))});
  if (row.no_gpu_cost.micro > 0) {
    formulas.push_back(
        {{"with no-GPU time", "含无卡时长"},
         fmt::format("{} + {} = {}", format(currency, cards), format(currency, row.no_gpu_cost),
                     format(currency, row.total))});
  }
  return formulas;
}

std::vector<Text> cost_advice(const EstimateRules& rules, const std::optional<Duration>& rebuild) {
  std::vector<Text> advice = {
      {"Disks cost nothing on this deployment, on or off.",
       "本部署的磁盘不收费，无论开机还是关机。"},
      text("A package pays from {} % of its term in use (the rule of thumb); packages and spot are "
           "not for sale on this deployment yet.",
           "套餐在其时长的 {}% 以上被使用时划算（经验值）；本部署暂未开售套餐与竞价。",
           rules.package_rule_percent)};
  if (rebuild && *rebuild > rules.rebuild) {
    advice.push_back({"Setting up takes more than " + for_people(rules.rebuild, Language::en) +
                          ": worth an image, where images can be saved.",
                      "搭建环境超过 " + for_people(rules.rebuild, Language::zh) +
                          "：在可保存镜像时值得做成镜像。"});
  }
  return advice;
}

Balance balance_of(Money expected, Money rate_per_hour, const EstimateRules& rules) {
  return {discounted(expected, rules.balance_percent * kPercent),
          rate_per_hour * rules.topup_hours_min, rate_per_hour * rules.topup_hours_max};
}

Checkpoint checkpoint_of(Duration one_checkpoint, Duration between_interruptions,
                         const EstimateRules& rules) {
  CHECK(one_checkpoint.ms > 0 && between_interruptions.ms > 0, "lengths of time");
  const double save = static_cast<double>(one_checkpoint.ms) / 1000;
  const double between = static_cast<double>(between_interruptions.ms) / 1000;
  const double interval = std::sqrt(2 * save * between);
  Checkpoint out;
  out.interval = duration_of(interval);
  out.suggested = std::clamp(out.interval, rules.checkpoint_min, rules.checkpoint_max);
  // Half an interval is done again after each interruption.
  const double taken = static_cast<double>(out.suggested.ms) / 1000;
  const double lost = save / taken + taken / 2 / between;
  out.lost_percent = static_cast<int>(std::lround(std::min(lost, 1.0) * 100));
  out.formula = fmt::format("√(2 × {:.0f} s × {:.0f} s) = {:.0f} s", save, between, interval);
  return out;
}

}  // namespace cardhour::estimate
