// MemorySeries: the SeriesStore in memory, for simulations; it forgets nothing. Thread-safe.
#pragma once

#include <map>
#include <mutex>

#include "ports/series.h"

namespace cardhour {

class MemorySeries final : public SeriesStore {
 public:
  Status append(const SeriesId& id, Timestamp at, const SeriesRow& row) override {
    const std::lock_guard lock(mutex_);
    const int64_t step = kSeriesTiers[0].step.ms;
    rows_[id][Timestamp{at.ms / step * step}] = row;
    return {};
  }
  Result<std::vector<SeriesPoint>> read(const SeriesId& id, size_t tier, Timestamp from,
                                        Timestamp to) override {
    const std::lock_guard lock(mutex_);
    std::vector<SeriesPoint> points;
    const auto& rows = rows_[id];
    for (auto it = rows.lower_bound(from); it != rows.end() && it->first < to; ++it) {
      points.push_back({it->first, it->second});
    }
    return tier == 0 ? points : resample(id.kind, points, kSeriesTiers[tier].step);
  }
  Result<std::vector<std::string>> list(SeriesKind kind) override {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> names;
    for (const auto& [id, rows] : rows_) {
      if (id.kind == kind) names.push_back(id.text);
    }
    return names;
  }
  Status remove(const SeriesId& id) override {
    const std::lock_guard lock(mutex_);
    rows_.erase(id);
    return {};
  }

 private:
  std::mutex mutex_;
  std::map<SeriesId, std::map<Timestamp, SeriesRow>> rows_;
};

}  // namespace cardhour
