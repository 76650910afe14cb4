// cardhour-sim: lives of the whole product, one a seed, with faults. Prints what broke, the
// shortest script that breaks so, and which paths the lives went; exit status 1 when anything
// broke, or with --gate when a registered path was not gone. sim/README.md.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>

#include "base/crypto.h"
#include "sim/life.h"
#include "sim/registry.h"
#include "sim/shrink.h"

namespace cardhour {
namespace {

struct Options {
  LifeOptions life;
  uint64_t first_seed = 1;
  int seeds = 100;
  int minutes = 0;  // above 0: as many seeds as fit
  int jobs = 0;     // 0: one a processor
  int shrink_seconds = 60;
  bool gate = false;
  std::string script;
};

class Stopwatch {
 public:
  double seconds() const {
    const auto since = std::chrono::steady_clock::now() - start_;
    return std::chrono::duration<double>(since).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

std::string kind_of(const Outcome& outcome) { return kind_of_failure(outcome.broken.at(0)); }

// The shortest script found that fails in the same way, or that it does not fail again.
void print_short(const Options& options, const Script& script, const Outcome& outcome) {
  const auto fails = [&](const std::vector<std::string>& lines) {
    Script shorter = script;
    shorter.lines = lines;
    LifeOptions quiet = options.life;
    quiet.verbose = false;
    const Outcome again = ended(Birth(quiet, shorter));
    return !again.broken.empty() && kind_of(again) == kind_of(outcome);
  };
  const Stopwatch watch;
  if (!fails(script.lines)) {
    fmt::print("  its script of {} lines does not fail so; replay it with its seed\n",
               script.lines.size());
    return;
  }
  Script shorter = script;
  shorter.lines =
      shrink(script.lines, fails, [&] { return watch.seconds() < options.shrink_seconds; });
  fmt::print("  the shortest script found ({} lines of {}, {:.0f} s); play it with --script FILE\n",
             shorter.lines.size(), script.lines.size(), watch.seconds());
  std::istringstream lines(to_text(shorter));
  for (std::string line; std::getline(lines, line);) fmt::print("    {}\n", line);
}

class Run {
 public:
  explicit Run(const Options& options) : options_(options) {}

  int run() {
    const int jobs =
        options_.jobs > 0 ? options_.jobs : static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
    int begun = 0;
    const auto more = [&] {
      return options_.minutes > 0 ? watch_.seconds() < options_.minutes * 60
                                  : begun < options_.seeds;
    };
    while (more() || !alive_.empty()) {
      while (more() && static_cast<int>(alive_.size()) < jobs) {
        const uint64_t seed = options_.first_seed + static_cast<uint64_t>(begun++);
        auto birth = std::make_unique<Birth>(options_.life, seed);
        const int process = birth->process();
        alive_.emplace(process, Alive{seed, std::move(birth)});
      }
      bury();
    }
    return report();
  }

 private:
  struct Alive {
    uint64_t seed = 0;
    std::unique_ptr<Birth> birth;
  };

  void bury() {
    int status = 0;
    const auto found = alive_.find(::waitpid(-1, &status, 0));
    if (found == alive_.end()) return;
    const Alive life = std::move(found->second);
    alive_.erase(found);
    const Outcome outcome = life.birth->outcome(status);
    for (const auto& [name, times] : outcome.paths) paths_[name] += times;
    (outcome.broken.empty() ? passed_ : failed_) += 1;
    for (const std::string& what : outcome.broken) {
      fmt::print("seed {} line {}: {}\n", life.seed, outcome.step, what);
    }
    // One of a kind is made short; there may be many.
    if (outcome.broken.empty() || !kinds_.insert(kind_of(outcome)).second) return;
    print_short(options_, life.birth->script(), outcome);
  }

  int report() {
    fmt::print("\npaths:\n");
    for (const auto& [name, times] : paths_) fmt::print("{:9}  {}\n", times, name);
    int missing = 0;
    const auto registered = registered_paths();
    for (const std::string& path : registered) {
      if (paths_.contains(path)) continue;
      if (options_.gate) fmt::print("never gone: {}\n", path);
      ++missing;
    }
    const int seeds = passed_ + failed_;
    fmt::print("\n{} seeds of {} steps in {:.1f} s ({:.0f} a minute); {} of {} registered paths\n",
               seeds, options_.life.steps, watch_.seconds(), seeds / watch_.seconds() * 60,
               registered.size() - static_cast<size_t>(missing), registered.size());
    if (options_.gate) (missing == 0 ? passed_ : failed_) += 1;
    fmt::print("{} passed, {} failed\n", passed_, failed_);
    return failed_ == 0 ? 0 : 1;
  }

  const Options& options_;
  Stopwatch watch_;
  std::map<int, Alive> alive_;
  std::map<std::string, int> paths_;
  std::set<std::string> kinds_;
  int passed_ = 0;
  int failed_ = 0;
};

int play(const Options& options) {
  std::ifstream stream(options.script);
  std::ostringstream text;
  text << stream.rdbuf();
  const auto script = parse_script(text.str());
  if (!script) {
    fmt::print(stderr, "{}: {}\n", options.script, script.error().what.en);
    return 2;
  }
  const Outcome outcome = ended(Birth(options.life, *script));
  for (const std::string& what : outcome.broken) fmt::print("line {}: {}\n", outcome.step, what);
  fmt::print("{} passed, {} failed\n", outcome.broken.empty() ? 1 : 0,
             outcome.broken.empty() ? 0 : 1);
  return outcome.broken.empty() ? 0 : 1;
}

// The script of a seed, for whoever wants to look at it or change it.
int print_script(const Options& options) {
  const Birth birth(options.life, options.first_seed);
  static_cast<void>(ended(birth));
  fmt::print("{}", to_text(birth.script()));
  return 0;
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
  app.add_option("--steps", options.life.steps, "steps of each");
  app.add_option("--minutes", options.minutes, "as many seeds as fit");
  app.add_option("--jobs", options.jobs, "lives side by side; 0: one a processor");
  app.add_option("--shrink-seconds", options.shrink_seconds, "for making a failure short");
  std::string faults = "on";
  app.add_option("--faults", faults, "on or off")->check(CLI::IsMember({"on", "off"}));
  app.add_flag("--gate", options.gate, "fail when a registered path was not gone");
  app.add_flag("--verbose", options.life.verbose, "tell every line");
  app.add_option("--script", options.script, "play this file");
  bool script_only = false;
  app.add_flag("--print-script", script_only, "of --seed: print its script");
  CLI11_PARSE(app, argc, argv);
  options.life.faults = faults == "on";
  if (seed) {
    options.first_seed = *seed;
    options.seeds = 1;
  }
  cardhour::crypto_init();
  if (!options.script.empty()) return cardhour::play(options);
  if (script_only) return cardhour::print_script(options);
  return cardhour::Run(options).run();
}
