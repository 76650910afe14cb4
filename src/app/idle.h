// Idle rules: what a renter sets for an instance that does nothing, and the loop that watches
// over it (domain/idle.h). A warning comes first, as a notice with a deadline; any activity
// before it takes the warning back. The loop runs after each look of telemetry.
// IdleRules is thread-safe; IdleLoop has one thread.
#pragma once

#include <optional>
#include <string>

#include "app/deps.h"
#include "app/gpu_watch.h"
#include "domain/access.h"
#include "domain/idle.h"

namespace cardhour {

class IdleRules {
 public:
  explicit IdleRules(const Deps& deps) : deps_(deps) {}

  // `id` is an id or the exact name; another account's is not_found.
  Result<std::optional<IdleRule>> find(const Actor& actor, const std::string& id);
  // Sets or replaces it; a warning that is out is taken back.
  Result<IdleRule> set(const Actor& actor, const std::string& id, IdleAction action,
                       Duration after);
  // conflict: there is none.
  Status clear(const Actor& actor, const std::string& id);
  // No warning for so long from now; zero ends a hold. conflict: there is no rule.
  Result<IdleRule> hold(const Actor& actor, const std::string& id, Duration how_long);

 private:
  Result<InstanceId> id_of(const Actor& actor, const std::string& id);

  Deps deps_;
};

class IdleLoop {
 public:
  IdleLoop(const Deps& deps, GpuWatch& watch) : deps_(deps), watch_(watch) {}
  Status pass();

 private:
  Status look_at(const IdleRule& rule);
  Result<bool> is_idle(const IdleRule& rule, const Instance& instance, Timestamp now);
  Status go_on_without_cards(const IdleRule& rule, const Instance& instance);

  Deps deps_;
  GpuWatch& watch_;
};

}  // namespace cardhour
