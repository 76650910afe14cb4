// Generator: draws the next lines of a script from a seed and from how the world is. What is
// drawn names all that it needs. Not thread-safe.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "adapters/sim/sim_entropy.h"
#include "domain/instance.h"
#include "sim/world.h"

namespace cardhour {

class Generator {
 public:
  Generator(World& world, uint64_t seed);

  // The lines that a life begins with.
  std::vector<std::string> beginning();
  // One action and some time.
  std::vector<std::string> step();
  // What another thread does at this moment, if anything.
  std::optional<std::string> meanwhile();

 private:
  struct Action {
    int weight;
    std::string (Generator::*draw)();
  };
  static const std::vector<Action>& of_renters();
  static const std::vector<Action>& of_outside();
  static const std::vector<Action>& of_threads();

  std::string draw(const std::vector<Action>& actions);
  void look();
  std::string goal();
  std::string pass_time();

  uint64_t below(uint64_t bound) { return random_.below(bound); }
  bool chance(int percent) { return below(100) < static_cast<uint64_t>(percent); }
  std::string label_of(std::initializer_list<Observed> states);
  std::string any_label();
  std::string renter();
  std::string shape();
  std::string key();

  std::string rent();
  std::string top_up();
  std::string again();
  std::string misuse();
  std::string start();
  std::string switch_shape();
  std::string restart();
  std::string stop();
  std::string release();
  std::string restore();
  std::string purge();
  std::string rename();
  std::string add_key();
  std::string drop_key();
  std::string guest();
  std::string price();
  std::string events();

  std::string power_off();
  std::string vanish();
  std::string remove();
  std::string stray();
  std::string kill_guest();
  std::string hang();
  std::string sight();
  std::string dirty();
  std::string sick();
  std::string report();
  std::string leave();
  std::string withdraw();
  std::string put_back();
  std::string foreign();
  std::string namesake();
  std::string unknown();
  std::string port();
  std::string silence();
  std::string driver();
  std::string boot();
  std::string reboot();
  std::string crash() { return "crash"; }
  std::string sleep();
  std::string wall();
  std::string tidy() { return "tidy"; }

  std::string work() { return "work"; }
  std::string observe() { return "observe"; }
  std::string settle() { return "settle"; }
  std::string reconcile() { return "reconcile"; }
  std::string short_pass();

  World& world_;
  uint64_t seed_;
  Xoshiro random_;
  std::vector<Instance> instances_;  // as they are when an action is drawn
  std::vector<std::string> keys_;
  int names_ = 0;
  int steps_ = 0;
  bool is_silent_ = false;
  bool delivers_ = false;  // the goal is a call that brings something to a guest
};

}  // namespace cardhour
