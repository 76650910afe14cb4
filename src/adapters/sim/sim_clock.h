// SimClock: the Clock of simulations and tests. Time moves only when told to, and never
// backwards (CHECKed), as in production. Thread-safe.
#pragma once

#include <atomic>

#include "base/check.h"
#include "ports/clock.h"

namespace cardhour {

class SimClock final : public Clock {
 public:
  // 2026-12-01T08:00:00Z, unless told otherwise: any fixed instant makes runs repeatable.
  explicit SimClock(Timestamp start = Timestamp{1'796'112'000'000}) : now_ms_(start.ms) {}

  Timestamp now() override { return Timestamp{now_ms_.load()}; }
  void advance(Duration by) {
    CHECK(by.ms >= 0, "a clock never runs backwards");
    now_ms_.fetch_add(by.ms);
  }
  void set(Timestamp to) {
    CHECK(to >= now(), "a clock never runs backwards");
    now_ms_.store(to.ms);
  }

 private:
  std::atomic<int64_t> now_ms_;
};

}  // namespace cardhour
