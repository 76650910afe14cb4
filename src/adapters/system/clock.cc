#include "adapters/system/clock.h"

#include <time.h>

#include <algorithm>

#include "base/check.h"

namespace cardhour {
namespace {

Duration read_clock(clockid_t id) {
  timespec at{};
  CHECK(clock_gettime(id, &at) == 0, "the machine has this clock");
  return Duration{static_cast<int64_t>(at.tv_sec) * 1000 + at.tv_nsec / 1'000'000};
}

}  // namespace

SystemClock::SystemClock(Timestamp not_before)
    : started_at_(std::max(Timestamp{read_clock(CLOCK_REALTIME).ms}, not_before)),
      started_after_(read_clock(CLOCK_BOOTTIME)) {}

Timestamp SystemClock::now() { return started_at_ + (read_clock(CLOCK_BOOTTIME) - started_after_); }

Duration SystemClock::drift() { return Timestamp{read_clock(CLOCK_REALTIME).ms} - now(); }

}  // namespace cardhour
