// The idle detector: from outside, over a whole window. An instance is idle only when every look
// in it shows no kernel on its cards, next to no CPU, disk and network, and no SSH session. What
// is not known counts as busy: nobody loses a run to a gap in the curves. First comes a warning
// with a deadline; any activity before it cancels. Pure.
#pragma once

#include <boost/describe/class.hpp>
#include <boost/describe/enum.hpp>
#include <optional>
#include <span>

#include "base/id.h"
#include "base/time.h"
#include "domain/series.h"

namespace cardhour {

enum class IdleAction {
  notify,  // tell, and let it run
  no_gpu,  // stop, and start again without cards
  stop,
};
BOOST_DESCRIBE_ENUM(IdleAction, notify, no_gpu, stop)

// What the renter set for one instance, and where its warning stands.
struct IdleRule {
  InstanceId instance_id;
  IdleAction action = IdleAction::stop;
  Duration after;                       // idle for so long
  std::optional<Timestamp> hold_until;  // not before
  std::optional<Timestamp> warned_at;
  std::optional<Timestamp> deadline;  // of the warning; absent: the action was taken
  bool then_no_gpu = false;           // stopped by this rule, and to be started without cards

  bool operator==(const IdleRule&) const = default;
};
BOOST_DESCRIBE_STRUCT(IdleRule, (),
                      (instance_id, action, after, hold_until, warned_at, deadline, then_no_gpu))

// Below all of these nothing goes on. A running sshd, cron and the guest stay well below.
struct IdleLimits {
  double cpu_percent = 3;                       // of what the shape has
  double gpu_percent = 0;                       // no kernel at all
  double disk_bytes_per_second = 64 * 1024;     // journals
  double network_bytes_per_second = 16 * 1024;  // scanners at the SSH port
};

// Whether one look shows nothing at all going on.
bool is_quiet(const SeriesRow& row, bool has_cards, const IdleLimits& limits);

// Whether [from, to] was quiet as a whole: a quiet row for each slot, none further apart than
// `gap_max`, nor from either end.
bool was_idle(std::span<const SeriesPoint> points, Timestamp from, Timestamp to, bool has_cards,
              Duration gap_max, const IdleLimits& limits);

enum class IdleStep { nothing, warn, cancel, act };
// `idle`: was_idle over the rule's window, which ends now.
IdleStep next_idle_step(const IdleRule& rule, bool idle, Timestamp now);

}  // namespace cardhour
