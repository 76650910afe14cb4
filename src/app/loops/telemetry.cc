#include "app/loops/telemetry.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "app/events.h"
#include "app/runs.h"
#include "base/enum_text.h"

namespace cardhour {
namespace {

const std::string kActor = "system:telemetry";

float number(const std::optional<int64_t>& value, double unit = 1) {
  return value ? static_cast<float>(static_cast<double>(*value) / unit) : std::nanf("");
}

// What a counter grew by, per second; unknown when either is, or when it began anew.
float rate(const std::optional<int64_t>& now, const std::optional<int64_t>& before,
           Duration between, double unit = 1) {
  if (!now || !before || *now < *before || between.ms <= 0) return std::nanf("");
  return static_cast<float>(static_cast<double>(*now - *before) * unit * 1000.0 /
                            static_cast<double>(between.ms));
}

SeriesRow card_row(const CardReading& r, const CardReading* before, Duration between) {
  static const CardReading kNone;
  if (before == nullptr) before = &kNone;
  constexpr double kMilli = 1000;
  constexpr double kKib = 1024;
  float throttled = std::nanf("");
  if (r.throttle_reasons) throttled = (*r.throttle_reasons & throttle::kTrouble) != 0 ? 100 : 0;
  return {number(r.gpu_percent),
          number(r.gpu_percent),
          number(r.memory_percent),
          number(r.memory_used_bytes),
          number(r.power_milliwatts, kMilli),
          number(r.temperature_celsius),
          number(r.sm_clock_mhz),
          number(r.memory_clock_mhz),
          throttled,
          number(r.pcie_sent_bytes_per_second),
          number(r.pcie_received_bytes_per_second),
          rate(r.nvlink_sent_kib, before->nvlink_sent_kib, between, kKib),
          rate(r.nvlink_received_kib, before->nvlink_received_kib, between, kKib),
          number(r.ecc_corrected),
          number(r.ecc_uncorrected)};
}

float percent_of(float milliseconds_per_second, int millicores) {
  return millicores > 0 ? milliseconds_per_second * 100.0F / static_cast<float>(millicores)
                        : std::nanf("");
}

// The part of an instance's row that its cards tell.
void add_cards(SeriesRow& row, const std::vector<const CardSample*>& cards) {
  const auto put = [&](std::string_view name, double value) {
    row[column_of(SeriesKind::instance, name)] = static_cast<float>(value);
  };
  double load = 0;
  double memory = 0;
  double power = 0;
  double processes = 0;
  double highest = 0;
  double lowest = 100;
  for (const CardSample* card : cards) {
    const double percent = number(card->reading.gpu_percent);  // one unknown makes all unknown
    load += percent / static_cast<double>(cards.size());
    highest = std::isnan(percent) ? percent : std::max(highest, percent);
    lowest = std::isnan(percent) ? percent : std::min(lowest, percent);
    memory += number(card->reading.memory_used_bytes);
    power += number(card->reading.power_milliwatts, 1000);
    processes += static_cast<double>(card->processes.size());
  }
  if (std::isnan(load)) highest = lowest = load;
  put("gpu_percent", load);
  put("gpu_percent_highest", highest);
  put("gpu_percent_lowest", lowest);
  put("gpu_memory_used_bytes", memory);
  put("gpu_power_watts", power);
  put("gpu_processes", processes);
}

const CardSample* sample_of(const GpuSample& sample, const CardId& card) {
  const auto found = std::ranges::find(sample.cards, card.text, &CardSample::uuid);
  return found == sample.cards.end() ? nullptr : &*found;
}

Event card_event(const Card& card, Timestamp now, const std::string& kind,
                 const std::string& reason, const std::string& detail = {}) {
  return Event{
      0,    now,    std::nullopt, std::nullopt,
      kind, kActor, reason,       "card=" + card.uuid.text + (detail.empty() ? "" : " " + detail)};
}

}  // namespace

Status end_run_on_card(Tx& tx, const Deps& deps, const CardId& card, const std::string& reason,
                       const std::string& actor, Timestamp end_of_billing, Timestamp now) {
  TRY_ASSIGN(const auto allocations, tx.hosts().active_allocations());
  const auto held = std::ranges::find(allocations, card, &Allocation::card_uuid);
  if (held == allocations.end()) return {};
  TRY_ASSIGN(auto instance, tx.instances().find(held->instance_id));
  if (!instance || instance->observed != Observed::running) return {};
  const ConditionText meaning = condition_text(reason);
  set_fault(*instance, "card_fault",
            Text{"a card of this instance failed: " + meaning.what.en,
                 "该实例的一张显卡发生故障：" + meaning.what.zh},
            Text{"it was charged to the last moment at which the card was well; start it again, "
                 "and it gets another card",
                 "仅计费至显卡最后一次正常的时刻；请重新开机，系统会分配其他显卡"});
  return order_stop(tx, deps, *instance,
                    StopOrder{LifecycleEvent::stop, Desired::stopped, Cause::card_fault,
                              std::min(end_of_billing, now), actor, "card=" + card.text},
                    now);
}

void TelemetryLoop::look_at_cards(GpuLook& look) {
  const auto before = watch_.latest();
  auto sample = deps_.probe.sample();
  look.at = deps_.clock.now();
  if (sample) {
    look.sample = std::move(*sample);
    look.sampled_at = look.at;
    return;
  }
  look.sample = before->sample;
  look.sample.xids.clear();
  look.sampled_at = before->sampled_at;
  look.failure = sample.error();
  look.silent_since = before->silent_since.value_or(look.at);
}

void TelemetryLoop::track(const GpuLook& look, const InventoryRows& rows) {
  for (const XidReport& xid : look.sample.xids) {
    tracks_[CardId{xid.uuid}].xids.push_back(xid.code);
  }
  if (look.failure) return;
  std::set<CardId> rented;
  for (const Allocation& allocation : rows.allocations) rented.insert(allocation.card_uuid);
  for (const Card& card : rows.cards) {
    Track& track = tracks_[card.uuid];
    const CardSample* seen = sample_of(look.sample, card.uuid);
    // One that nobody rents may be taken out of the machine.
    const bool is_bad = seen != nullptr ? !seen->fault.empty() : rented.contains(card.uuid);
    track.faults_in_a_row = is_bad ? track.faults_in_a_row + 1 : 0;
  }
}

std::vector<TelemetryLoop::Finding> TelemetryLoop::weigh(
    const GpuLook& look, const InventoryRows& rows, const std::vector<CardCondition>& conditions) {
  std::set<CardId> rented;
  for (const Allocation& allocation : rows.allocations) rented.insert(allocation.card_uuid);
  const bool was_silent_long =
      look.silent_since && look.at - *look.silent_since >= deps_.policy.host_silent_after;
  std::vector<Finding> findings;
  for (const Card& card : rows.cards) {
    Track& track = tracks_[card.uuid];
    Finding finding{card, {}, std::nullopt, std::nullopt};
    for (const CardCondition& condition : conditions) {
      if (condition.card_uuid != card.uuid) continue;
      if (condition.kind == ConditionKind::quarantine) finding.quarantine = condition;
      if (condition.kind == ConditionKind::unfit) finding.unfit = condition;
    }
    CardLook facts;
    facts.sample = look.failure ? nullptr : sample_of(look.sample, card.uuid);
    facts.before = track.was_seen ? &track.before : nullptr;
    facts.driver_answers = !look.failure;
    facts.is_rented = rented.contains(card.uuid);
    facts.faults_in_a_row = track.faults_in_a_row;
    facts.xids = track.xids;
    facts.empty_card_bytes = deps_.policy.empty_card_bytes;
    finding.verdict = judge(facts);
    // Reported while the run was only starting: nobody ended it then.
    const bool was_fatal = finding.quarantine && finding.quarantine->actor == kActor &&
                           is_fatal(finding.quarantine->reason);
    if (was_fatal && facts.is_rented && facts.driver_answers) finding.verdict.ends_run = true;
    // A moment without an answer changes nothing.
    if (look.failure && !was_silent_long) {
      finding.verdict.unfit = finding.unfit ? finding.unfit->reason : "";
    }
    if (facts.sample != nullptr && !finding.verdict.ends_run) {
      track.before = *facts.sample;
      track.was_seen = true;
      track.last_well = look.at;
    }
    findings.push_back(std::move(finding));
  }
  return findings;
}

bool TelemetryLoop::is_news(const Finding& finding) const {
  const auto found = tracks_.find(finding.card.uuid);
  const bool has_xids = found != tracks_.end() && !found->second.xids.empty();
  const std::string unfit = finding.unfit ? finding.unfit->reason : "";
  return has_xids || finding.verdict.ends_run || finding.verdict.unfit != unfit ||
         (!finding.verdict.quarantine.empty() && !finding.quarantine);
}

Status TelemetryLoop::note_xids(Tx& tx, const Card& card, Timestamp now) {
  for (const int64_t code : tracks_[card.uuid].xids) {
    TRY(tx.card_health().count_xid(card.uuid, code, now));
    TRY(tx.events().append(card_event(card, now, "card.xid", "xid_" + std::to_string(code))));
  }
  return {};
}

Status TelemetryLoop::end_run_on(Tx& tx, const Finding& finding, Timestamp now) {
  const Timestamp end = tracks_[finding.card.uuid].last_well.value_or(now);
  const std::string& reason = finding.verdict.quarantine;
  return end_run_on_card(tx, deps_, finding.card.uuid,
                         reason.empty() && finding.quarantine ? finding.quarantine->reason : reason,
                         kActor, end, now);
}

Status TelemetryLoop::note(Tx& tx, const Finding& finding, const GpuLook& look) {
  const Timestamp now = look.at;
  TRY(note_xids(tx, finding.card, now));
  const CardVerdict& verdict = finding.verdict;
  if (!verdict.quarantine.empty() && !finding.quarantine) {
    TRY(tx.card_health().set_condition(
        {finding.card.uuid, ConditionKind::quarantine, verdict.quarantine, "", kActor, now}));
    TRY(tx.events().append(card_event(finding.card, now, "card.quarantined", verdict.quarantine)));
  }
  const std::string unfit = finding.unfit ? finding.unfit->reason : "";
  if (verdict.unfit.empty() && !unfit.empty()) {
    TRY_ASSIGN([[maybe_unused]] const bool was,
               tx.card_health().delete_condition(finding.card.uuid, ConditionKind::unfit));
    TRY(tx.events().append(card_event(finding.card, now, "card.fit", unfit)));
  } else if (verdict.unfit != unfit) {
    TRY(tx.card_health().set_condition(
        {finding.card.uuid, ConditionKind::unfit, verdict.unfit, "", kActor, now}));
    TRY(tx.events().append(card_event(finding.card, now, "card.unfit", verdict.unfit)));
  }
  return verdict.ends_run ? end_run_on(tx, finding, now) : Status();
}

Status TelemetryLoop::note_driver(const GpuLook& look) {
  const bool is_silent =
      look.silent_since && look.at - *look.silent_since >= deps_.policy.host_silent_after;
  if (is_silent == told_of_silence_) return {};
  TRY(deps_.store.write([&](Tx& tx) {
    return tx.events().append(Event{0, look.at, std::nullopt, std::nullopt,
                                    is_silent ? "driver.silent" : "driver.answers", kActor,
                                    is_silent ? look.failure->what.en : "", ""});
  }));
  told_of_silence_ = is_silent;
  deps_.changed();
  return {};
}

void TelemetryLoop::measure_cards(GpuLook& look, const InventoryRows& rows) {
  if (look.failure) return;  // no news is a gap
  const Duration between = sampled_before_ ? look.at - *sampled_before_ : Duration{};
  std::map<CardId, CardReading> readings;
  for (const Card& card : rows.cards) {
    const CardSample* sample = sample_of(look.sample, card.uuid);
    if (sample == nullptr) continue;
    const auto before = readings_before_.find(card.uuid);
    look.rows[{SeriesKind::card, card.uuid.text}] = card_row(
        sample->reading, before == readings_before_.end() ? nullptr : &before->second, between);
    readings[card.uuid] = sample->reading;
  }
  readings_before_ = std::move(readings);
  sampled_before_ = look.at;
}

Status TelemetryLoop::measure_instances(GpuLook& look, const InventoryRows& rows) {
  const auto usage = deps_.engine.usage();
  const Timestamp now = deps_.clock.now();
  const Duration between = usage_at_ ? now - *usage_at_ : Duration{};
  std::map<InstanceId, EngineUsage> usage_now;
  if (usage) {
    for (const EngineUsage& one : *usage) usage_now[one.id] = one;
  }
  for (const Instance& instance : rows.instances) {
    if (instance.observed != Observed::running) continue;
    SeriesRow row = unknown_row();
    const auto put = [&](std::string_view name, float value) {
      row[column_of(SeriesKind::instance, name)] = value;
    };
    if (const auto u = usage_now.find(instance.id); u != usage_now.end()) {
      static const EngineUsage kNone;
      const auto old = usage_before_.find(instance.id);
      const EngineUsage& b = old == usage_before_.end() ? kNone : old->second;
      const EngineUsage& n = u->second;
      const float cpu = percent_of(rate(n.cpu_ms, b.cpu_ms, between), instance.millicores);
      put("cpu_percent", cpu);
      put("cpu_percent_highest", cpu);
      put("memory_used_bytes", number(n.memory_used_bytes));
      put("disk_read_bytes_per_second", rate(n.disk_read_bytes, b.disk_read_bytes, between));
      put("disk_written_bytes_per_second",
          rate(n.disk_written_bytes, b.disk_written_bytes, between));
      put("network_received_bytes_per_second",
          rate(n.network_received_bytes, b.network_received_bytes, between));
      put("network_sent_bytes_per_second",
          rate(n.network_sent_bytes, b.network_sent_bytes, between));
      put("processes", number(n.processes));
      put("sessions", number(n.sessions));
    }
    std::vector<const CardSample*> cards;
    bool all_known = !look.failure;
    for (const Allocation& allocation : rows.allocations) {
      if (allocation.instance_id != instance.id) continue;
      const CardSample* sample = sample_of(look.sample, allocation.card_uuid);
      all_known = all_known && sample != nullptr;
      if (sample != nullptr) cards.push_back(sample);
    }
    if (all_known && !cards.empty()) add_cards(row, cards);
    look.rows[{SeriesKind::instance, instance.id.text}] = row;
  }
  usage_before_ = std::move(usage_now);
  usage_at_ = now;
  return usage ? Status() : Status(fail(usage.error()));
}

Status TelemetryLoop::keep(const GpuLook& look) {
  if (deps_.series == nullptr) return {};
  Status first;
  for (const auto& [id, row] : look.rows) {
    const Status kept = deps_.series->append(id, look.at, row);
    if (!kept && first) first = kept;
  }
  return first;
}

Status TelemetryLoop::tidy() {
  if (deps_.series == nullptr) return {};
  TRY_ASSIGN(const auto kept, deps_.series->list(SeriesKind::instance));
  for (const std::string& name : kept) {
    bool is_alive = false;
    TRY(deps_.store.read([&](Tx& tx) -> Status {
      TRY_ASSIGN(const auto instance, tx.instances().find(InstanceId{name}));
      is_alive = instance && instance->observed != Observed::purged;
      return {};
    }));
    if (!is_alive) TRY(deps_.series->remove({SeriesKind::instance, name}));
  }
  return {};
}

Status TelemetryLoop::pass() {
  GpuLook look;
  look_at_cards(look);
  InventoryRows rows;
  std::vector<CardCondition> conditions;
  const Status loaded = deps_.store.read([&](Tx& tx) -> Status {
    TRY_ASSIGN(rows, load_inventory(tx));
    TRY_ASSIGN(conditions, tx.card_health().conditions());
    return {};
  });
  track(look, rows);
  if (!loaded) return loaded;
  measure_cards(look, rows);
  // The cards' part is on its way before the engine is asked, which may take its time; what is
  // known of instances stays as it was until then.
  GpuLook first_part = look;
  const auto before = watch_.latest();
  first_part.rows.insert(before->rows.begin(), before->rows.end());
  watch_.put(std::move(first_part));

  std::vector<Finding> news;
  for (Finding& finding : weigh(look, rows, conditions)) {
    if (is_news(finding)) news.push_back(std::move(finding));
  }
  if (!news.empty()) {
    TRY(deps_.store.write([&](Tx& tx) -> Status {
      for (const Finding& finding : news) TRY(note(tx, finding, look));
      return {};
    }));
    for (const Finding& finding : news) tracks_[finding.card.uuid].xids.clear();
    deps_.changed();
  }
  TRY(note_driver(look));
  const Status measured = measure_instances(look, rows);
  watch_.put(look);
  TRY(keep(look));
  if (look.failure) return fail(*look.failure);
  return measured;
}

}  // namespace cardhour
