// Invariants: what must be true of the product after every step, whatever happened, and what
// must be true once everything rests. Looks at the database and the engine from outside.
// Not thread-safe.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "sim/paths.h"
#include "sim/world.h"

namespace cardhour {

class Invariants {
 public:
  Invariants(World& world, Paths& paths) : world_(world), paths_(paths) {}

  // Each returns what is broken, in words; empty when all is well.
  std::vector<std::string> check();
  // Forgets what need not be looked at again: the next check() looks at everything.
  void look_at_all() { checked_at_.reset(); }
  std::vector<std::string> check_at_rest();

  // What the workload knows better than anybody.
  void note_stopped_behind(const InstanceId& id) {
    stopped_behind_[id] = Gone{world_.now(), world_.crashes()};
  }
  void note_foreign(const std::string& name) { foreign_.insert(name); }
  void note_unknown(const InstanceId& id) { unknown_[id] = true; }
  void note_reboot() {
    for (auto& [id, runs] : unknown_) runs = false;
  }
  void note_silent_since(std::optional<Timestamp> since) { silent_since_ = since; }

 private:
  struct Rows {
    InventoryRows inventory;
    std::vector<Claim> claims;
    std::vector<Account> accounts;
    std::map<AccountId, std::vector<Segment>> segments;
    std::map<InstanceId, Operation> operations;
    std::map<AccountId, Money> wallet;
    std::map<AccountId, Money> held;
    std::vector<std::string> unproven;
    std::map<SegmentId, Money> postings;  // of segments that changed
  };
  Status load(Tx& tx, Rows& rows);
  template <class... Args>
  void broken(const char* format, const Args&... args);

  void check_cards(const Rows& rows);
  void check_claims(const Rows& rows);
  void check_conditions();
  void check_engine(const Rows& rows);
  void check_unknown();
  void check_money(const Rows& rows);
  void check_operations(const Rows& rows);
  void check_segments(const Rows& rows);
  void check_segment(const Rows& rows, const Segment& segment);
  void check_open(const Rows& rows, const Instance& instance);
  void check_guest(const Rows& rows, const Instance& instance);
  bool is_new(const Segment& segment) const;

  World& world_;
  Paths& paths_;
  std::vector<std::string> broken_;
  std::map<SegmentId, Segment> known_;  // as last checked
  // A new process knows only when its predecessor saw the host, not the instance.
  struct Gone {
    Timestamp at;
    int crashes = 0;
  };
  std::map<InstanceId, Gone> stopped_behind_;
  std::optional<Timestamp> silent_since_;
  std::set<std::string> foreign_;
  std::map<InstanceId, bool> unknown_;  // and whether it has to run
  Money written_off_;
  std::optional<Timestamp> checked_at_;
};

}  // namespace cardhour
