// Clock: the present. Only adapters and app read it; the domain gets `now` as a value.
// Implementations are thread-safe.
#pragma once

#include "base/time.h"

namespace cardhour {

class Clock {
 public:
  virtual ~Clock() = default;
  // UTC. Within one process life it follows the monotonic clock, so that it never runs
  // backwards and a step of the wall clock produces no negative or double usage.
  virtual Timestamp now() = 0;
};

}  // namespace cardhour
