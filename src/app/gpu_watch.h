// GpuWatch: the last look at cards and instances, kept in memory for whoever asks in between.
// The telemetry loop writes it, requests read it: none of them waits for the driver. It starts
// empty and holds nothing that matters. Thread-safe.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/time.h"
#include "domain/series.h"
#include "domain/telemetry.h"

namespace cardhour {

struct GpuLook {
  Timestamp at;
  GpuSample sample;  // the last that there was
  std::optional<Timestamp> sampled_at;
  std::optional<Error> failure;           // why there is no newer one
  std::optional<Timestamp> silent_since;  // of the driver
  std::map<SeriesId, SeriesRow> rows;     // what went into the series
};

class GpuWatch {
 public:
  std::shared_ptr<const GpuLook> latest() const {
    const std::lock_guard lock(mutex_);
    return latest_;
  }
  void put(GpuLook look) {
    auto next = std::make_shared<const GpuLook>(std::move(look));
    const std::lock_guard lock(mutex_);
    latest_ = std::move(next);
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const GpuLook> latest_ = std::make_shared<const GpuLook>();
};

}  // namespace cardhour
