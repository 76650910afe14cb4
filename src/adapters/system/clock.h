// SystemClock: UTC that follows the machine's monotonic clock. The wall clock is read once,
// at construction; from then on time is that plus what has elapsed (CLOCK_BOOTTIME, so that
// a suspended machine catches up). It begins no earlier than told: where the process before it
// was, should the wall clock have been set back in between. A step of the wall clock changes
// nothing until a restart; drift() tells of one. Thread-safe.
#pragma once

#include "ports/clock.h"

namespace cardhour {

class SystemClock final : public Clock {
 public:
  explicit SystemClock(Timestamp not_before = {});

  Timestamp now() override;
  // The wall clock less this one: seconds and more after somebody set the machine's clock.
  Duration drift();

 private:
  const Timestamp started_at_;    // by the wall clock
  const Duration started_after_;  // of CLOCK_BOOTTIME
};

}  // namespace cardhour
