// Metering: how running time becomes money. A segment is one stretch of one meter at one
// frozen price; it opens and closes in the transaction of the change that causes it.
// Invariants: charges are cumulative (posted = due - already posted), so any pattern of
// settlements sums to the same amount; nothing before ready, nothing after stop asked. Pure.
#pragma once

#include <boost/describe/class.hpp>
#include <boost/describe/enum.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/id.h"
#include "base/money.h"
#include "base/time.h"
#include "domain/policy.h"
#include "domain/pricing.h"

namespace cardhour {

enum class Meter { on_demand, no_gpu, minimum };
BOOST_DESCRIBE_ENUM(Meter, on_demand, no_gpu, minimum)

// Why a segment, run or instance changed. Words of API, events and bill.
enum class Cause {
  ready,           // the run became usable
  renter,          // asked by the renter (API, CLI, console)
  guest_shutdown,  // shut down from inside
  arrears,         // the balance reached zero
  vanished,        // stopped or deleted behind our back
  host_reboot,     // the host rebooted under it
  host_silent,     // no proof of life from the host
  host_back,       // proof of life again
  start_failed,
  restart_failed,  // not ready in time after a restart
  card_fault,      // a card of the run failed
  idle,            // nothing happened in it for as long as its renter set
  expired,         // the bin's undo window ended
  admin,           // the operator
  adopted,         // found in the engine, or given to its renter then
};
BOOST_DESCRIBE_ENUM(Cause, ready, renter, guest_shutdown, arrears, vanished, host_reboot,
                    host_silent, host_back, start_failed, restart_failed, card_fault, idle, expired,
                    admin, adopted)

// A voluntary end is rounded up to the minimum unit; an involuntary one is exact to the ms.
bool is_voluntary(Cause cause);

struct Segment {
  SegmentId id;
  AccountId account_id;
  InstanceId instance_id;
  RunId run_id;
  Meter meter = Meter::on_demand;
  int64_t quantity = 1;  // cards; 1 in no-GPU mode
  Money rate_per_hour;   // frozen, per unit of quantity; of `minimum`: the smallest charge then
  Duration unit;         // the minimum unit in force at power-on
  // Time already paid in an earlier segment of the same run (the unused part of its last
  // unit), which this segment uses up first.
  Duration carried;
  Timestamp opened_at;
  std::optional<Timestamp> closed_at;
  Cause open_cause = Cause::ready;
  std::optional<Cause> close_cause;
  Money posted;            // what the ledger has for this segment
  Timestamp booked_until;  // high-water mark of booked time; never moves back
  std::string gpu_model;
  std::string card_uuids;  // space-separated
};
BOOST_DESCRIBE_STRUCT(Segment, (),
                      (id, account_id, instance_id, run_id, meter, quantity, rate_per_hour, unit,
                       carried, opened_at, closed_at, open_cause, close_cause, posted, booked_until,
                       gpu_model, card_uuids))

// The time charged when the segment ends (or is looked at) `until`: elapsed time less what
// was carried in, rounded up to the unit when `rounded`. A unit is charged when it starts.
Duration charged_time(const Segment& segment, Timestamp until, bool rounded);

// What the segment owes at `until`. For a closed segment `until` is capped at its end and
// the cause of closing decides the rounding. Meter `minimum` owes what was posted.
Money segment_due(const Segment& segment, Timestamp until);

// The unused part of the last unit when the segment closes at `at` voluntarily.
Duration carry_over(const Segment& segment, Timestamp at);

// The extra line that lifts a run to the minimum charge: zero when the run cost nothing or
// enough already.
Money minimum_line(Money run_total, Money minimum_charge);

// Burn of the open segments: rate x quantity, per hour.
Money burn_per_hour(const std::vector<Segment>& open);

// What the open segments owe beyond what is posted, at `now`.
Money accrued(const std::vector<Segment>& open, Timestamp now);

// The latest instant at which everything that the open segments owe is covered by
// `balance` (>= 0), looking at most ten years ahead; nullopt when nothing burns. Before
// `now` when the balance does not even cover the present.
std::optional<Timestamp> covered_until(const std::vector<Segment>& open, Money balance,
                                       Timestamp now);

}  // namespace cardhour
