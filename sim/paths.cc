#include "sim/paths.h"

#include <fmt/format.h>

#include "base/check.h"
#include "base/enum_text.h"
#include "sim/edges.h"

namespace cardhour {
namespace {}  // namespace

void Paths::follow(World& world) {
  constexpr int kPage = 1'000;
  std::vector<Event> events;
  recent_.clear();
  do {
    const Status read = world.store().read([&](Tx& tx) -> Status {
      TRY_ASSIGN(events, tx.events().after(seq_, {}, kPage));
      return {};
    });
    CHECK(read.has_value(), "the event log can be read");
    for (const Event& event : events) follow(event);
    recent_.insert(recent_.end(), events.begin(), events.end());
  } while (!events.empty());
}

void Paths::follow(const Event& event) {
  seq_ = event.seq;
  const std::string prefix = "instance.";
  if (!event.instance_id || !event.kind.starts_with(prefix)) {
    hit(event.kind);
    return;
  }
  const std::string word = event.kind.substr(prefix.size());
  Observed& state = states_[*event.instance_id];  // of a new one: creating
  const auto edge = edge_of(state, event);
  if (!edge) return hit(fmt::format("{} ({})", word, event.reason));
  const Observed before = state;
  state = next_state(before, *edge).value_or(before);
  hit(edge_name(before, *edge));
  hit(fmt::format("{} -> {} ({})", enum_text(before), enum_text(state),
                  *edge == LifecycleEvent::stray ? "stray" : event.reason));
  // A run ends with these; a start may end one too, a switch from no-GPU.
  const bool ends =
      word == "stopping" || word == "releasing" || word == "stopped" || word == "starting";
  if (ends) ended_at_[*event.instance_id] = event.at;
}

std::string Paths::edge_name(Observed from, LifecycleEvent event) {
  return fmt::format("edge: {} {}", enum_text(from), enum_text(event));
}

std::optional<Timestamp> Paths::ended_at(const InstanceId& id) const {
  const auto found = ended_at_.find(id);
  return found == ended_at_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace cardhour
