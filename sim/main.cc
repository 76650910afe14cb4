// cardhour-sim: lives of the whole product, one a seed, with faults. Prints what broke, where,
// and which paths the lives went; exit status 1 when anything broke.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <optional>

#include "sim/invariants.h"
#include "sim/paths.h"
#include "sim/restore.h"
#include "sim/workload.h"
#include "sim/world.h"

namespace cardhour {
namespace {

struct Options {
  uint64_t first_seed = 1;
  int seeds = 100;
  int steps = 300;
  int minutes = 0;  // above 0: as many seeds as fit
  bool faults = true;
  bool verbose = false;
};

// Where the simulation is, for the handler that speaks when a CHECK aborts.
struct Place {
  volatile uint64_t seed = 0;
  volatile int step = 0;
};
Place& place() {
  static Place there;
  return there;
}

void on_abort(int) {
  char line[96];
  const int size = snprintf(line, sizeof line, "aborted in seed %llu, step %d\n",
                            static_cast<unsigned long long>(place().seed), place().step);
  static_cast<void>(!write(STDERR_FILENO, line, static_cast<size_t>(size)));
}

void set_faults(FaultPlan& plan, uint64_t seed) {
  const int scale = static_cast<int>(seed % 4);  // some lives are calm, some are not
  plan.set(Fault::unavailable, 6 * scale);
  plan.set(Fault::failed, 5 * scale);
  plan.set(Fault::lost_request, 3 * scale);
  plan.set(Fault::lost_answer, 4 * scale);
  plan.set(Fault::crash_before, scale);
  plan.set(Fault::crash_inside, scale);
  plan.set(Fault::crash_after, scale);
}

Policy policy_of(uint64_t seed) {
  Policy policy;
  if (seed % 5 == 1) policy.minimum_unit = minutes(1);
  if (seed % 5 == 2) policy.minimum_unit = hours(1);
  policy.quotas.running = 6;
  return policy;
}

void tell(const std::vector<Event>& events) {
  for (const Event& event : events) {
    fmt::print("       {} {} {} by {}: {} {}\n", to_rfc3339(event.at).substr(11, 12),
               event.instance_id ? event.instance_id->text : "", event.kind, event.actor,
               event.reason, event.detail);
  }
}

struct Life {
  int step = 0;
  std::vector<std::string> broken;
};

Life live(const Options& options, uint64_t seed, Paths& paths) {
  World world(WorldOptions{.seed = seed, .policy = policy_of(seed)});
  if (options.faults) set_faults(world.faults(), seed);
  Invariants invariants(world, paths);
  Workload workload(world, invariants, paths, seed);
  Life life;
  const auto is_broken = [&](std::vector<std::string> broken) {
    if (life.broken.empty()) life.broken = std::move(broken);
    return !life.broken.empty();
  };
  for (life.step = 1; life.step <= options.steps; ++life.step) {
    place().step = life.step;
    workload.step();
    if (options.verbose) {
      fmt::print("{:4} {} {}\n", life.step, to_rfc3339(world.now()), workload.trace());
    }
    const bool broke = is_broken(world.broken()) || is_broken(invariants.check());
    if (options.verbose) tell(paths.recent());
    if (broke) break;
    if (is_broken(workload.broken())) break;
    if (life.step % 20 == 0 && is_broken(invariants.check_bills())) break;
  }
  if (life.broken.empty()) {
    is_broken(world.settle_down());
    invariants.look_at_all();
    is_broken(invariants.check());
    is_broken(invariants.check_bills());
    is_broken(invariants.check_at_rest());
    is_broken(workload.check_keys());
  }
  for (const auto& [name, times] : world.faults().hits()) paths.hit("fault: " + name, times);
  paths.hit("process restarted", world.crashes());
  return life;
}

int simulate(const Options& options) {
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] {
    const auto since = std::chrono::steady_clock::now() - start;
    return std::chrono::duration<double>(since).count();
  };
  Paths paths;
  int passed = 0;
  int failed = 0;
  for (int i = 0; options.minutes > 0 ? elapsed() < options.minutes * 60 : i < options.seeds; ++i) {
    const uint64_t seed = options.first_seed + static_cast<uint64_t>(i);
    place().seed = seed;
    Paths of_life;
    Life life = live(options, seed, of_life);
    if (life.broken.empty()) {
      life.broken = live_through_restore(seed, options.faults, of_life);
    }
    paths.add(of_life);
    (life.broken.empty() ? passed : failed) += 1;
    for (const std::string& what : life.broken) {
      fmt::print("seed {} step {}: {}\n", seed, life.step, what);
    }
  }
  fmt::print("\npaths:\n");
  for (const auto& [name, times] : paths.counts()) fmt::print("{:9}  {}\n", times, name);
  fmt::print("\n{} seeds of {} steps in {:.1f} s ({:.0f} a minute)\n", passed + failed,
             options.steps, elapsed(), (passed + failed) / elapsed() * 60);
  fmt::print("{} passed, {} failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace cardhour

int main(int argc, char** argv) {
  setvbuf(stdout, nullptr, _IOLBF, 0);
  cardhour::Options options;
  CLI::App app("Lives of the whole product from seeds");
  app.add_option("--seeds", options.seeds, "how many");
  std::optional<uint64_t> seed;
  app.add_option("--seed", seed, "only this one");
  app.add_option("--first", options.first_seed, "the first seed");
  app.add_option("--steps", options.steps, "steps of each");
  app.add_option("--minutes", options.minutes, "as many seeds as fit");
  std::string faults = "on";
  app.add_option("--faults", faults, "on or off")->check(CLI::IsMember({"on", "off"}));
  app.add_flag("--verbose", options.verbose, "tell every step");
  CLI11_PARSE(app, argc, argv);
  options.faults = faults == "on";
  if (seed) {
    options.first_seed = *seed;
    options.seeds = 1;
  }
  struct sigaction action = {};
  action.sa_handler = cardhour::on_abort;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGABRT, &action, nullptr);
  return cardhour::simulate(options);
}
