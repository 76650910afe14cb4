#include "app/doctor.h"

#include "app/events.h"

namespace cardhour {
namespace {

constexpr Duration kWindow = minutes(30);
const std::string kActor = "system:doctor";

}  // namespace

Result<DiagnosisInput> Doctor::gather(const Instance& instance) {
  DiagnosisInput input;
  input.runs = instance.observed == Observed::running;
  input.wants_cards = instance.mode != Mode::no_gpu;
  input.memory_bytes = instance.memory_bytes;
  input.window = kWindow;
  const auto look = telemetry_.watch().latest();
  input.driver_answers = !look->silent_since;
  const Timestamp now = deps_.clock.now();
  // Of this run only.
  const Timestamp from = std::max(now - kWindow, instance.ready_at.value_or(now));
  const auto read = [&](SeriesKind kind, const std::string& name) {
    if (deps_.series == nullptr) return Result<std::vector<SeriesPoint>>();
    return deps_.series->read({kind, name}, 0, from, now + seconds(1));
  };
  TRY_ASSIGN(input.points, read(SeriesKind::instance, instance.id.text));
  TRY_ASSIGN(const auto cards, telemetry_.cards());
  for (const CardNow& card : cards) {
    if (card.view.instance_id != instance.id) continue;
    DiagnosedCard one;
    one.index = card.view.card.card_index;
    one.sample = card.sample.value_or(CardSample{});
    TRY_ASSIGN(one.points, read(SeriesKind::card, card.view.card.uuid.text));
    for (const CardCondition& condition : card.conditions) {
      // What an operator does with a card is no fault of it, and a silent driver is told apart.
      if (condition.reason == "operator" || condition.reason == "driver_silent") continue;
      one.conditions.push_back(condition.reason);
    }
    for (const CardXid& xid : card.xids) {
      if (instance.ready_at && xid.last_at >= *instance.ready_at) one.xids.push_back(xid);
    }
    input.cards.push_back(std::move(one));
  }
  return input;
}

Result<std::vector<Finding>> Doctor::examine(const Instance& instance) {
  TRY_ASSIGN(const DiagnosisInput input, gather(instance));
  return diagnose(input);
}

Status Doctor::pass() {
  std::vector<Instance> alive;
  TRY(deps_.store.read([&](Tx& tx) -> Status {
    TRY_ASSIGN(alive, tx.instances().alive());
    return {};
  }));
  std::set<std::pair<RunId, std::string>> still;  // of runs that go on
  for (const Instance& instance : alive) {
    if (instance.observed != Observed::running || !instance.run_id) continue;
    for (const auto& one : told_) {
      if (one.first == *instance.run_id) still.insert(one);
    }
    TRY_ASSIGN(const auto findings, examine(instance));
    for (const Finding& finding : findings) {
      if (finding.weight != FindingWeight::problem) continue;
      if (!still.emplace(*instance.run_id, finding.code).second) continue;
      TRY(deps_.store.write([&](Tx& tx) {
        return record(tx, instance, deps_.clock.now(), "instance.finding", kActor, finding.code,
                      finding.evidence.en);
      }));
      deps_.changed();
    }
  }
  told_ = std::move(still);
  return {};
}

}  // namespace cardhour
