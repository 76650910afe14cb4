// The API of the estimator: POST /api/v1/estimates/{vram,time,throughput,cost,own,cards} and
// GET /api/v1/estimates/presets. Conventions as in wire/wire.h. Nothing is stored and nothing
// is charged. Every answer stands alone: the sums, their parts with the formula and its
// numbers, and sentences in the reader's language (Accept-Language).
// Counts that no integer needs to hold exactly (parameters, steps a second) are numbers.
#pragma once

#include <boost/describe/class.hpp>
#include <boost/describe/enum.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/money.h"
#include "base/time.h"
#include "domain/estimate/cards.h"
#include "domain/estimate/memory.h"
#include "domain/estimate/model.h"
#include "domain/estimate/price.h"
#include "wire/wire.h"

namespace cardhour::wire {

// ---- models ----

// The architecture of a model, as its config.json has it. What is 0 is derived: params from the
// rest, kv_heads from heads, head_dim from hidden / heads. `params` alone gives a decoder as
// they are usually built.
struct ModelShapeRequest {
  static constexpr bool kAllOptional = true;

  std::string name;
  estimate::ModelKind kind = estimate::ModelKind::language;
  double params = 0;
  double active_params = 0;
  int layers = 0;
  int hidden = 0;
  int heads = 0;
  int kv_heads = 0;
  int head_dim = 0;
  int ffn = 0;
  int vocab = 0;
  int experts = 0;
  int experts_active = 0;
  bool tied = false;
  double kv_values_per_layer = 0;
  double encoder_params = 0;  // of diffusion models: text encoders
  double vae_params = 0;
  int image_side = 0;
};
BOOST_DESCRIBE_STRUCT(ModelShapeRequest, (),
                      (name, kind, params, active_params, layers, hidden, heads, kv_heads, head_dim,
                       ffn, vocab, experts, experts_active, tied, kv_values_per_layer,
                       encoder_params, vae_params, image_side))

// A model: one of `preset` (a key of /estimates/presets), `params` ("7B") or `shape`.
struct ModelRequest {
  static constexpr bool kAllOptional = true;

  std::optional<std::string> preset;
  std::optional<std::string> params;
  std::optional<ModelShapeRequest> shape;
};
BOOST_DESCRIBE_STRUCT(ModelRequest, (), (preset, params, shape))

// A preset, and the model that an estimate was made for. `key` and `source` are empty there
// unless it was a preset.
struct ModelView {
  std::string key;   // "llama-3.1-8b"
  std::string name;  // "Llama 3.1 8B"
  estimate::ModelKind kind = estimate::ModelKind::language;
  double params = 0;
  double active_params = 0;  // that one token passes
  int layers = 0;
  int hidden = 0;
  int heads = 0;
  int kv_heads = 0;
  int head_dim = 0;
  int vocab = 0;
  int experts = 0;
  int64_t kv_bytes_per_token = 0;  // at 16 bit
  int image_side = 0;
  std::string source;
};
BOOST_DESCRIBE_STRUCT(ModelView, (),
                      (key, name, kind, params, active_params, layers, hidden, heads, kv_heads,
                       head_dim, vocab, experts, kv_bytes_per_token, image_side, source))

// ---- shared ----

struct SizeRangeView {
  int64_t low_bytes = 0;
  int64_t likely_bytes = 0;
  int64_t high_bytes = 0;
};
BOOST_DESCRIBE_STRUCT(SizeRangeView, (), (low_bytes, likely_bytes, high_bytes))

// How a number came about: "steps", "50000 / 8 × 3 = 18750".
struct FormulaView {
  std::string name;
  std::string formula;
};
BOOST_DESCRIBE_STRUCT(FormulaView, (), (name, formula))

// ---- VRAM ----

// Another model that the same card serves.
struct ServedModelRequest {
  static constexpr bool kAllOptional = true;

  ModelRequest model;
  estimate::Precision precision = estimate::Precision::fp16;
  estimate::Precision kv_precision = estimate::Precision::fp16;
  int context = 4096;
  int sequences = 1;
};
BOOST_DESCRIBE_STRUCT(ServedModelRequest, (), (model, precision, kv_precision, context, sequences))

// POST /api/v1/estimates/vram -> VramView
struct VramRequest {
  static constexpr bool kAllOptional = true;

  ModelRequest model;
  estimate::Workload workload = estimate::Workload::inference;
  estimate::Precision precision = estimate::Precision::fp16;
  estimate::Precision kv_precision = estimate::Precision::fp16;
  int context = 4096;  // tokens a sequence
  int sequences = 1;   // served at once; the micro-batch of one card; images at once
  estimate::Optimizer optimizer = estimate::Optimizer::adam;
  bool gradient_checkpointing = true;
  int lora_rank = 16;
  int zero_stage = 0;
  int tensor_parallel = 1;
  int cards = 1;
  int image_side = 0;  // of diffusion; 0: the model's own
  std::vector<ServedModelRequest> beside;
};
BOOST_DESCRIBE_STRUCT(VramRequest, (),
                      (model, workload, precision, kv_precision, context, sequences, optimizer,
                       gradient_checkpointing, lora_rank, zero_stage, tensor_parallel, cards,
                       image_side, beside))

struct VramPartView {
  std::string key;     // weights, kv_cache, overhead, gradients, optimizer, activations, ...
  std::string name;    // in the reader's language
  SizeRangeView size;  // on one card
  std::string formula;
};
BOOST_DESCRIBE_STRUCT(VramPartView, (), (key, name, size, formula))

// A model of the catalog, and how the workload fits. In the catalog's order.
struct VramFitView {
  std::string gpu_model;
  std::string gpu_name;
  int64_t vram_bytes = 0;
  int cards = 0;  // the fewest of 1, 2, 4, 8, 16 that carry it; 16 if not even these
  SizeRangeView per_card;
  estimate::Fit fit = estimate::Fit::no;        // on that many: comfortable, fits, tight, no
  estimate::Fit fit_alone = estimate::Fit::no;  // on one card
  int utilisation_percent = 0;                  // likely bytes of one card's VRAM
  std::optional<Money> rate_per_hour;           // of all these cards; absent: not for rent here
  std::string sentence;
};
BOOST_DESCRIBE_STRUCT(VramFitView, (),
                      (gpu_model, gpu_name, vram_bytes, cards, per_card, fit, fit_alone,
                       utilisation_percent, rate_per_hour, sentence))

// One change that brings it onto one smaller card.
struct VramChangeView {
  std::string key;        // int8, int4, half_context, qlora, adam_8bit, checkpointing, ...
  std::string gpu_model;  // the smallest card that carries it then
  SizeRangeView per_card;
  std::string sentence;
};
BOOST_DESCRIBE_STRUCT(VramChangeView, (), (key, gpu_model, per_card, sentence))

struct DiskNeedView {
  int64_t needed_bytes = 0;     // weights, and checkpoints when training
  int64_t data_disk_bytes = 0;  // 50, 100, 200 GB and more: at most 90 % full
  std::string sentence;
};
BOOST_DESCRIBE_STRUCT(DiskNeedView, (), (needed_bytes, data_disk_bytes, sentence))

struct VramView {
  ModelView model;
  std::string sentence;  // the answer in one
  std::vector<VramPartView> parts;
  SizeRangeView per_card;
  SizeRangeView all_cards;
  std::vector<VramFitView> fits;
  std::vector<VramChangeView> changes;
  DiskNeedView disk;
  std::vector<std::string> warnings;
};
BOOST_DESCRIBE_STRUCT(VramView, (),
                      (model, sentence, parts, per_card, all_cards, fits, changes, disk, warnings))

// ---- throughput of inference ----

// POST /api/v1/estimates/throughput -> ThroughputView
struct ThroughputRequest {
  static constexpr bool kAllOptional = true;

  ModelRequest model;
  estimate::Precision precision = estimate::Precision::fp16;
  estimate::Precision kv_precision = estimate::Precision::fp16;
  int context = 4096;
  int sequences = 1;
  int cards = 1;
  std::optional<std::string> gpu_model;  // absent: the whole catalog
};
BOOST_DESCRIBE_STRUCT(ThroughputRequest, (),
                      (model, precision, kv_precision, context, sequences, cards, gpu_model))

// Bounds, not forecasts: no server is faster, real ones are slower.
struct ThroughputRowView {
  std::string gpu_model;
  std::string gpu_name;
  int cards = 1;
  double decode_tokens_per_s_max = 0;  // of all sequences together
  double decode_tokens_per_s_per_sequence_max = 0;
  double prefill_tokens_per_s_max = 0;
  std::string decode_bound_by;  // bandwidth or compute
  bool fits = false;            // its memory carries it
  std::optional<Money> rate_per_hour;
  std::optional<Money> cost_per_million_tokens_min;  // of decoding, at the bound
  std::vector<FormulaView> formulas;
  std::string sentence;
};
BOOST_DESCRIBE_STRUCT(ThroughputRowView, (),
                      (gpu_model, gpu_name, cards, decode_tokens_per_s_max,
                       decode_tokens_per_s_per_sequence_max, prefill_tokens_per_s_max,
                       decode_bound_by, fits, rate_per_hour, cost_per_million_tokens_min, formulas,
                       sentence))

struct ThroughputView {
  ModelView model;
  std::string sentence;
  std::vector<ThroughputRowView> rows;
  std::vector<std::string> warnings;
};
BOOST_DESCRIBE_STRUCT(ThroughputView, (), (model, sentence, rows, warnings))

// ---- time ----

// POST /api/v1/estimates/time -> TimeView. The length of a step: `step_seconds`, or from a `log`
// (text of a training run: lines with a step and a time; see docs/estimator.md).
struct TimeRequest {
  static constexpr bool kAllOptional = true;

  std::optional<double> step_seconds;
  std::optional<std::string> log;
  double samples = 0;
  int batch = 1;  // samples a step, over all cards
  double epochs = 1;
  std::optional<int64_t> steps;          // instead of samples, batch and epochs
  int cards = 1;                         // that the step was measured on
  bool known = false;                    // such a project was done before: fewer trials
  bool tuned = false;                    // one card is already tuned
  std::optional<double> speedup;         // measured: so many times one card ...
  int speedup_cards = 2;                 // ... on so many
  std::optional<std::string> gpu_model;  // that the step was measured on: adds prices and plans
  int64_t vram_bytes = 0;                // that one card needs; 0: any will do
  std::optional<Duration> deadline_ms;
};
BOOST_DESCRIBE_STRUCT(TimeRequest, (),
                      (step_seconds, log, samples, batch, epochs, steps, cards, known, tuned,
                       speedup, speedup_cards, gpu_model, vram_bytes, deadline_ms))

// What a log says about the length of a step.
struct StepFitView {
  int points = 0;         // read
  int warmup_points = 0;  // dropped
  double median_seconds = 0;
  double mean_seconds = 0;  // of the steady state, pauses included
  double slow_seconds = 0;  // nine of ten are faster
  std::string sentence;
};
BOOST_DESCRIBE_STRUCT(StepFitView, (),
                      (points, warmup_points, median_seconds, mean_seconds, slow_seconds, sentence))

struct ScalingView {
  int cards = 1;
  double speedup = 1;
  Duration run_ms;        // one run
  Duration card_time_ms;  // time x cards
  int gain_percent = 0;   // of a whole card that each card added last brought; 100 for the first
  bool pays = true;       // each added at least half a card
  std::optional<Money> cost;  // of one run, at the price of gpu_model
};
BOOST_DESCRIBE_STRUCT(ScalingView, (),
                      (cards, speedup, run_ms, card_time_ms, gain_percent, pays, cost))

// A way to do the work: so many cards of a model. The speed of another model than the measured
// one lies between the ratio of compute and that of bandwidth.
struct PlanView {
  std::string gpu_model;
  std::string gpu_name;
  int cards = 1;
  Duration run_low_ms;  // with trials
  Duration run_ms;
  Duration run_high_ms;
  Duration card_time_ms;
  Money rate_per_hour;         // of all cards
  Money cost;                  // of run_ms
  bool meets_deadline = true;  // true as well when there is none
  std::string sentence;
};
BOOST_DESCRIBE_STRUCT(PlanView, (),
                      (gpu_model, gpu_name, cards, run_low_ms, run_ms, run_high_ms, card_time_ms,
                       rate_per_hour, cost, meets_deadline, sentence))

struct TimeView {
  Duration card_time_ms;  // of everything, trials included: the first number to look at
  std::string sentence;
  double steps = 0;
  double step_seconds = 0;
  std::optional<StepFitView> fit;
  Duration run_low_ms;  // one run
  Duration run_ms;
  Duration run_high_ms;
  double trial_factor = 1;
  Duration total_ms;                     // run_ms x trial_factor
  std::optional<Money> cost;             // of total_ms on these cards
  std::optional<Duration> tuned_low_ms;  // one run after tuning one card; absent when tuned
  std::optional<Duration> tuned_high_ms;
  std::vector<ScalingView> scaling;
  int pays_up_to_cards = 1;
  std::vector<PlanView> plans;  // cheapest first; what meets the deadline before what does not
  std::vector<FormulaView> formulas;
  std::vector<std::string> advice;
};
BOOST_DESCRIBE_STRUCT(TimeView, (),
                      (card_time_ms, sentence, steps, step_seconds, fit, run_low_ms, run_ms,
                       run_high_ms, trial_factor, total_ms, cost, tuned_low_ms, tuned_high_ms,
                       scaling, pays_up_to_cards, plans, formulas, advice))

// ---- cost ----

// POST /api/v1/estimates/cost -> CostView. How long: `run_ms`, or `hours_per_day` x `days`.
struct CostRequest {
  static constexpr bool kAllOptional = true;

  std::optional<std::string> gpu_model;  // absent: every model for rent that has vram_bytes
  int cards = 1;
  std::optional<Duration> run_ms;
  double hours_per_day = 0;
  int days = 0;
  std::optional<bool> known;  // absent: no trial factor; false 2.5, true 1.5
  Duration no_gpu_ms;         // beside it, for code and downloads
  int64_t data_disk_bytes = 0;
  int64_t vram_bytes = 0;  // that one card needs
  std::optional<Duration> deadline_ms;
  std::optional<double> speedup;
  int speedup_cards = 2;
  // For the checkpoint interval: how long one takes, and how often a run is interrupted.
  std::optional<Duration> checkpoint_ms;
  std::optional<Duration> interruption_ms;
  std::optional<Duration> rebuild_ms;  // how long it takes to set the environment up
};
BOOST_DESCRIBE_STRUCT(CostRequest, (),
                      (gpu_model, cards, run_ms, hours_per_day, days, known, no_gpu_ms,
                       data_disk_bytes, vram_bytes, deadline_ms, speedup, speedup_cards,
                       checkpoint_ms, interruption_ms, rebuild_ms))

// One way to pay for the hours.
struct CostRowView {
  std::string gpu_model;
  std::string gpu_name;
  int cards = 1;
  estimate::PayMode mode = estimate::PayMode::on_demand;
  bool for_sale = false;  // on this deployment
  int packages = 0;       // of that term
  Money rate_per_hour;    // of all cards, while it runs
  Money cards_cost;
  Money no_gpu_cost;
  Money disk_cost;
  Money total;
  int saves_percent = 0;  // against on demand; negative: dearer
  std::string sentence;
};
BOOST_DESCRIBE_STRUCT(CostRowView, (),
                      (gpu_model, gpu_name, cards, mode, for_sale, packages, rate_per_hour,
                       cards_cost, no_gpu_cost, disk_cost, total, saves_percent, sentence))

// When a package is cheaper than on demand.
struct PackageView {
  estimate::PayMode term = estimate::PayMode::day;
  Duration term_ms;
  int price_percent = 0;   // of on demand
  Duration break_even_ms;  // running longer than this within the term, it is cheaper
  bool for_sale = false;
};
BOOST_DESCRIBE_STRUCT(PackageView, (), (term, term_ms, price_percent, break_even_ms, for_sale))

struct BalanceView {
  Money keep;  // twice the expected cost
  Money first_topup_low;
  Money first_topup_high;
};
BOOST_DESCRIBE_STRUCT(BalanceView, (), (keep, first_topup_low, first_topup_high))

struct CheckpointView {
  Duration interval_ms;   // by Young's formula
  Duration suggested_ms;  // the same within 15 to 30 minutes
  int keep = 3;
  int lost_percent = 0;  // of the time, to checkpoints and repeated work
  std::string formula;
  std::string source;
};
BOOST_DESCRIBE_STRUCT(CheckpointView, (),
                      (interval_ms, suggested_ms, keep, lost_percent, formula, source))

struct CostView {
  std::string sentence;
  Duration card_time_ms;
  Duration run_ms;  // trials included
  double trial_factor = 1;
  std::vector<CostRowView> rows;  // cheapest first
  std::vector<PlanView> plans;    // as in TimeView; with a gpu_model
  std::vector<PackageView> packages;
  BalanceView balance;  // of the cheapest row that is for sale
  std::optional<CheckpointView> checkpoint;
  std::vector<FormulaView> formulas;
  std::vector<std::string> advice;
};
BOOST_DESCRIBE_STRUCT(CostView, (),
                      (sentence, card_time_ms, run_ms, trial_factor, rows, plans, packages, balance,
                       checkpoint, formulas, advice))

// ---- own or rent ----

// POST /api/v1/estimates/own -> OwnView. What is absent has the deployment's default.
struct OwnRequest {
  static constexpr bool kAllOptional = true;

  std::string gpu_model = "rtx-4090";
  int cards = 1;
  double hours_per_month = 0;  // that the cards really work
  std::optional<Money> machine_price;
  std::optional<int> machine_watts;
  std::optional<Money> price_per_kwh;
  std::optional<int> value_lost_percent;  // in a year
  Money upkeep_per_month;                 // room, network, hands
  int months = 12;                        // that it is looked at
  bool steady = false;                    // the load is the same every day
  bool data_must_stay = false;            // on one's own premises
};
BOOST_DESCRIBE_STRUCT(OwnRequest, (),
                      (gpu_model, cards, hours_per_month, machine_price, machine_watts,
                       price_per_kwh, value_lost_percent, upkeep_per_month, months, steady,
                       data_must_stay))

struct OwnPointView {
  double hours_per_month = 0;
  Money own_per_month;
  Money rent_per_month;
  std::optional<Money> own_per_hour;  // an effective hour; absent at 0 hours
};
BOOST_DESCRIBE_STRUCT(OwnPointView, (),
                      (hours_per_month, own_per_month, rent_per_month, own_per_hour))

struct OwnView {
  estimate::OwnAdvice advice = estimate::OwnAdvice::rent;
  std::string sentence;
  std::vector<std::string> reasons;
  Money rent_per_hour;  // of all cards
  Money own_per_month;  // at hours_per_month
  Money rent_per_month;
  std::optional<Money> own_per_hour;
  Money value_lost_per_month;
  Money power_per_hour;
  double energy_kwh_per_month = 0;
  std::optional<double> break_even_hours;  // a month; absent: owning never pays
  int rule_hours = 150;                    // the rule of thumb
  std::vector<OwnPointView> curve;
  std::vector<FormulaView> formulas;
};
BOOST_DESCRIBE_STRUCT(OwnView, (),
                      (advice, sentence, reasons, rent_per_hour, own_per_month, rent_per_month,
                       own_per_hour, value_lost_per_month, power_per_hour, energy_kwh_per_month,
                       break_even_hours, rule_hours, curve, formulas))

// ---- cards ----

// POST /api/v1/estimates/cards -> CardsView. Need either `need` or `vram_bytes`.
struct CardsRequest {
  static constexpr bool kAllOptional = true;

  estimate::CardTask task = estimate::CardTask::inference;
  std::optional<VramRequest> need;         // what shall run
  int64_t vram_bytes = 0;                  // or how much memory it takes on one card
  int cards = 1;                           // at most
  bool continuous = false;                 // day and night for weeks
  std::optional<Money> rate_per_hour_max;  // of all cards
};
BOOST_DESCRIBE_STRUCT(CardsRequest, (),
                      (task, need, vram_bytes, cards, continuous, rate_per_hour_max))

struct CardRankView {
  int rank = 0;  // from 1
  std::string gpu_model;
  std::string gpu_name;
  int cards = 1;
  int utilisation_percent = 0;
  estimate::Fit fit = estimate::Fit::no;
  std::optional<Money> rate_per_hour;  // of all these cards; absent: not for rent here
  std::string reason;
  std::vector<std::string> warnings;
  GpuModelView gpu;
};
BOOST_DESCRIBE_STRUCT(CardRankView, (),
                      (rank, gpu_model, gpu_name, cards, utilisation_percent, fit, rate_per_hour,
                       reason, warnings, gpu))

struct CardsView {
  std::string sentence;
  std::vector<CardRankView> rows;
};
BOOST_DESCRIBE_STRUCT(CardsView, (), (sentence, rows))

}  // namespace cardhour::wire
