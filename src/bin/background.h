// The threads that work without being asked, over one control plane:
//   ch-work-N   limits::kOperationWorkers of them carry operations out
//   ch-observe  looks at engine and driver; may hang as long as the engine does
//   ch-measure  telemetry of cards and instances, health, idle, diagnosis; the same
//   ch-loops    settles, reconciles, tidies up
//   ch-backup   copies the database when that is due; may take as long as the copy
// Failures are logged when they begin, when they change and when they end, not every pass.
// Thread-safe.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include "adapters/system/clock.h"
#include "app/control_plane.h"

namespace cardhour {

// Whoever commits a change raises it; whoever waits for changes looks again. Outlives the
// control plane, whose Deps::changed calls it.
class Hint {
 public:
  void raise();
  // The number of raises so far.
  uint64_t seen();
  // Returns when there were more than `seen` raises, after `wait`, or once stopped.
  void wait(uint64_t seen, Duration wait);
  // False once stopped.
  bool sleep(Duration wait);
  void stop();
  bool stopped();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t raises_ = 0;
  bool stopped_ = false;
};

// Logs a failure once for as long as it stays the same. Not thread-safe.
class FailureLog {
 public:
  explicit FailureLog(std::string name) : name_(std::move(name)) {}
  // How long to leave it alone: zero when all is well, else 1 s doubling to 5 s.
  Duration note(const Status& status);

 private:
  std::string name_;
  std::string last_;  // empty: all is well
  int failures_ = 0;
};

class Background {
 public:
  // Starts the threads. `hint`, `plane` and `clock` outlive it.
  Background(ControlPlane& plane, SystemClock& clock, Hint& hint);
  // Finishes the passes and steps in progress.
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

 private:
  struct Task {
    std::string name;
    Duration every;
    std::function<Status()> pass;
  };

  void start(std::string name, std::function<void()> body);
  void run_tasks(const std::vector<Task>& tasks);
  void run_worker();
  bool something_is_due();
  void watch_wall_clock();

  ControlPlane& plane_;
  SystemClock& clock_;
  Hint& hint_;
  // The watch: one worker at a time waits for what is due, and gives it away before it works.
  std::binary_semaphore watch_{1};
  FailureLog watch_failures_{"operations, looking"};  // these two belong to who has the watch
  FailureLog work_failures_{"operations, working"};
  bool told_of_drift_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace cardhour
