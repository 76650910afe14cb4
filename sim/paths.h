// Paths: which named ways the simulation went, with counts, so that a run proves that its rare
// paths were hit. Moves of instances are read from the event log: "creating -> stopping
// (start_failed)". Which ones every run must hit is in registry.h. Not thread-safe.
#pragma once

#include <map>
#include <string>

#include "sim/world.h"

namespace cardhour {

class Paths {
 public:
  void hit(const std::string& name, int times = 1) { counts_[name] += times; }
  // Reads the events since the last call.
  void follow(World& world);
  // The events that the last follow() read.
  const std::vector<Event>& recent() const { return recent_; }
  // When the last event that ended a run of the instance was written.
  std::optional<Timestamp> ended_at(const InstanceId& id) const;
  static std::string edge_name(Observed from, LifecycleEvent event);
  const std::map<std::string, int>& counts() const { return counts_; }

 private:
  void follow(const Event& event);

  int64_t seq_ = 0;
  std::vector<Event> recent_;
  std::map<InstanceId, Observed> states_;
  std::map<InstanceId, Timestamp> ended_at_;
  std::map<std::string, int> counts_;
};

}  // namespace cardhour
