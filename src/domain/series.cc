#include "domain/series.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "base/limits.h"

namespace cardhour {
namespace {

constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();
constexpr int64_t kPointsWanted = 300;

float combine_column(Combine how, std::span<const SeriesPoint> points, size_t column) {
  double sum = 0;
  float highest = kUnknown;
  float lowest = kUnknown;
  int known = 0;
  for (const SeriesPoint& point : points) {
    const float value = point.values[column];
    if (std::isnan(value)) continue;
    sum += value;
    highest = known == 0 ? value : std::max(highest, value);
    lowest = known == 0 ? value : std::min(lowest, value);
    ++known;
  }
  if (known == 0) return kUnknown;
  if (how == Combine::highest) return highest;
  if (how == Combine::lowest) return lowest;
  return static_cast<float>(sum / known);
}

Timestamp floor_to(Timestamp at, Duration step) { return {at.ms / step.ms * step.ms}; }

}  // namespace

std::span<const SeriesColumn, kSeriesColumns> columns_of(SeriesKind kind) {
  return kind == SeriesKind::card ? kCardColumns : kInstanceColumns;
}

size_t column_of(SeriesKind kind, std::string_view name) {
  const auto columns = columns_of(kind);
  const auto found = std::ranges::find(columns, name, &SeriesColumn::name);
  CHECK(found != columns.end(), "a column that no series has");
  return static_cast<size_t>(found - columns.begin());
}

SeriesRow unknown_row() {
  SeriesRow row;
  row.fill(kUnknown);
  return row;
}

SeriesRow combine(SeriesKind kind, std::span<const SeriesPoint> points) {
  SeriesRow row = unknown_row();
  const auto columns = columns_of(kind);
  for (size_t i = 0; i < columns.size(); ++i) {
    row[i] = combine_column(columns[i].combine, points, i);
  }
  return row;
}

std::vector<SeriesPoint> resample(SeriesKind kind, std::span<const SeriesPoint> points,
                                  Duration step) {
  std::vector<SeriesPoint> out;
  size_t begin = 0;
  while (begin < points.size()) {
    const Timestamp slot = floor_to(points[begin].at, step);
    size_t end = begin;
    while (end < points.size() && floor_to(points[end].at, step) == slot) ++end;
    out.push_back({slot, combine(kind, points.subspan(begin, end - begin))});
    begin = end;
  }
  return out;
}

Result<SeriesPlan> plan_range(Timestamp from, Timestamp to, std::optional<Duration> step,
                              Timestamp now) {
  if (to <= from) {
    return invalid("from", Text{"`from` has to be before `to`", "from 必须早于 to"});
  }
  const Duration range = to - from;
  const Duration wanted = step.value_or(Duration{range.ms / kPointsWanted});
  SeriesPlan plan;
  const auto reaches = [&](size_t tier) {
    return now - from <= kSeriesTiers[tier].step * kSeriesTiers[tier].slots;
  };
  // The coarsest that is fine enough, and reaches back far enough.
  while (plan.tier + 1 < kSeriesTiers.size() &&
         (!reaches(plan.tier) || kSeriesTiers[plan.tier + 1].step <= wanted)) {
    ++plan.tier;
  }
  const int64_t own = kSeriesTiers[plan.tier].step.ms;
  plan.step = Duration{std::max<int64_t>((wanted.ms + own - 1) / own, 1) * own};
  if (range.ms / plan.step.ms > limits::kSeriesPointsMax) {
    return invalid(
        "step",
        text("this would be more than {} points", "数据点将超过 {} 个", limits::kSeriesPointsMax),
        Text{"take a longer step or a shorter range", "请增大 step 或缩短时间范围"});
  }
  return plan;
}

}  // namespace cardhour
