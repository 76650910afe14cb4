#include "domain/metering.h"

#include <algorithm>

#include "base/check.h"

namespace cardhour {
namespace {

Duration round_up(Duration time, Duration unit) {
  CHECK(unit.ms > 0, "the minimum unit is positive");
  return Duration{(time.ms + unit.ms - 1) / unit.ms * unit.ms};
}

Duration elapsed_at(const Segment& segment, Timestamp until) {
  return std::max(until - segment.opened_at, Duration{0});
}

bool all_covered(const std::vector<Segment>& open, Money balance, Timestamp at) {
  return accrued(open, at) <= balance;
}

}  // namespace

bool is_voluntary(Cause cause) { return cause == Cause::renter || cause == Cause::guest_shutdown; }

Duration charged_time(const Segment& segment, Timestamp until, bool rounded) {
  const Duration elapsed = elapsed_at(segment, until);
  if (elapsed <= segment.carried) return Duration{0};
  const Duration charged = elapsed - segment.carried;
  return rounded ? round_up(charged, segment.unit) : charged;
}

Money segment_due(const Segment& segment, Timestamp until) {
  if (segment.meter == Meter::minimum) return segment.posted;
  bool rounded = true;
  if (segment.closed_at && until >= *segment.closed_at) {
    until = *segment.closed_at;
    CHECK(segment.close_cause.has_value(), "a closed segment has a cause");
    rounded = is_voluntary(*segment.close_cause);
  }
  return due(Rate{segment.rate_per_hour, hours(1)}, segment.quantity,
             charged_time(segment, until, rounded));
}

Duration carry_over(const Segment& segment, Timestamp at) {
  const Duration elapsed = elapsed_at(segment, at);
  if (elapsed <= segment.carried) return segment.carried - elapsed;
  return charged_time(segment, at, true) - (elapsed - segment.carried);
}

Money minimum_line(Money run_total, Money minimum_charge) {
  if (run_total.micro <= 0 || run_total >= minimum_charge) return Money{};
  return minimum_charge - run_total;
}

Money burn_per_hour(const std::vector<Segment>& open) {
  Money burn;
  for (const Segment& segment : open) burn += segment.rate_per_hour * segment.quantity;
  return burn;
}

Money accrued(const std::vector<Segment>& open, Timestamp now) {
  Money total;
  for (const Segment& segment : open) total += segment_due(segment, now) - segment.posted;
  return total;
}

std::optional<Timestamp> covered_until(const std::vector<Segment>& open, Money balance,
                                       Timestamp now) {
  if (burn_per_hour(open).micro == 0) return std::nullopt;
  Timestamp low = now;  // the last opening: before it nothing can be said to be covered
  for (const Segment& segment : open) low = std::min(low, segment.opened_at);
  low = low - milliseconds(1);
  Timestamp high = now + days(3653);
  if (all_covered(open, balance, high)) return std::nullopt;
  // What is owed never falls with time, so the border can be found by halving.
  while (low + milliseconds(1) < high) {
    const Timestamp middle{low.ms + (high.ms - low.ms) / 2};
    if (all_covered(open, balance, middle))
      low = middle;
    else
      high = middle;
  }
  return low;
}

}  // namespace cardhour
