// Ways to do the same work: cards of one model or another, few or many.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "domain/estimate/price.h"

namespace cardhour::estimate {
namespace {

constexpr int kCounts[] = {1, 2, 4, 8};
constexpr double kSecondsMax = 1e9;  // thirty years: no plan
// What the driver takes is subtracted as in memory.h.
constexpr double kDriver = 0.5 * (1 << 30);

bool can_carry(const GpuModel& card, const Work& work) {
  if (card.fp16_tflops <= 0 || card.bandwidth_gb_per_s <= 0) return false;
  // Programs for CUDA run on CUDA cards alone.
  const bool same_kind =
      card.compute_capability.empty() == work.measured_on->compute_capability.empty();
  return same_kind && work.vram_bytes <= static_cast<double>(card.vram_bytes) - kDriver;
}

Plan plan_of(const GpuModel& card, int cards, const Work& work, Money per_hour,
             const EstimateRules& rules, const Currency& currency) {
  const Speed speed = relative_speed(card, *work.measured_on);
  const double spread = speedup_of(rules, work.measured, cards);
  Plan plan;
  plan.card = &card;
  plan.cards = cards;
  plan.seconds_low = work.one_card_seconds / spread / speed.high;
  plan.seconds = work.one_card_seconds / spread / speed.likely;
  plan.seconds_high = work.one_card_seconds / spread / speed.low;
  plan.rate_per_hour = per_hour * cards;
  plan.cost = due(Rate{per_hour}, cards, duration_of(plan.seconds));
  plan.meets_deadline = !work.deadline || duration_of(plan.seconds) <= *work.deadline;
  const std::string cost = format(currency, plan.cost);
  plan.sentence = text("{} × {}: about {:.1f} h for {}.", "{} × {}：约 {:.1f} 小时，{}。", cards,
                       card.name, plan.seconds / 3600, cost);
  return plan;
}

// The cheapest single card of a dearer model that takes at most a tenth longer; null when none.
const Plan* rival_of(const Plan& several, const std::vector<Plan>& plans) {
  const Plan* best = nullptr;
  for (const Plan& plan : plans) {
    const bool dearer = plan.rate_per_hour * several.cards > several.rate_per_hour;
    if (plan.cards != 1 || !dearer || plan.seconds > several.seconds * 1.1) continue;
    if (best == nullptr || plan.cost < best->cost) best = &plan;
  }
  return best;
}

}  // namespace

Speed relative_speed(const GpuModel& card, const GpuModel& measured_on) {
  const double compute = card.fp16_tflops / measured_on.fp16_tflops;
  const double bandwidth = card.bandwidth_gb_per_s / measured_on.bandwidth_gb_per_s;
  return {std::min(compute, bandwidth), std::sqrt(compute * bandwidth),
          std::max(compute, bandwidth)};
}

std::vector<Plan> plans(const Work& work, const Catalog& catalog, const PriceBook& prices,
                        const EstimateRules& rules, const Currency& currency) {
  CHECK(work.measured_on != nullptr && work.one_card_seconds > 0, "work that was measured");
  std::vector<Plan> out;
  for (const GpuModel& card : catalog.models()) {
    const auto per_hour = prices.per_hour(card.key, Mode::on_demand);
    if (!per_hour || !can_carry(card, work)) continue;
    const double alone = work.one_card_seconds / relative_speed(card, *work.measured_on).likely;
    if (alone > kSecondsMax) continue;
    for (const int cards : kCounts) {
      out.push_back(plan_of(card, cards, work, *per_hour, rules, currency));
    }
  }
  std::stable_sort(out.begin(), out.end(), [](const Plan& a, const Plan& b) {
    if (a.meets_deadline != b.meets_deadline) return a.meets_deadline;
    // When no plan is in time, the fastest comes first.
    return a.meets_deadline ? a.cost < b.cost : a.seconds < b.seconds;
  });
  return out;
}

std::optional<Text> small_against_large(const std::vector<Plan>& plans, const Currency& currency) {
  const Plan* several = nullptr;  // the cheapest of more than one card ...
  const Plan* one = nullptr;      // ... that one dearer card is about as fast as
  for (const Plan& plan : plans) {
    if (plan.cards == 1 || (several != nullptr && several->cost <= plan.cost)) continue;
    const Plan* rival = rival_of(plan, plans);
    if (rival == nullptr) continue;
    several = &plan;
    one = rival;
  }
  if (several == nullptr) return std::nullopt;
  const std::string many_cost = format(currency, several->cost);
  const std::string one_cost = format(currency, one->cost);
  const bool large_wins = one->cost <= several->cost;
  return text(
      large_wins ? "One large card against several: 1 × {2} takes {3:.1f} h for {5}, {0} × {1} "
                   "takes {4:.1f} h "
                   "for {6}: take the one, there is nothing to split."
                 : "Several cards against a large one: {0} × {1} takes {4:.1f} h for {6}, 1 × {2} "
                   "takes {3:.1f} "
                   "h for {5}: take the several, if the work can be split.",
      large_wins
          ? "一张大卡对多张小卡：1 × {2} 用 {3:.1f} 小时、{5}；{0} × {1} 用 {4:.1f} 小时、{6}："
            "选大卡，无需拆分。"
          : "多张小卡对一张大卡：{0} × {1} 用 {4:.1f} 小时、{6}；1 × {2} 用 {3:.1f} 小时、{5}："
            "若任务可拆分，选多张小卡。",
      several->cards, several->card->name, one->card->name, one->seconds / 3600,
      several->seconds / 3600, one_cost, many_cost);
}

}  // namespace cardhour::estimate
