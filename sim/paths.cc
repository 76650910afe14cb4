#include "sim/paths.h"

#include <fmt/format.h>

#include <set>

#include "base/check.h"

namespace cardhour {
namespace {

bool is_state(const std::string& word) {
  static const std::set<std::string> kStates = {"creating", "starting",  "running", "stopping",
                                                "stopped",  "releasing", "in_bin",  "stray",
                                                "restored", "purged"};
  return kStates.contains(word);
}

}  // namespace

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
  if (!is_state(word)) {
    hit(fmt::format("{} ({})", word, event.reason));
    return;
  }
  std::string& last = last_[*event.instance_id];
  hit(fmt::format("{} -> {} ({})", last.empty() ? "none" : last, word, event.reason));
  last = word;
  const bool ends = word == "stopping" || word == "releasing" || word == "stopped" ||
                    word == "starting";  // a switch from no-GPU ends a run too
  if (ends) ended_at_[*event.instance_id] = event.at;
}

std::optional<Timestamp> Paths::ended_at(const InstanceId& id) const {
  const auto found = ended_at_.find(id);
  return found == ended_at_.end() ? std::nullopt : std::optional(found->second);
}

void Paths::add(const Paths& other) {
  for (const auto& [name, times] : other.counts_) counts_[name] += times;
}

}  // namespace cardhour
