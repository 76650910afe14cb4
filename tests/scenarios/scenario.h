// Scenario: a text that tells a story of the product, with what it answers. Lines at the margin
// are commands, indented lines below are what was printed; `#` begins a remark. Every command
// prints what it was asked for, or why it was refused, and then the events that it caused.
// README.md lists the commands. Not thread-safe.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/world.h"

namespace cardhour {

class Scenario {
 public:
  Scenario();

  // What the command prints, a line each.
  std::vector<std::string> run(const std::string& line);
  // The lifecycle edges that were gone.
  using Edges = std::set<std::pair<Observed, LifecycleEvent>>;
  const Edges& edges() const { return edges_; }

 private:
  using Words = std::vector<std::string>;

  bool run_time(const Words& words);
  bool run_world(const Words& words);
  void run_renter(const std::string& who, const Words& words);
  void run_outside(const Words& words);
  void run_policy(const Words& words);
  bool run_instance(const Actor& actor, const Words& words);
  bool run_money(const Actor& actor, const Words& words);

  void rent(const Actor& actor, const Words& words);
  void start(const Actor& actor, const Words& words);
  void top_up(const Words& words);
  void show(const Actor& actor, const InstanceId& id);
  void bill(const Actor& actor, const Words& words);
  void ledger(const Actor& actor);
  void cards();
  void guest(const Words& words);
  void backup();
  void restore();
  void adopted(const Words& words);
  void stray(const InstanceId& id);

  void say(std::string line) { printed_.push_back(std::move(line)); }
  template <class T>
  bool allowed(const Result<T>& result) {
    if (!result) refuse(result.error());
    return result.has_value();
  }
  bool allowed(const Status& result);
  void refuse(const Error& error);
  void print_events();
  void follow(const Event& event);
  std::string label(const InstanceId& id) const;
  InstanceId instance(const std::string& label) const;
  const Actor& actor(const std::string& name) const;

  World world_;
  std::map<std::string, Actor> actors_;
  std::map<std::string, InstanceId> labels_;
  std::map<InstanceId, Observed> states_;
  Edges edges_;
  int64_t seq_ = 0;
  // As they were when the backup was made.
  std::map<InstanceId, Observed> backup_states_;
  int64_t backup_seq_ = 0;
  std::vector<std::string> printed_;
};

}  // namespace cardhour
