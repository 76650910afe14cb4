#include "domain/estimate/training.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace cardhour::estimate {
namespace {

constexpr int kScaled[] = {1, 2, 4, 8};
constexpr double kGainThatPays = 0.5;  // of a card, by each card added
constexpr int kCardsMax = 64;
constexpr double kStepsMax = 1e12;
constexpr double kStepSecondsMax = 86'400;
constexpr double kSecondsMax = 3.2e8;  // ten years: longer is a typing error

// The rules at 1, 2, 4 and 8 cards; between them, and beyond, a power of the count.
double ruled_speedup(const EstimateRules& rules, int cards) {
  const double known[] = {1.0, rules.speedup_percent_2 / 100.0, rules.speedup_percent_4 / 100.0,
                          rules.speedup_percent_8 / 100.0};
  const double place = std::log2(static_cast<double>(cards));
  const int below = std::min(static_cast<int>(place + 1e-12), 2);
  const double growth = known[below + 1] / known[below];
  return known[below] * std::pow(growth, place - below);
}

std::string clean_number(double value) {
  std::string digits = fmt::format("{:.4f}", value);
  while (digits.back() == '0') digits.pop_back();
  if (digits.back() == '.') digits.pop_back();
  return digits;
}

std::string hours(double seconds) { return fmt::format("{:.1f} h", seconds / 3600); }

double steps_of(const TrainingRequest& request) {
  if (request.steps) return static_cast<double>(*request.steps);
  // The last batch of an epoch may be smaller, and is a step all the same.
  return std::ceil(request.samples / request.batch * request.epochs - 1e-9);
}

std::vector<Scaling> scaling_of(const TrainingRequest& request, const EstimateRules& rules,
                                double one_card_seconds) {
  std::vector<Scaling> rows;
  for (const int cards : kScaled) {
    Scaling row;
    row.cards = cards;
    row.speedup = speedup_of(rules, request.measured, cards);
    row.run_seconds = one_card_seconds / row.speedup;
    if (!rows.empty()) {
      const Scaling& before = rows.back();
      const double gain = (row.speedup - before.speedup) / (cards - before.cards);
      row.gain_percent = static_cast<int>(std::lround(gain * 100));
      row.pays = before.pays && gain >= kGainThatPays;
    }
    rows.push_back(row);
  }
  return rows;
}

void add_formulas(const TrainingRequest& request, Training& to) {
  if (!request.steps) {
    to.formulas.push_back({{"steps", "步数"},
                           fmt::format("{} / {} × {} = {:.0f}", clean_number(request.samples),
                                       request.batch, clean_number(request.epochs), to.steps)});
  }
  to.formulas.push_back({{"one run", "单次运行"},
                         fmt::format("{:.0f} × {} s = {}", to.steps, clean_number(to.step_seconds),
                                     hours(to.run_seconds))});
  to.formulas.push_back({{"with trials", "含试错"},
                         fmt::format("{} × {} = {}", hours(to.run_seconds),
                                     clean_number(to.trial_factor), hours(to.total_seconds))});
  to.formulas.push_back({{"card-hours", "卡时"},
                         fmt::format("{} × {} = {}", hours(to.total_seconds), request.cards,
                                     hours(to.card_seconds))});
}

void add_advice(const TrainingRequest& request, const EstimateRules& rules, Training& to) {
  if (!request.fit) {
    to.advice.push_back(
        text("Measure before you rely on it: {} samples, {} to {} steps show that it runs; {} "
             "steps give "
             "its speed.",
             "先测量再依据：{} 个样本、{} 到 {} 步验证能跑通；{} 步得出速度。", rules.smoke_samples,
             rules.smoke_steps_min, rules.smoke_steps_max, rules.timing_steps));
  }
  if (to.tuned_seconds_low) {
    to.advice.push_back(
        text("First tune one card (mixed precision, accumulation, loading, fused operators): one "
             "run in {} "
             "to {} instead of {}.",
             "先调好单卡（混合精度、梯度累积、数据加载、融合算子）：单次运行 {} 到 {}，而非 {}。",
             hours(*to.tuned_seconds_low), hours(*to.tuned_seconds_high), hours(to.run_seconds)));
  }
  to.advice.push_back(text(
      "Save a checkpoint every {} to {} min on the data disk, the step in its name; keep {}, and "
      "delete "
      "the old one only after the new one is closed and synced.",
      "每 {} 到 {} 分钟在数据盘保存检查点，文件名含步数；保留 {} 份，新的写完并同步后再删旧的。",
      rules.checkpoint_min.ms / 60'000, rules.checkpoint_max.ms / 60'000, rules.checkpoints_kept));
  const bool all_pay = to.pays_up_to_cards == to.scaling.back().cards;
  to.advice.push_back(all_pay
                          ? Text{"More cards pay up to 8: each adds at least half a card.",
                                 "加卡到 8 张仍划算：每张至少增加半张卡的速度。"}
                          : text("Beyond {} cards each added card brings less than half a card: "
                                 "only for a deadline.",
                                 "超过 {} 张后，每张新增的卡带来的速度不足半张：仅在赶时间时值得。",
                                 to.pays_up_to_cards));
}

}  // namespace

double speedup_of(const EstimateRules& rules, const std::optional<MeasuredSpeedup>& measured,
                  int cards) {
  CHECK(cards >= 1, "a number of cards");
  double speedup = 0;
  if (measured) {
    // The power law through the one point that is known.
    const double exponent = std::log(measured->speedup) / std::log(measured->cards);
    speedup = std::pow(cards, exponent);
  } else {
    speedup = ruled_speedup(rules, cards);
  }
  return std::clamp(speedup, 1.0, static_cast<double>(cards));
}

Status check(const MeasuredSpeedup& measured) {
  if (measured.cards < 2 || measured.cards > kCardsMax) {
    return invalid("speedup_cards", text("speedup_cards must be 2 to {}",
                                         "speedup_cards 必须在 2 到 {} 之间", kCardsMax));
  }
  if (measured.speedup >= 1 && measured.speedup <= measured.cards) return {};
  return invalid(
      "speedup",
      text("a speed-up on {} cards lies between 1 and {}", "{} 张卡的加速比在 1 到 {} 之间",
           measured.cards, measured.cards),
      Text{"divide the time on one card by the time on all of them", "用单卡耗时除以多卡耗时"});
}

Status check(const TrainingRequest& request) {
  const auto positive = [](const char* field, double value, double highest) -> Status {
    if (value > 0 && value <= highest) return {};
    return invalid(field, text("{} must be above 0 and at most {}", "{} 必须大于 0 且不超过 {}",
                               field, highest));
  };
  TRY(positive("step_seconds", request.step_seconds, kStepSecondsMax));
  if (request.steps) {
    TRY(positive("steps", static_cast<double>(*request.steps), kStepsMax));
  } else {
    TRY(positive("samples", request.samples, kStepsMax));
    TRY(positive("batch", request.batch, 1e9));
    TRY(positive("epochs", request.epochs, 1e6));
  }
  TRY(positive("cards", request.cards, kCardsMax));
  if (request.measured) TRY(check(*request.measured));
  if (steps_of(request) * request.step_seconds > kSecondsMax) {
    return invalid(
        "steps", Text{"this would run for more than ten years", "这样要运行十年以上"},
        Text{"look at the units: step_seconds are seconds", "请检查单位：step_seconds 为秒"});
  }
  return {};
}

Training training_of(const TrainingRequest& request, const EstimateRules& rules) {
  CHECK(check(request).has_value(), "a request that was checked");
  Training out;
  out.steps = steps_of(request);
  out.step_seconds = request.step_seconds;
  out.run_seconds = out.steps * request.step_seconds;
  out.run_seconds_low =
      request.fit ? out.steps * std::min(request.fit->median_seconds, request.step_seconds)
                  : out.run_seconds;
  out.run_seconds_high = request.fit
                             ? out.steps * std::max(request.fit->slow_seconds, request.step_seconds)
                             : out.run_seconds;
  out.one_card_seconds = out.run_seconds * speedup_of(rules, request.measured, request.cards);
  out.trial_factor = (request.known ? rules.trial_percent_known : rules.trial_percent_new) / 100.0;
  out.total_seconds = out.run_seconds * out.trial_factor;
  out.card_seconds = out.total_seconds * request.cards;
  if (!request.tuned) {
    out.tuned_seconds_low = out.run_seconds * 100 / rules.tuning_percent_max;
    out.tuned_seconds_high = out.run_seconds * 100 / rules.tuning_percent_min;
  }
  out.scaling = scaling_of(request, rules, out.one_card_seconds);
  for (const Scaling& row : out.scaling) {
    if (row.pays) out.pays_up_to_cards = row.cards;
  }
  add_formulas(request, out);
  add_advice(request, rules, out);
  out.sentence = text("{:.1f} card-hours: {:.0f} steps, {} a run, {} with trials (x {}).",
                      "{:.1f} 卡时：{:.0f} 步，单次 {}，含试错共 {}（× {}）。",
                      out.card_seconds / 3600, out.steps, hours(out.run_seconds),
                      hours(out.total_seconds), clean_number(out.trial_factor));
  return out;
}

Duration duration_of(double seconds) {
  return Duration{static_cast<int64_t>(std::llround(std::clamp(seconds, 0.0, 1e12) * 1000))};
}

}  // namespace cardhour::estimate
