// What the hours cost: on demand, in packages and by spot, over the cards of the catalog; which
// plan is the cheapest that meets a deadline; how often to save; whether to own. Money is whole
// micro-units throughout; hours become milliseconds before they meet a price. Pure.
#pragma once

#include <boost/describe/enum.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/money.h"
#include "base/time.h"
#include "domain/catalog.h"
#include "domain/estimate/rules.h"
#include "domain/estimate/training.h"
#include "domain/pricing.h"

namespace cardhour::estimate {

enum class PayMode { on_demand, spot, day, week, month };
BOOST_DESCRIBE_ENUM(PayMode, on_demand, spot, day, week, month)
Text pay_mode_text(PayMode mode);

// ---- packages ----

// A fixed number of hours: day 24, week 168, month 720.
Duration term_of(PayMode package);
int price_percent(const EstimateRules& rules, PayMode package);
// The price of one package for one card.
Money package_price(const EstimateRules& rules, Money on_demand_per_hour, PayMode package);
// Running longer than this within the term, the package is cheaper.
Duration package_break_even(const EstimateRules& rules, PayMode package);

// ---- the cost of hours ----

struct Usage {
  Duration run;   // cards on, trials included
  Duration span;  // from first to last day, what a package must cover; at least `run`
  Duration no_gpu;
  int cards = 1;
};
struct CostRow {
  const GpuModel* card = nullptr;
  PayMode mode = PayMode::on_demand;
  int packages = 0;
  Money rate_per_hour;  // of all cards
  Money cards_cost;
  Money no_gpu_cost;
  Money total;
  int saves_percent = 0;
  Text sentence;
};
// All modes for one model, cheapest first.
std::vector<CostRow> cost_rows(const GpuModel& card, Money on_demand_per_hour,
                               Money no_gpu_per_hour, const Usage& usage,
                               const EstimateRules& rules, const Currency& currency);
// How the on-demand row came about.
std::vector<Formula> cost_formulas(const Usage& usage, const CostRow& row, double trial_factor,
                                   const Currency& currency);
// Of these modes, the ones that can be bought today. Packages and spot are not sold yet.
bool for_sale(PayMode mode);

// What to know beside the sums. `rebuild`: how long the environment takes to set up.
std::vector<Text> cost_advice(const EstimateRules& rules, const std::optional<Duration>& rebuild);

struct Balance {
  Money keep;
  Money first_topup_low;
  Money first_topup_high;
};
Balance balance_of(Money expected, Money rate_per_hour, const EstimateRules& rules);

// ---- plans ----

// Work as it was measured: so long on one card of a model, trials included.
struct Work {
  const GpuModel* measured_on = nullptr;
  double one_card_seconds = 0;
  double vram_bytes = 0;  // that one card needs; 0: any will do
  std::optional<Duration> deadline;
  std::optional<MeasuredSpeedup> measured;
};
struct Plan {
  const GpuModel* card = nullptr;
  int cards = 1;
  double seconds_low = 0;
  double seconds = 0;
  double seconds_high = 0;
  Money rate_per_hour;
  Money cost;
  bool meets_deadline = true;
  Text sentence;
};
// How many times the measured card another one is: compute and bandwidth are the ends, their
// geometric mean the likely value.
struct Speed {
  double low = 1;
  double likely = 1;
  double high = 1;
};
Speed relative_speed(const GpuModel& card, const GpuModel& measured_on);
// 1, 2, 4 and 8 cards of every model that is for rent and large enough: those that meet the
// deadline first, then by cost.
std::vector<Plan> plans(const Work& work, const Catalog& catalog, const PriceBook& prices,
                        const EstimateRules& rules, const Currency& currency);
// Several small cards against one large one, from the plans; nothing when there is no choice.
std::optional<Text> small_against_large(const std::vector<Plan>& plans, const Currency& currency);

// ---- checkpoints ----

struct Checkpoint {
  Duration interval;   // Young 1974: sqrt(2 x time of one checkpoint x time between failures)
  Duration suggested;  // the same, within the rules' 15 to 30 minutes
  int lost_percent = 0;
  std::string formula;
};
Checkpoint checkpoint_of(Duration one_checkpoint, Duration between_interruptions,
                         const EstimateRules& rules);
inline constexpr const char* kYoungSource =
    "J. W. Young, A first order approximation to the optimum checkpoint interval, Communications "
    "of the ACM 17(9), 1974, 530-531";

// ---- own or rent ----

enum class OwnAdvice { rent, reserve, own, private_deployment };
BOOST_DESCRIBE_ENUM(OwnAdvice, rent, reserve, own, private_deployment)

struct OwnRequest {
  Money rent_per_hour;  // of all cards
  double hours_per_month = 0;
  Money machine_price;
  int machine_watts = 0;
  Money price_per_kwh;
  int value_lost_percent = 0;  // in a year
  Money upkeep_per_month;
  int months = 12;
  bool steady = false;
  bool data_must_stay = false;
};
Status check(const OwnRequest& request);

struct OwnPoint {
  double hours = 0;
  Money own_per_month;
  Money rent_per_month;
  std::optional<Money> own_per_hour;
};
struct Own {
  OwnAdvice advice = OwnAdvice::rent;
  Text sentence;
  std::vector<Text> reasons;
  OwnPoint at;  // the hours asked for
  Money value_lost_per_month;
  Money power_per_hour;
  double energy_kwh_per_month = 0;
  std::optional<double> break_even_hours;
  std::vector<OwnPoint> curve;
  std::vector<Formula> formulas;
};
Own own_or_rent(const OwnRequest& request, const EstimateRules& rules, const Currency& currency);

}  // namespace cardhour::estimate
