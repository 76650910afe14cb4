// A calm world (sim/world.h) with one renter, for tests of telemetry. Not thread-safe.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "adapters/sim/memory_series.h"
#include "sim/world.h"

namespace cardhour {

class WatchingWorld : public testing::Test {
 protected:
  WatchingWorld();

  // Rents and waits until it runs.
  Instance rent(int cards = 1);
  Instance instance(const InstanceId& id);
  std::vector<CardId> cards_of(const InstanceId& id);
  // Time goes by, and everything looks as often as in production.
  void pass(Duration by) { world_.pass(by); }
  std::vector<Segment> segments();
  std::vector<Event> events(const std::string& kind);
  std::vector<CardCondition> conditions();
  Money wallet();
  ControlPlane& plane() { return world_.plane(); }

  MemorySeries series_;
  World world_;
  Actor renter_;
};

}  // namespace cardhour
