#include "domain/idle.h"

#include <algorithm>

namespace cardhour {
namespace {

// Unknown is not below anything.
bool at_most(const SeriesRow& row, std::string_view column, double limit) {
  return static_cast<double>(row[column_of(SeriesKind::instance, column)]) <= limit;
}

}  // namespace

bool is_quiet(const SeriesRow& row, bool has_cards, const IdleLimits& limits) {
  const bool cards_rest = !has_cards || (at_most(row, "gpu_percent", limits.gpu_percent) &&
                                         at_most(row, "gpu_percent_highest", limits.gpu_percent));
  return cards_rest && at_most(row, "cpu_percent_highest", limits.cpu_percent) &&
         at_most(row, "disk_read_bytes_per_second", limits.disk_bytes_per_second) &&
         at_most(row, "disk_written_bytes_per_second", limits.disk_bytes_per_second) &&
         at_most(row, "network_received_bytes_per_second", limits.network_bytes_per_second) &&
         at_most(row, "network_sent_bytes_per_second", limits.network_bytes_per_second) &&
         at_most(row, "sessions", 0);
}

bool was_idle(std::span<const SeriesPoint> points, Timestamp from, Timestamp to, bool has_cards,
              Duration gap_max, const IdleLimits& limits) {
  Timestamp seen_until = from;
  for (const SeriesPoint& point : points) {
    if (point.at < from || point.at > to) continue;
    if (point.at - seen_until > gap_max) return false;
    if (!is_quiet(point.values, has_cards, limits)) return false;
    seen_until = point.at;
  }
  return seen_until > from && to - seen_until <= gap_max;
}

IdleStep next_idle_step(const IdleRule& rule, bool idle, Timestamp now) {
  const bool held = rule.hold_until && now < *rule.hold_until;
  if (!rule.warned_at) return idle && !held ? IdleStep::warn : IdleStep::nothing;
  if (!idle || held) return IdleStep::cancel;
  return rule.deadline && now >= *rule.deadline ? IdleStep::act : IdleStep::nothing;
}

}  // namespace cardhour
