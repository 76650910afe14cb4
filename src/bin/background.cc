#include "bin/background.h"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <chrono>

#include "base/limits.h"
#include "bin/log.h"

namespace cardhour {
namespace {

// Nothing is waited for longer: what no hint told of (an expired lock) is found by then.
constexpr Duration kLongestWatch = seconds(5);

std::chrono::milliseconds chrono_of(Duration duration) {
  return std::chrono::milliseconds(std::max<int64_t>(duration.ms, 0));
}

// For waits between passes, which a step of the wall clock must not stretch.
Timestamp steady_now() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return Timestamp{std::chrono::duration_cast<std::chrono::milliseconds>(since).count()};
}

}  // namespace

void Hint::raise() {
  const std::lock_guard lock(mutex_);
  ++raises_;
  changed_.notify_all();
}

uint64_t Hint::seen() {
  const std::lock_guard lock(mutex_);
  return raises_;
}

void Hint::wait(uint64_t seen, Duration wait) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, chrono_of(wait), [&] { return stopped_ || raises_ != seen; });
}

bool Hint::sleep(Duration wait) {
  std::unique_lock lock(mutex_);
  return !changed_.wait_for(lock, chrono_of(wait), [&] { return stopped_; });
}

void Hint::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  changed_.notify_all();
}

bool Hint::stopped() {
  const std::lock_guard lock(mutex_);
  return stopped_;
}

Duration FailureLog::note(const Status& status) {
  if (status) {
    if (!last_.empty()) log::info(name_ + ": works again");
    last_.clear();
    failures_ = 0;
    return {};
  }
  const std::string now = log::text_of(status.error());
  if (now != last_) log::error(name_ + ": " + now);
  last_ = now;
  const Duration wait = seconds(int64_t{1} << std::min(failures_, 3));
  ++failures_;
  return std::min(wait, seconds(5));
}

Background::Background(ControlPlane& plane, SystemClock& clock, Hint& hint)
    : plane_(plane), clock_(clock), hint_(hint) {
  const Duration observe_every = plane.deps.policy.observe_interval;
  start("ch-observe", [this, observe_every] {
    run_tasks({{"observe", observe_every, [this] { return plane_.observe.pass(); }}});
  });
  start("ch-measure", [this, observe_every] {
    run_tasks({{"measure", observe_every, [this] { return plane_.measure.pass(); }},
               {"idle", observe_every, [this] { return plane_.idle.pass(); }},
               {"doctor", minutes(1), [this] { return plane_.doctor.pass(); }},
               {"forget curves", hours(1), [this] { return plane_.measure.tidy(); }}});
  });
  start("ch-loops", [this] {
    run_tasks({{"settle", milliseconds(250), [this] { return plane_.settle.pass(); }},
               {"reconcile", seconds(2), [this] { return plane_.reconcile.pass(); }},
               {"terminals", seconds(1), [this] { return plane_.terminals.sweep(); }},
               {"tidy", hours(1), [this] { return plane_.reconcile.tidy(); }},
               {"clock", minutes(1), [this] {
                  watch_wall_clock();
                  return Status();
                }}});
  });
  start("ch-backup", [this] {
    run_tasks({{"backup", minutes(1), [this] { return plane_.backups.pass(); }}});
  });
  for (int i = 1; i <= limits::kOperationWorkers; ++i) {
    start(fmt::format("ch-work-{}", i), [this] { run_worker(); });
  }
}

Background::~Background() {
  hint_.stop();
  for (std::thread& thread : threads_) thread.join();
}

void Background::start(std::string name, std::function<void()> body) {
  threads_.emplace_back([name = std::move(name), body = std::move(body)] {
    pthread_setname_np(pthread_self(), name.c_str());
    body();
  });
}

void Background::run_tasks(const std::vector<Task>& tasks) {
  struct Due {
    const Task* task;
    FailureLog failures;
    Timestamp at;
  };
  std::vector<Due> all;
  for (const Task& task : tasks) all.push_back({&task, FailureLog(task.name), steady_now()});
  do {
    for (Due& due : all) {
      if (hint_.stopped()) return;
      if (steady_now() < due.at) continue;
      const Duration penalty = due.failures.note(due.task->pass());
      due.at = steady_now() + std::max(due.task->every, penalty);
    }
    const auto next = std::min_element(all.begin(), all.end(),
                                       [](const Due& a, const Due& b) { return a.at < b.at; });
    if (!hint_.sleep(next->at - steady_now())) return;
  } while (true);
}

void Background::run_worker() {
  while (!hint_.stopped()) {
    watch_.acquire();
    const bool due = something_is_due();
    watch_.release();
    if (!due) continue;
    const auto did = plane_.operations.run_one();
    const Status status = did ? Status() : Status(fail(did.error()));
    watch_.acquire();
    const Duration penalty = work_failures_.note(status);
    watch_.release();
    hint_.sleep(penalty);
  }
}

bool Background::something_is_due() {
  const uint64_t seen = hint_.seen();
  const auto next = plane_.operations.next_due();
  const Duration penalty = watch_failures_.note(next ? Status() : Status(fail(next.error())));
  if (!next) {
    hint_.sleep(penalty);
    return false;
  }
  const Timestamp now = clock_.now();
  if (*next && **next <= now) return true;
  hint_.wait(seen, *next ? std::min(**next - now, kLongestWatch) : kLongestWatch);
  return false;
}

void Background::watch_wall_clock() {
  const Duration drift = clock_.drift();
  const bool far = std::max(drift.ms, -drift.ms) > seconds(5).ms;
  if (far && !told_of_drift_) {
    log::warn(
        fmt::format("the machine's clock was set: it differs by {} s from the time that this "
                    "server goes by; a restart takes the new time over",
                    drift.ms / 1000));
  }
  told_of_drift_ = far;
}

}  // namespace cardhour
