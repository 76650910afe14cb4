// Player: plays the lines of a script on the world. Renters behave as clients on a bad network:
// what was not answered is asked again with the same Idempotency-Key. A line about something that
// is not there does nothing, so that a script with lines left out still plays.
// Instances and keys go by the label that their rent gave them. Not thread-safe.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/client.h"
#include "sim/invariants.h"
#include "sim/paths.h"
#include "sim/script.h"
#include "sim/world.h"

namespace cardhour {

class Player {
 public:
  Player(World& world, Invariants& invariants, Paths& paths);
  ~Player();

  // Plays one line.
  void play(const std::string& line);
  // True for lines that only prepare what strikes later.
  static bool only_arms(const std::string& line);
  // Every word that a line may begin with, as paths name it.
  static std::vector<std::string> verbs();

  // Another thread's line at the present moment, or none. `nth` counts moments since mark().
  using Drawer = std::function<std::optional<std::string>(int nth)>;
  void set_drawer(Drawer drawer) { drawer_ = std::move(drawer); }
  void mark() { marked_at_ = moments_; }

  // What the answers themselves showed to be wrong.
  const std::vector<std::string>& broken() const { return broken_; }
  // What renters are shown is what is booked; `thorough`: all of them, and every event arrived.
  enum class Look { at_one, thorough };
  std::vector<std::string> check_shown(Look look);
  // Keys that were used: each had its effect once, at most; what was confirmed exactly once.
  std::vector<std::string> check_keys();
  // How the last line was answered: "" or an error's word.
  const std::string& answer() const { return answer_; }

 private:
  struct Renter {
    Actor actor;
    std::unique_ptr<Client> client;
  };
  struct Keyed {
    std::string renter;
    std::optional<RentRequest> rent;  // else a top-up
    Money amount;
    std::string result;  // the id, once it was answered
    std::optional<Timestamp> first_asked_at;
  };
  struct Armed {
    int moment;
    std::string line;
  };
  using Act = void (Player::*)(const Words&);
  static const std::map<std::string, Act>& acts();

  void act(const std::string& line);
  void meanwhile(const InstanceId& busy);
  int64_t version_of(const InstanceId& id);
  std::optional<Instance> instance(const Words& words);
  Renter* renter(const std::string& name);
  Renter* owner(const Instance& instance);
  void answer_of(const Error* error);
  template <class T>
  void answered(const Result<T>& result) {
    answer_of(result ? nullptr : &result.error());
  }
  void answered(const Status& result) { answer_of(result ? nullptr : &result.error()); }
  void ask(const std::string& key);
  void compare(const wire::QuoteView& quote, const Result<Instance>& rented);
  int struck() const;

  void account(const Words& words);
  void rent(const Words& words);
  void top_up(const Words& words);
  void again(const Words& words);
  void misuse(const Words& words);
  void start(const Words& words);
  void restart(const Words& words);
  void stop(const Words& words);
  void release(const Words& words);
  void restore(const Words& words);
  void purge(const Words& words);
  void rename(const Words& words);
  void add_key(const Words& words);
  void drop_key(const Words& words);
  void guest(const Words& words);
  void price(const Words& words);
  void events(const Words& words);

  void power_off(const Words& words);
  void vanish(const Words& words);
  void remove(const Words& words);
  void stray(const Words& words);
  void kill_guest(const Words& words);
  void hang(const Words& words);
  void sight(const Words& words);
  void dirty(const Words& words);
  void sick(const Words& words);
  void report(const Words& words);
  void leave(const Words& words);
  void withdraw(const Words& words);
  void put_back(const Words& words);
  void foreign(const Words& words);
  void namesake(const Words& words);
  void unknown(const Words& words);
  void port(const Words& words);
  void silent(const Words& words);
  void back(const Words& words);
  void driver(const Words& words);
  void boot(const Words& words);
  void reboot(const Words& words);
  void crash(const Words& words);
  void sleep(const Words& words);
  void wall(const Words& words);
  void pass(const Words& words);
  void work(const Words& words);
  void observe(const Words& words);
  void settle(const Words& words);
  void reconcile(const Words& words);
  void tidy(const Words& words);
  void fault(const Words& words);
  void between(const Words& words);

  World& world_;
  Invariants& invariants_;
  Paths& paths_;
  std::map<std::string, Renter> renters_;
  std::map<std::string, InstanceId> labels_;
  std::map<std::string, Keyed> keyed_;
  std::set<std::string> seen_keys_;  // of SSH
  std::vector<Armed> armed_;
  Drawer drawer_;
  int moments_ = 0;
  int marked_at_ = 0;
  int meanwhiles_ = 0;
  int looks_ = 0;
  bool is_meanwhile_ = false;
  std::string answer_;
  std::vector<std::string> broken_;
};

}  // namespace cardhour
