// The loops: each pass looks at what is due and acts; nothing is passed in, so a hint only
// wakes them early and a missed one costs nothing. One thread runs them in production, the
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
  Status look_at_hosts();
  Status look_at(const Instance& instance, Timestamp last_alive);

  // Seen stopped though it should run: since when, and when it was last known to run.
  // Forgetting it (a restart of the process) only delays the conclusion.
  struct Suspect {
    Timestamp since;
    Timestamp last_alive;
  };

  Deps deps_;
  std::map<InstanceId, Suspect> suspects_;
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
