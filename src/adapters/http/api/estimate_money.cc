// The estimator: time and cost.
#include <algorithm>

#include "adapters/http/api/estimates.h"
#include "domain/estimate/price.h"

namespace cardhour::http {
namespace {

using estimate::duration_of;

constexpr Duration kRunMax = days(3653);

Result<std::optional<estimate::MeasuredSpeedup>> speedup_of(const std::optional<double>& speedup,
                                                            int cards) {
  if (!speedup) return std::optional<estimate::MeasuredSpeedup>{};
  const estimate::MeasuredSpeedup measured{*speedup, cards};
  TRY(check(measured));
  return std::optional(measured);
}

// The ways to do the work go into the answer, and what they say of small and large cards.
template <class View>
void add_plans(ControlPlane& plane, const estimate::Work& work, const PriceBook& prices,
               Language language, View& to) {
  const Policy& policy = plane.deps.policy;
  const auto plans =
      estimate::plans(work, plane.deps.catalog, prices, policy.estimates, policy.currency);
  for (const estimate::Plan& plan : plans) {
    wire::PlanView view;
    view.gpu_model = plan.card->key;
    view.gpu_name = plan.card->name;
    view.cards = plan.cards;
    view.run_low_ms = duration_of(plan.seconds_low);
    view.run_ms = duration_of(plan.seconds);
    view.run_high_ms = duration_of(plan.seconds_high);
    view.card_time_ms = view.run_ms * plan.cards;
    view.rate_per_hour = plan.rate_per_hour;
    view.cost = plan.cost;
    view.meets_deadline = plan.meets_deadline;
    view.sentence = plan.sentence.in(language);
    to.plans.push_back(std::move(view));
  }
  if (const auto verdict = small_against_large(plans, policy.currency)) {
    to.advice.push_back(verdict->in(language));
  }
}

Status check_deadline(const std::optional<Duration>& deadline) {
  if (!deadline || (deadline->ms > 0 && *deadline <= kRunMax)) return {};
  return invalid("deadline_ms", Text{"deadline_ms must be above 0 and at most ten years",
                                     "deadline_ms 必须大于 0 且不超过十年"});
}

Status check_vram(int64_t vram_bytes) {
  if (vram_bytes >= 0) return {};
  return invalid("vram_bytes", Text{"vram_bytes must not be negative", "vram_bytes 不能为负数"});
}

// ---- time ----

Result<estimate::TrainingRequest> training_request_of(const wire::TimeRequest& asked) {
  if (asked.log.has_value() == asked.step_seconds.has_value()) {
    return invalid("step_seconds",
                   Text{"the length of a step is needed: step_seconds, or a log",
                        "需要单步耗时：step_seconds 或 log"},
                   Text{"run 200 steps and divide the time, or send the log of a run",
                        "运行 200 步后相除，或提交训练日志"});
  }
  estimate::TrainingRequest request;
  if (asked.log) {
    TRY_ASSIGN(const auto points, estimate::parse_training_log(*asked.log));
    request.fit = estimate::fit_steps(points);
    request.step_seconds = request.fit->mean_seconds;
  } else {
    request.step_seconds = *asked.step_seconds;
  }
  request.samples = asked.samples;
  request.batch = asked.batch;
  request.epochs = asked.epochs;
  request.steps = asked.steps;
  request.cards = asked.cards;
  request.known = asked.known;
  request.tuned = asked.tuned;
  TRY_ASSIGN(request.measured, speedup_of(asked.speedup, asked.speedup_cards));
  TRY(check(request));
  return request;
}

wire::StepFitView fit_view(const estimate::StepFit& fit, Language language) {
  return {fit.points,       fit.warmup_points, fit.median_seconds,
          fit.mean_seconds, fit.slow_seconds,  fit_sentence(fit).in(language)};
}

void render_training(const estimate::TrainingRequest& request, const estimate::Training& from,
                     Language language, wire::TimeView& to) {
  to.card_time_ms = duration_of(from.card_seconds);
  to.sentence = from.sentence.in(language);
  to.steps = from.steps;
  to.step_seconds = from.step_seconds;
  if (request.fit) to.fit = fit_view(*request.fit, language);
  to.run_low_ms = duration_of(from.run_seconds_low);
  to.run_ms = duration_of(from.run_seconds);
  to.run_high_ms = duration_of(from.run_seconds_high);
  to.trial_factor = from.trial_factor;
  to.total_ms = duration_of(from.total_seconds);
  if (from.tuned_seconds_low) to.tuned_low_ms = duration_of(*from.tuned_seconds_low);
  if (from.tuned_seconds_high) to.tuned_high_ms = duration_of(*from.tuned_seconds_high);
  for (const estimate::Scaling& row : from.scaling) {
    const Duration run = duration_of(row.run_seconds);
    to.scaling.push_back(
        {row.cards, row.speedup, run, run * row.cards, row.gain_percent, row.pays, {}});
  }
  to.pays_up_to_cards = from.pays_up_to_cards;
  to.formulas = render(from.formulas, language);
  to.advice = render(from.advice, language);
}

// Prices and plans, where it is known what the step was measured on.
Status add_prices(ControlPlane& plane, const wire::TimeRequest& asked,
                  const estimate::TrainingRequest& request, const estimate::Training& training,
                  Language language, wire::TimeView& to) {
  TRY_ASSIGN(const GpuModel* card, card_of(plane.deps.catalog, *asked.gpu_model));
  TRY_ASSIGN(const PriceBook prices, price_book(plane));
  if (const auto each = prices.per_hour(card->key, Mode::on_demand)) {
    to.cost = due(Rate{*each}, request.cards, to.total_ms);
    for (wire::ScalingView& row : to.scaling) row.cost = due(Rate{*each}, row.cards, row.run_ms);
  }
  estimate::Work work;
  work.measured_on = card;
  work.one_card_seconds = training.one_card_seconds * training.trial_factor;
  work.vram_bytes = static_cast<double>(asked.vram_bytes);
  work.deadline = asked.deadline_ms;
  work.measured = request.measured;
  add_plans(plane, work, prices, language, to);
  return {};
}

Result<Response> estimate_time(ControlPlane& plane, const Request& request) {
  TRY_ASSIGN(const auto asked, body_of<wire::TimeRequest>(request));
  TRY_ASSIGN(const auto wanted, training_request_of(asked));
  TRY(check_vram(asked.vram_bytes));
  TRY(check_deadline(asked.deadline_ms));
  const auto training = training_of(wanted, plane.deps.policy.estimates);
  wire::TimeView view;
  render_training(wanted, training, request.language, view);
  if (asked.gpu_model) TRY(add_prices(plane, asked, wanted, training, request.language, view));
  return answer(200, view);
}

// ---- cost ----

Result<Duration> run_of(const wire::CostRequest& asked) {
  const bool by_days = asked.hours_per_day > 0 || asked.days > 0;
  if (by_days == asked.run_ms.has_value()) {
    return invalid("run_ms", Text{"how long: run_ms, or hours_per_day and days",
                                  "需要时长：run_ms，或 hours_per_day 与 days"});
  }
  if (!by_days) {
    if (asked.run_ms->ms > 0 && *asked.run_ms <= kRunMax) return *asked.run_ms;
    return invalid("run_ms", Text{"run_ms must be above 0 and at most ten years",
                                  "run_ms 必须大于 0 且不超过十年"});
  }
  if (!(asked.hours_per_day > 0 && asked.hours_per_day <= 24)) {
    return invalid("hours_per_day", Text{"hours_per_day must be above 0 and at most 24",
                                         "hours_per_day 必须大于 0 且不超过 24"});
  }
  if (asked.days < 1 || days(asked.days) > kRunMax) {
    return invalid("days", Text{"days must be 1 to 3653", "days 必须在 1 到 3653 之间"});
  }
  return duration_of(asked.hours_per_day * 3600 * asked.days);
}

// The time of the work, trials included, and how many days it is spread over.
Result<estimate::Usage> usage_of(const wire::CostRequest& asked, double trial_factor) {
  TRY(check_cards(asked.cards));
  if (asked.no_gpu_ms.ms < 0 || asked.no_gpu_ms > kRunMax) {
    return invalid("no_gpu_ms",
                   Text{"no_gpu_ms must be 0 to ten years", "no_gpu_ms 必须在 0 到十年之间"});
  }
  if (asked.data_disk_bytes < 0) {
    return invalid("data_disk_bytes",
                   Text{"data_disk_bytes must not be negative", "data_disk_bytes 不能为负数"});
  }
  TRY_ASSIGN(const Duration once, run_of(asked));
  const auto tried = [&](Duration time) {
    return duration_of(static_cast<double>(time.ms) / 1000 * trial_factor);
  };
  estimate::Usage usage;
  usage.run = tried(once);
  usage.span = asked.days > 0 ? tried(days(asked.days)) : usage.run;
  usage.no_gpu = asked.no_gpu_ms;
  usage.cards = asked.cards;
  return usage;
}

wire::CostRowView row_view(const estimate::CostRow& row, int cards, Language language) {
  wire::CostRowView view;
  view.gpu_model = row.card->key;
  view.gpu_name = row.card->name;
  view.cards = cards;
  view.mode = row.mode;
  view.for_sale = estimate::for_sale(row.mode);
  view.packages = row.packages;
  view.rate_per_hour = row.rate_per_hour;
  view.cards_cost = row.cards_cost;
  view.no_gpu_cost = row.no_gpu_cost;
  view.total = row.total;
  view.saves_percent = row.saves_percent;
  view.sentence = row.sentence.in(language);
  return view;
}

Status add_rows(ControlPlane& plane, const wire::CostRequest& asked, const PriceBook& prices,
                const estimate::Usage& usage, Language language, wire::CostView& to) {
  const Policy& policy = plane.deps.policy;
  const Catalog& catalog = plane.deps.catalog;
  const GpuModel* only = nullptr;
  if (asked.gpu_model) {
    TRY_ASSIGN(only, card_of(catalog, *asked.gpu_model));
  }
  const Money no_gpu = prices.per_hour("", Mode::no_gpu).value_or(Money{});
  for (const GpuModel& card : catalog.models()) {
    const auto each = prices.per_hour(card.key, Mode::on_demand);
    const bool wanted = only == nullptr ? card.vram_bytes >= asked.vram_bytes : only == &card;
    if (!each || !wanted) continue;
    for (const estimate::CostRow& row :
         cost_rows(card, *each, no_gpu, usage, policy.estimates, policy.currency)) {
      to.rows.push_back(row_view(row, usage.cards, language));
    }
  }
  if (to.rows.empty()) {
    return fail(ErrorCode::not_found,
                Text{"no such card is for rent here", "此处没有出租这样的显卡"},
                Text{"see `cardhour prices`, or ask for less VRAM",
                     "请看 `cardhour prices`，或减少显存要求"});
  }
  std::stable_sort(to.rows.begin(), to.rows.end(),
                   [](const auto& a, const auto& b) { return a.total < b.total; });
  return {};
}

// The same hours as work that other cards could do.
estimate::Work work_of(ControlPlane& plane, const wire::CostRequest& asked,
                       const estimate::Usage& usage,
                       const std::optional<estimate::MeasuredSpeedup>& measured) {
  const double seconds = static_cast<double>(usage.run.ms) / 1000;
  estimate::Work work;
  work.measured_on = plane.deps.catalog.by_word(*asked.gpu_model);
  work.one_card_seconds =
      seconds * estimate::speedup_of(plane.deps.policy.estimates, measured, usage.cards);
  work.vram_bytes = static_cast<double>(asked.vram_bytes);
  work.deadline = asked.deadline_ms;
  work.measured = measured;
  return work;
}

void add_packages(const EstimateRules& rules, wire::CostView& to) {
  for (const auto term :
       {estimate::PayMode::day, estimate::PayMode::week, estimate::PayMode::month}) {
    to.packages.push_back({term, term_of(term), price_percent(rules, term),
                           package_break_even(rules, term), estimate::for_sale(term)});
  }
}

Status add_checkpoint(const wire::CostRequest& asked, const EstimateRules& rules,
                      wire::CostView& to) {
  if (!asked.checkpoint_ms && !asked.interruption_ms) return {};
  const auto fits = [](const std::optional<Duration>& time) {
    return time && time->ms > 0 && *time <= kRunMax;
  };
  if (!fits(asked.checkpoint_ms) || !fits(asked.interruption_ms)) {
    return invalid(
        "checkpoint_ms",
        Text{"both are needed, above 0: checkpoint_ms (one checkpoint) and "
             "interruption_ms (between interruptions)",
             "两者都需要且大于 0：checkpoint_ms（一次保存）与 interruption_ms（两次中断之间）"});
  }
  const auto point = estimate::checkpoint_of(*asked.checkpoint_ms, *asked.interruption_ms, rules);
  to.checkpoint = wire::CheckpointView{point.interval,     point.suggested, rules.checkpoints_kept,
                                       point.lost_percent, point.formula,   estimate::kYoungSource};
  return {};
}

Result<Response> estimate_cost(ControlPlane& plane, const Request& request) {
  TRY_ASSIGN(const auto asked, body_of<wire::CostRequest>(request));
  const Policy& policy = plane.deps.policy;
  const EstimateRules& rules = policy.estimates;
  TRY(check_vram(asked.vram_bytes));
  TRY(check_deadline(asked.deadline_ms));
  TRY_ASSIGN(const auto measured, speedup_of(asked.speedup, asked.speedup_cards));
  wire::CostView view;
  if (asked.known) {
    view.trial_factor =
        (*asked.known ? rules.trial_percent_known : rules.trial_percent_new) / 100.0;
  }
  TRY_ASSIGN(const estimate::Usage usage, usage_of(asked, view.trial_factor));
  TRY_ASSIGN(const PriceBook prices, price_book(plane));
  view.run_ms = usage.run;
  view.card_time_ms = usage.run * usage.cards;
  TRY(add_rows(plane, asked, prices, usage, request.language, view));
  view.advice = render(estimate::cost_advice(rules, asked.rebuild_ms), request.language);
  if (asked.gpu_model) {
    add_plans(plane, work_of(plane, asked, usage, measured), prices, request.language, view);
  }
  add_packages(rules, view);
  TRY(add_checkpoint(asked, rules, view));
  const auto best = std::find_if(view.rows.begin(), view.rows.end(),
                                 [](const wire::CostRowView& row) { return row.for_sale; });
  CHECK(best != view.rows.end(), "on demand is always for sale");
  const auto balance = estimate::balance_of(best->total, best->rate_per_hour, rules);
  view.balance = {balance.keep, balance.first_topup_low, balance.first_topup_high};
  view.sentence = best->sentence;
  estimate::CostRow of_best;
  of_best.rate_per_hour = best->rate_per_hour;
  of_best.no_gpu_cost = best->no_gpu_cost;
  of_best.total = best->total;
  view.formulas =
      render(cost_formulas(usage, of_best, view.trial_factor, policy.currency), request.language);
  return answer(200, view);
}

}  // namespace

void add_estimate_money_endpoints(ControlPlane& plane, std::vector<Endpoint>& to) {
  to.push_back({.method = Method::post,
                .path = "/api/v1/estimates/time",
                .permission = Permission::read,
                .operation_id = "estimate_time",
                .summary = {"How long a training takes, on one card and on several",
                            "训练需要多久，单卡与多卡"},
                .handler = on(plane, estimate_time),
                .request = request_schema_of<wire::TimeRequest>,
                .response = schema_of<wire::TimeView>});
  to.push_back({.method = Method::post,
                .path = "/api/v1/estimates/cost",
                .permission = Permission::read,
                .operation_id = "estimate_cost",
                .summary = {"What the hours cost, in each mode and on each card",
                            "各计费方式、各型号显卡的费用"},
                .handler = on(plane, estimate_cost),
                .request = request_schema_of<wire::CostRequest>,
                .response = schema_of<wire::CostView>});
}

}  // namespace cardhour::http
