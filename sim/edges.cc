#include "sim/edges.h"

namespace cardhour {

std::optional<LifecycleEvent> edge_of(Observed before, const Event& event) {
  const std::string prefix = "instance.";
  if (!event.kind.starts_with(prefix)) return std::nullopt;
  const std::string word = event.kind.substr(prefix.size());
  const bool failed = event.reason == "start_failed" || event.reason == "restart_failed";
  if (word == "starting") {
    return before == Observed::running ? LifecycleEvent::switch_shape : LifecycleEvent::start;
  }
  if (word == "running") return LifecycleEvent::ready;
  if (word == "stopping") return failed ? LifecycleEvent::fail : LifecycleEvent::stop;
  if (word == "releasing") return LifecycleEvent::release;
  if (word == "in_bin") {
    return before == Observed::stopped ? LifecycleEvent::release : LifecycleEvent::stopped;
  }
  if (word == "stopped") {
    return before == Observed::running ? LifecycleEvent::vanish : LifecycleEvent::stopped;
  }
  if (word == "stray") return LifecycleEvent::stray;
  if (word == "restored") return LifecycleEvent::restore;
  if (word == "adopted" && next_state(before, LifecycleEvent::adopt)) return LifecycleEvent::adopt;
  if (word == "purged") return LifecycleEvent::purged;
  return std::nullopt;
}

}  // namespace cardhour
