// How long a training takes: from the length of a step, or from the log of a run, over one or
// more cards. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "domain/estimate/rules.h"

namespace cardhour::estimate {

// ---- a log ----

// A moment of a run: so many steps done after so many seconds.
struct StepPoint {
  double step = 0;
  double seconds = 0;
};
// Reads what trainers write: "STEP SECONDS" (or with a comma), JSON lines with a step and a
// time, tqdm's bars, and free text with "step N" and "0.9 s/step", "1.1 it/s" or "900 ms/step".
// Other lines are passed over. invalid_argument says what was expected when fewer than three
// points remain.
Result<std::vector<StepPoint>> parse_training_log(std::string_view text);

struct StepFit {
  int points = 0;
  int warmup_points = 0;  // dropped: slower than the steady state, at the beginning
  double median_seconds = 0;
  double mean_seconds = 0;  // pauses for checkpoints and evaluation included
  double slow_seconds = 0;  // nine of ten are faster
};
// Requires what parse_training_log returns: at least three points, steps and seconds rising.
StepFit fit_steps(const std::vector<StepPoint>& points);
Text fit_sentence(const StepFit& fit);

// ---- more cards ----

// What was measured on several cards; without it the rules hold.
struct MeasuredSpeedup {
  double speedup = 0;
  int cards = 0;
};
Status check(const MeasuredSpeedup& measured);
// How many times one card n cards are. At least 1, at most n, never falling with n.
double speedup_of(const EstimateRules& rules, const std::optional<MeasuredSpeedup>& measured,
                  int cards);

struct Scaling {
  int cards = 1;
  double speedup = 1;
  double run_seconds = 0;
  int gain_percent = 100;  // of a whole card, that each card added last brought
  bool pays = true;
};

// ---- the answer ----

struct TrainingRequest {
  double step_seconds = 0;
  std::optional<StepFit> fit;
  double samples = 0;
  int batch = 1;
  double epochs = 1;
  std::optional<int64_t> steps;
  int cards = 1;
  bool known = false;
  bool tuned = false;
  std::optional<MeasuredSpeedup> measured;
};
Status check(const TrainingRequest& request);

struct Formula {
  Text name;
  std::string formula;
};

struct Training {
  double steps = 0;
  double step_seconds = 0;
  double run_seconds_low = 0;  // one run
  double run_seconds = 0;
  double run_seconds_high = 0;
  double one_card_seconds = 0;  // the same run on one card
  double trial_factor = 1;
  double total_seconds = 0;
  double card_seconds = 0;  // total over all cards
  std::optional<double> tuned_seconds_low;
  std::optional<double> tuned_seconds_high;
  std::vector<Scaling> scaling;  // 1, 2, 4, 8 cards
  int pays_up_to_cards = 1;
  std::vector<Formula> formulas;
  std::vector<Text> advice;
  Text sentence;
};
Training training_of(const TrainingRequest& request, const EstimateRules& rules);

// Whole milliseconds of seconds.
Duration duration_of(double seconds);

}  // namespace cardhour::estimate
