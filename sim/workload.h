// Workload: what renters, guests, operators and the world outside do, drawn from a seed. Each
// step is one action, and then time goes by. Renters behave as clients on a bad network: what
// was not answered is asked again with the same Idempotency-Key. Not thread-safe.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/invariants.h"
#include "sim/paths.h"
#include "sim/world.h"

namespace cardhour {

class Workload {
 public:
  Workload(World& world, Invariants& invariants, Paths& paths, uint64_t seed);

  // One action and some time. `trace()` says what it was.
  void step();
  const std::string& trace() const { return trace_; }
  // What the answers themselves showed to be wrong.
  std::vector<std::string> broken() const { return broken_; }
  // Keys that were used: each had its effect once, at most; what was confirmed exactly once.
  std::vector<std::string> check_keys();

 private:
  struct Keyed {
    bool is_rent = false;
    int who = 0;
    RentRequest rent;
    Money amount;
    std::string result;  // the id, once it was answered
  };
  struct Action {
    int weight;
    const char* name;
    void (Workload::*act)();
  };
  static const std::vector<Action>& renters();
  static const std::vector<Action>& outside();

  void draw(const std::vector<Action>& actions);
  void between(const InstanceId& busy);
  void pass_time();

  uint64_t below(uint64_t bound) { return random_.below(bound); }
  bool chance(int percent) { return below(100) < static_cast<uint64_t>(percent); }
  const Actor& who() { return renters_[below(renters_.size())]; }
  const Instance* some(std::initializer_list<Observed> states);
  const Actor& owner(const Instance& instance) const;
  ShapeRequest shape();
  template <class T>
  void answered(const Result<T>& result);
  void answered(const Status& result);
  void answer_of(const Error* error);
  void ask(const std::string& key);

  void rent();
  void rent_with_key();
  void top_up();
  void top_up_with_key();
  void replay();
  void misuse_key();
  void start();
  void change_shape();
  void restart();
  void stop();
  void release();
  void restore();
  void purge();
  void rename();
  void add_ssh_key();
  void delete_ssh_key();
  void guest_poweroff();
  void guest_reboot();
  void set_price();

  void poweroff_inside();
  void stop_behind();
  void delete_behind();
  void start_behind();
  void kill_guest();
  void shutdown_hangs();
  void wrong_cards();
  void dirty_card();
  void sick_card();
  void card_trouble();
  void take_port();
  void foreign();
  void silence();
  void driver_refuses();
  void slow_boot();
  void reboot_host();
  void kill_process();
  void hang();
  void toggle_faults();

  World& world_;
  Invariants& invariants_;
  Paths& paths_;
  Xoshiro random_;
  std::vector<Actor> renters_;
  std::vector<Instance> instances_;  // as they are when an action begins
  std::map<std::string, Keyed> keyed_;
  std::vector<std::string> broken_;
  std::string trace_;
  int names_ = 0;
  bool is_silent_ = false;
  bool is_between_ = false;
};

}  // namespace cardhour
