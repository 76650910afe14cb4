// Faults for simulations: a plan that decides from a seed which call fails and how, and
// decorators that carry it out around any Engine and any Store. Every fault is counted by
// name, so that a simulation can prove that its rare paths were hit; one can be forced.
// A Crash is thrown as the kill of the control plane at that point: the simulation catches
// it at its top, throws the control plane away, and builds a new one on the same database
// and engine. Never linked into production paths. Thread-safe.
#pragma once

#include <array>
#include <boost/describe/enum.hpp>
#include <functional>
#include <initializer_list>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/sim/sim_entropy.h"
#include "ports/engine.h"
#include "ports/store.h"

namespace cardhour {

// The control plane dies here. Not an error and no std::exception, so that nothing between
// the port and the simulation takes it for one.
struct Crash {
  std::string where;  // "engine.ensure_started crash_after"
};

enum class Fault {
  unavailable,   // refused at once: nothing was done
  failed,        // the engine's own refusal: nothing was done
  lost_request,  // a timeout, and nothing was done
  lost_answer,   // a timeout, and all was done
  slow,          // done and answered, after a while
  hung,          // a timeout after longer than any lock of ours holds, and all was done
  crash_before,  // the control plane dies before the effect
  crash_inside,  // in the middle of it; in a transaction: after the body, before the commit
  crash_after,   // after the effect, before its answer is heard
};
BOOST_DESCRIBE_ENUM(Fault, unavailable, failed, lost_request, lost_answer, slow, hung, crash_before,
                    crash_inside, crash_after)
inline constexpr size_t kFaults = 9;
inline constexpr Duration kSlowCall = seconds(20);
inline constexpr Duration kHungCall = minutes(11);

class FaultPlan {
 public:
  explicit FaultPlan(uint64_t seed) : random_(seed) {}

  // How often the fault strikes, per mille of the calls that it can strike. The sum over the
  // faults of one call is at most 1000.
  void set(Fault fault, int per_mille);
  // Quiet phases: nothing strikes by chance, what is forced does.
  void set_active(bool active);
  // Nothing strikes, and calls are not counted: for whoever looks from outside.
  void set_paused(bool paused);
  // Passes the time of slow and hung calls; none: they take none.
  void set_wait(std::function<void(Duration)> wait);
  // The fault strikes the `nth` (1, 2, ...) call named `call` from now on; "" is any call.
  // Calls are named "engine.ensure_started", "store.write", ...
  void force(Fault fault, std::string call, int nth = 1);

  // Hears of each fault that strikes by chance, with the number of its call among those of that
  // name since mark(): forced so at the mark, it strikes there again.
  using Listener = std::function<void(Fault, const std::string& call, int nth)>;
  void set_listener(Listener listener);
  void mark();
  void wait(Duration by);

  // What strikes this call, out of what is possible there. Draws once, and counts.
  std::optional<Fault> draw(std::string_view call, std::initializer_list<Fault> possible);
  // For SimEngineOptions::midway: crash_inside by this plan, between the halves of an effect.
  std::function<void(std::string_view)> midway();

  // "engine.ensure_started crash_after" -> how often it struck.
  std::map<std::string, int> hits() const;
  int hits(Fault fault) const;
  int64_t calls(const std::string& call) const;
  // Every pair of a call and a fault that can strike it, as hits() names it.
  static std::vector<std::string> possible_hits();

 private:
  struct Forced {
    Fault fault;
    std::string call;
    int calls_left;
  };
  std::optional<Fault> due_by_force(std::string_view call, std::initializer_list<Fault> possible);
  std::optional<Fault> due_by_chance(std::initializer_list<Fault> possible);

  mutable std::mutex mutex_;
  Xoshiro random_;
  bool is_active_ = true;
  bool is_paused_ = false;
  std::function<void(Duration)> wait_;
  Listener listener_;
  std::map<std::string, int> since_mark_;
  std::array<int, kFaults> per_mille_{};
  std::vector<Forced> forced_;
  std::map<std::string, int> hits_;
  std::map<std::string, int64_t, std::less<>> calls_;
};

class FaultyEngine final : public Engine {
 public:
  FaultyEngine(Engine& inner, FaultPlan& plan) : inner_(inner), plan_(plan) {}

  Result<std::vector<EngineHost>> hosts() override;
  Result<std::vector<EngineInstance>> list() override;
  Result<std::vector<EngineUsage>> usage() override;
  Result<std::optional<EngineInstance>> find(const InstanceId& id) override;
  Result<std::optional<EngineObject>> describe(const InstanceId& id) override;
  Result<std::vector<std::string>> images() override;
  Status ensure_created(const EngineSpec& spec, const GuestIdentity& identity) override;
  Status ensure_started(const EngineSpec& spec, const EngineShape& shape) override;
  Result<bool> ssh_answers(const EngineSpec& spec, Duration patience) override;
  Result<std::vector<VisibleCard>> visible_cards(const InstanceId& id) override;
  Status apply_identity(const InstanceId& id, const GuestIdentity& identity) override;
  Status put_notice(const InstanceId& id, const std::string& json) override;
  Status shut_down(const InstanceId& id, Duration grace) override;
  Status force_stop(const InstanceId& id) override;
  Status ensure_removed(const InstanceId& id) override;
  Result<bool> port_is_free(int port) override;

 private:
  Engine& inner_;
  FaultPlan& plan_;
};

// `unavailable` strikes before the transaction, lost_answer after the commit of a write;
// crash_before before it begins, crash_inside after the body (the inner store must roll back),
// crash_after after the commit.
class FaultyStore final : public Store {
 public:
  FaultyStore(Store& inner, FaultPlan& plan) : inner_(inner), plan_(plan) {}

  Status write(const std::function<Status(Tx&)>& body) override;
  Status read(const std::function<Status(Tx&)>& body) override;

 private:
  Store& inner_;
  FaultPlan& plan_;
};

}  // namespace cardhour
