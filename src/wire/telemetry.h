// The API's structs of telemetry: readings, processes, curves, conditions. Conventions as in
// wire.h; what the driver does not know is left out. Thread-safe: plain values.
#pragma once

#include <map>

#include "domain/card_health.h"
#include "domain/diagnosis.h"
#include "domain/idle.h"
#include "domain/telemetry.h"
#include "wire/wire.h"

namespace cardhour::wire {

struct CardConditionView {
  ConditionKind kind = ConditionKind::unfit;
  std::string reason;  // "lost", "xid_79", "memory_held", "operator", ...
  std::string what;    // in the reader's language
  std::string next;    // what to do
  std::string note;    // the operator's words
  std::string actor;
  Timestamp since;
};
BOOST_DESCRIBE_STRUCT(CardConditionView, (), (kind, reason, what, next, note, actor, since))

struct CardXidView {
  int64_t code = 0;
  int64_t count = 0;
  std::string what;  // in the reader's language
  Timestamp first_at;
  Timestamp last_at;
};
BOOST_DESCRIBE_STRUCT(CardXidView, (), (code, count, what, first_at, last_at))

// GET /api/v1/admin/gpus: each card as it is now.
struct GpuView {
  CardView card;
  std::optional<Timestamp> sampled_at;  // absent: never seen
  std::optional<CardReading> reading;
  std::optional<int64_t> unowned_bytes;  // VRAM that no process accounts for
  bool is_divided = false;               // MIG is on
  std::vector<CardSlice> slices;
  int64_t processes = 0;
  std::vector<CardConditionView> conditions;  // any: it is not for rent
  std::vector<CardXidView> xids;
};
BOOST_DESCRIBE_STRUCT(GpuView, (),
                      (card, sampled_at, reading, unowned_bytes, is_divided, slices, processes,
                       conditions, xids))

// GET /api/v1/admin/gpu-processes
struct GpuProcessView {
  CardId card_uuid;
  int card_index = 0;
  int64_t pid = 0;  // on the host
  bool is_graphics = false;
  std::string command;
  std::optional<int64_t> memory_used_bytes;
  std::optional<InstanceId> instance_id;  // absent: not in an instance of ours
  std::string instance;
  std::string renter;          // login
  std::optional<int64_t> uid;  // inside the instance, or on the host
  std::string user;            // its name there
  std::string container;       // as the engine names it; empty: a process of the host
  bool is_expected = true;     // false: this card is not that instance's
};
BOOST_DESCRIBE_STRUCT(GpuProcessView, (),
                      (card_uuid, card_index, pid, is_graphics, command, memory_used_bytes,
                       instance_id, instance, renter, uid, user, container, is_expected))

// POST /api/v1/admin/gpus/{uuid}/quarantine, .../exclude
struct GpuRemovalRequest {
  std::optional<std::string> note;
  std::optional<bool> ends_run;  // true: stop whoever rents it, now
};
BOOST_DESCRIBE_STRUCT(GpuRemovalRequest, (), (note, ends_run))

// Curves over time. `series` has one list for each name, as long as `at`; null is unknown, and a
// slot without any reading is null in all.
struct MetricsView {
  Timestamp from;
  Timestamp to;
  Duration step_ms;
  std::vector<Timestamp> at;  // where each slot begins
  std::map<std::string, std::vector<std::optional<double>>> series;
};
BOOST_DESCRIBE_STRUCT(MetricsView, (), (from, to, step_ms, at, series))

// GET /api/v1/instances/{id}/now: the last look. Absent: unknown.
struct UsageView {
  InstanceId id;
  std::string name;
  std::optional<Timestamp> sampled_at;
  std::map<std::string, double> values;  // by the names of the series
  std::vector<GpuView> cards;            // without what is the operator's
  std::vector<GpuProcessView> processes;
};
BOOST_DESCRIBE_STRUCT(UsageView, (), (id, name, sampled_at, values, cards, processes))

struct FindingView {
  std::string code;
  FindingWeight weight = FindingWeight::advice;
  std::string what;  // in the reader's language, as the rest
  std::string evidence;
  std::string remedy;
  std::string link;
};
BOOST_DESCRIBE_STRUCT(FindingView, (), (code, weight, what, evidence, remedy, link))

// GET /api/v1/instances/{id}/diagnosis
struct DiagnosisView {
  InstanceId id;
  std::string name;
  bool runs = false;
  std::vector<FindingView> findings;  // problems first
};
BOOST_DESCRIBE_STRUCT(DiagnosisView, (), (id, name, runs, findings))

// PUT /api/v1/instances/{id}/idle
struct IdleRuleRequest {
  std::optional<IdleAction> action;  // stop when absent
  Duration after_ms;
};
BOOST_DESCRIBE_STRUCT(IdleRuleRequest, (), (action, after_ms))

// POST /api/v1/instances/{id}/hold
struct HoldRequest {
  Duration for_ms;
};
BOOST_DESCRIBE_STRUCT(HoldRequest, (), (for_ms))

struct IdleRuleView {
  InstanceId instance_id;
  IdleAction action = IdleAction::stop;
  Duration after_ms;
  std::optional<Timestamp> hold_until;
  std::optional<Timestamp> warned_at;
  std::optional<Timestamp> deadline;  // of the warning
};
BOOST_DESCRIBE_STRUCT(IdleRuleView, (),
                      (instance_id, action, after_ms, hold_until, warned_at, deadline))

}  // namespace cardhour::wire
