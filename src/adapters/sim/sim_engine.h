// SimEngine: the Engine in memory. It keeps to what was measured of Incus where that matters
// to whoever drives it (docs of the engine: "must be designed around"):
//   - a kill in the middle of a creation leaves a husk, which find and list do not show;
//   - a start takes time, during which the instance is busy, and a stop sent meanwhile is
//     answered "already stopped" and loses: the instance ends running;
//   - every start has a mark of its own; a shutdown may hang and leave the instance running;
//   - cards are not exclusive, id maps are not checked, a duplicate address fails at start.
// Time is the Clock's: no call sleeps, unless `wait` is given. What runs here outlives the
// control plane, as in production: a simulation keeps the SimEngine and replaces the rest.
// Thread-safe. The hooks in SimEngineOptions must not call the engine (midway) or may (wait).
#pragma once

#include <boost/describe/enum.hpp>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/size.h"
#include "ports/clock.h"
#include "ports/engine.h"
#include "ports/gpu_probe.h"

namespace cardhour {

struct SimHost {
  std::string name = "sim-1";
  int cpu_total = 64;
  int64_t memory_bytes = 256 * kGiB;
  int64_t pool_total_bytes = 4096 * kGiB;
  std::vector<ProbedCard> cards;
};

struct SimEngineOptions {
  Duration start_time = milliseconds(600);   // busy for so long
  Duration boot_time = milliseconds(1'850);  // from the start to the SSH banner
  Duration stop_time;                        // busy for so long after a stop
  std::vector<std::string> images = {"base"};
  // Passes the time in ssh_answers, at most as long as named; none: it does not wait.
  std::function<void(Duration)> wait;
  // Called half-way through create, start and remove; throwing there is a kill of the caller.
  std::function<void(std::string_view call)> midway;
};

// What an observer outside sees of one running instance: for invariants.
struct SimRun {
  InstanceId id;
  std::string run;
  EngineSpec spec;
  EngineShape shape;
  std::string notice;
};

// What goes on inside a running instance, from now on. nullopt: the engine cannot tell.
struct SimActivity {
  std::optional<int64_t> millicores = 0;
  std::optional<int64_t> memory_used_bytes = 100 * kMiB;
  std::optional<int64_t> disk_bytes_per_second = 0;     // read, and written
  std::optional<int64_t> network_bytes_per_second = 0;  // received, and sent
  std::optional<int64_t> sessions = 0;
};

// How visible_cards lies about an instance.
enum class CardSight { true_view, one_missing, one_extra };
BOOST_DESCRIBE_ENUM(CardSight, true_view, one_missing, one_extra)

class SimEngine final : public Engine {
 public:
  SimEngine(Clock& clock, std::vector<SimHost> hosts, SimEngineOptions options = {});

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

  // The world outside. Those that return bool say whether there was something to do.
  bool stop_behind_our_back(const InstanceId& id);
  bool delete_behind_our_back(const InstanceId& id);
  bool poweroff_inside(const InstanceId& id);
  void add_foreign(const std::string& name);  // a running instance of somebody else
  void add_unknown(const InstanceId& id);     // running, tagged as ours, of another database
  void take_port(int port);                   // a foreign process listens
  void reboot_host();                         // every run ends; nothing starts by itself
  void swap_pci_addresses();                  // as a reboot may: the last card's becomes the first
  void set_silent(bool silent);               // answers nothing; what runs goes on
  void kill_guest(const InstanceId& id);      // no banner, no shutdown; until the next start
  void set_shutdown_hangs(const InstanceId& id, bool hangs);
  void set_card_sight(const InstanceId& id, CardSight view);
  void set_boot_time(Duration boot_time);
  void set_activity(const InstanceId& id, const SimActivity& activity);  // until it stops
  // The cards of all hosts, as a driver tells; SimProbe reads them too.
  std::vector<ProbedCard> cards() const;
  void set_memory_used(const CardId& card, int64_t bytes);
  void set_card_fault(const CardId& card, const std::string& fault);
  void remove_card(const CardId& card);  // gone from the bus

  // For invariants: what runs now, finished or not; disks and husks without an instance.
  std::vector<SimRun> running();
  std::vector<std::string> leftovers();
  bool exists(const InstanceId& id) const;  // running or not
  std::vector<std::string> foreign();       // names, each still there and running
  std::vector<std::string> authorized_keys(const InstanceId& id);

 private:
  struct Object {
    EngineSpec spec;
    GuestIdentity identity;
    bool is_finished = false;  // user.cardhour.created; without it: a husk
    bool is_on = false;
    std::optional<Timestamp> start_ends_at;  // a start is in flight
    std::optional<Timestamp> stop_ends_at;   // a stop is in flight
    Timestamp banner_at;
    std::string run;
    EngineShape shape;
    int64_t generation = 0;
    std::string notice;
    bool guest_is_dead = false;
    bool shutdown_hangs = false;
    CardSight view = CardSight::true_view;
    SimActivity activity;
    EngineUsage used;  // up to used_at
    Timestamp used_at;
  };

  Status reachable() const;
  // Brings an object up to the present: a start or stop whose time has come is over.
  void settle(Object& object);
  Object* find_finished(const InstanceId& id);
  Result<Object*> find_running(const InstanceId& id);
  EngineInstance seen(const Object& object) const;
  Status check_startable(const EngineSpec& spec, const EngineShape& shape);
  const ProbedCard* card(const CardId& id) const;
  ProbedCard* card(const CardId& id);
  bool port_in_use(int port, const InstanceId& except);
  void switch_off(Object& object, Duration takes);
  void use(Object& object);
  void midway(std::string_view call);
  void add_extra_card(const Object& object, std::vector<VisibleCard>& cards) const;
  bool banner_is_there(const InstanceId& id);

  Clock& clock_;
  SimEngineOptions options_;
  mutable std::mutex mutex_;
  std::vector<SimHost> hosts_;
  std::map<InstanceId, Object> objects_;
  std::set<InstanceId> data_disks_;
  std::set<std::string> foreign_;
  std::set<int> taken_ports_;
  int64_t runs_ = 0;
  bool is_silent_ = false;
};

}  // namespace cardhour
