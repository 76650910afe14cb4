// The loops: each pass looks at what is due and acts; nothing is passed in, so a hint only
// wakes them early and a missed one costs nothing. Each has one thread in production; the
// simulation calls them one by one.
#pragma once

#include <map>

#include "app/deps.h"

namespace cardhour {

// Looks at the engine and the driver: hosts, cards, and what our instances really do.
class ObserveLoop {
 public:
  explicit ObserveLoop(const Deps& deps) : deps_(deps) {}
  // engine_unavailable when nothing could be seen; the pass has noted that too.
  Status pass();

 private:
  // Of an instance that should run: when the engine last showed it running, and since when it
  // shows it stopped.
  struct Life {
    Timestamp last_alive;
    std::optional<Timestamp> missing_since;
  };

  Result<std::vector<EngineHost>> look_at_hosts();
  Status look_at_cards(const std::vector<EngineHost>& hosts);
  Status account_for(const std::vector<EngineInstance>& seen, const std::vector<Instance>& known);
  bool is_for_now(const Instance& instance, bool runs) const;
  Status look_at(const Instance& instance);
  Status note_hosts_before();
  Life& life_of(const Instance& instance);

  Deps deps_;
  std::map<InstanceId, Life> lives_;
  // Each host's last proof of life before this process began: what is known of an instance that
  // this process has not yet seen running.
  std::optional<std::map<HostId, Timestamp>> hosts_before_;
  // The database was restored and the engine is not accounted for yet.
  bool is_restored_ = false;
};

// Books what is due, warns of an empty wallet, and stops what it can no longer pay.
class SettleLoop {
 public:
  explicit SettleLoop(const Deps& deps) : deps_(deps) {}
  Status pass();

 private:
  Deps deps_;
};

// Gives forgotten instances their operation, purges what left the bin.
class ReconcileLoop {
 public:
  explicit ReconcileLoop(const Deps& deps) : deps_(deps) {}
  Status pass();
  // Housekeeping, once an hour or so.
  Status tidy();

 private:
  Deps deps_;
};

}  // namespace cardhour
