// World: the whole product in one thread, from a seed. The real use cases and loops run on the
// simulated clock, entropy, engine and driver, and on the real SQL store in memory. A Crash
// (adapters/sim/faults.h) throws the control plane away; a new one takes over the same
// database and the same engine, as after a kill of the process. Not thread-safe.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "adapters/sim/faults.h"
#include "adapters/sim/sim_clock.h"
#include "adapters/sim/sim_engine.h"
#include "adapters/sim/sim_entropy.h"
#include "adapters/sim/sim_probe.h"
#include "adapters/sql/sql_store.h"
#include "app/control_plane.h"

namespace cardhour {

struct WorldOptions {
  uint64_t seed = 1;
  Policy policy;
  int cards_4090 = 4;
  int cards_a100 = 2;
  // Passes the time while the engine is asked for an SSH banner.
  Duration ssh_wait_max = milliseconds(500);
  Duration engine_start_time = milliseconds(600);
  Duration boot_time = milliseconds(1'850);
  // Looks every observe_interval, however long a stretch of time is; costs time.
  bool looks_are_exact = false;
  SeriesStore* series = nullptr;  // outlives the world
};

class World {
 public:
  explicit World(const WorldOptions& options);
  ~World();

  ControlPlane& plane() { return *plane_; }
  SimEngine& engine() { return engine_; }
  SimProbe& probe() { return probe_; }
  FaultPlan& faults() { return faults_; }
  Policy& policy() { return policy_; }
  // The database without faults, for whoever looks from outside.
  SqlStore& store() { return *store_.now; }
  Timestamp now() { return plane_clock_.now(); }

  const Actor& admin() const { return admin_; }
  // Makes an account; its actor may do all that a renter may.
  Actor add_renter(const std::string& login);
  static Actor guest(const InstanceId& id);

  // Runs code of the control plane. False: it crashed, and a new one is there.
  bool run(const std::function<void()>& body);
  // What goes on outside, during which no fault strikes.
  void outside(const std::function<void()>& body);
  // The process is killed and started again.
  void restart();
  // Copies the database; and puts the copy back in its place, as `admin restore` does, with the
  // process down in between. The engine stays as it is.
  void take_backup();
  void restore_backup();
  // It is started again with another secret.key than the one that sealed the secrets.
  void lose_secret_key();
  // Lets time go by as in production: workers, loops and settlements act when they are due.
  // Within a call of the control plane it is what the other threads do meanwhile.
  void pass(Duration by);
  // The process is down, or hangs, for so long.
  void sleep(Duration by);
  // Somebody sets the machine's clock: the present process goes by the monotonic one, the next
  // one begins there, but never before what the database knows.
  void step_wall_clock(Duration by) { wall_is_off_ = wall_is_off_ + by; }
  // Another thread of the control plane: one step of one operation, or a loop's pass.
  void work_one();
  void look_now();
  void settle_now();
  void reconcile_now();
  // Work whose operation was another worker's by then, its lock having expired.
  int taken_over() const { return taken_over_; }
  // No faults, everything answers, until nothing moves any more. Returns what never rests.
  std::vector<std::string> settle_down();

  // Called before and after each engine call; may do anything that another thread could do in
  // that time. The id is empty when the call is about no instance.
  void set_between(std::function<void(const InstanceId&)> between);
  int crashes() const { return crashes_; }
  // What never ended: work that is due for ever.
  const std::vector<std::string>& broken() const { return broken_; }

 private:
  class BetweenEngine;
  // Time since this process began is the machine's; where it began is the wall clock's.
  class PlaneClock final : public Clock {
   public:
    explicit PlaneClock(SimClock& machine) : machine_(machine) {}
    Timestamp now() override { return machine_.now() + off_; }
    void begin(Duration off) { off_ = off; }
    Duration off() const { return off_; }

   private:
    SimClock& machine_;
    Duration off_;
  };

  void begin();
  void wait(Duration by);
  std::map<OperationId, std::string> locks();
  void act();
  Status work();
  Status look();
  void note(const Status& status);
  Timestamp next_event();
  Duration between_looks(Duration by) const;

  Policy policy_;
  Catalog catalog_;
  NetworkPlan network_;
  SealKey seal_key_{1, 2, 3};
  SimClock clock_;  // the machine's and the engine's
  PlaneClock plane_clock_{clock_};
  Duration wall_is_off_;
  SimEntropy entropy_;
  FaultPlan faults_;
  SimEngine engine_;
  SimProbe probe_;
  // The database of the moment: a restore puts another in its place.
  struct CurrentStore final : Store {
    Status write(const std::function<Status(Tx&)>& body) override { return now->write(body); }
    Status read(const std::function<Status(Tx&)>& body) override { return now->read(body); }
    std::unique_ptr<SqlStore> now;
  };
  CurrentStore store_;
  std::string backup_;    // path; empty: none was taken
  std::string restored_;  // path of the present database; empty: it is in memory
  FaultyStore faulty_store_;
  FaultyEngine faulty_engine_;
  std::unique_ptr<BetweenEngine> between_engine_;
  std::unique_ptr<ControlPlane> plane_;
  Actor admin_;

  bool looks_are_exact_;
  SeriesStore* series_;
  Duration observe_every_;
  Timestamp next_look_;
  Timestamp next_claim_;
  Timestamp next_round_;  // of the doctor
  Timestamp not_before_;  // after an error nothing is tried for a moment
  int depth_ = 0;         // calls of the control plane that are under way, one in another
  int waiting_ = 0;       // stretches of time within calls
  bool is_observing_ = false;
  int taken_over_ = 0;
  int crashes_ = 0;
  std::vector<std::string> broken_;
};

}  // namespace cardhour
