#include "sim/life.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "base/check.h"
#include "base/enum_text.h"
#include "sim/generator.h"
#include "sim/invariants.h"
#include "sim/paths.h"
#include "sim/player.h"
#include "sim/restore.h"
#include "sim/world.h"

namespace cardhour {
namespace {

// Costly looks are taken once in so many lines.
constexpr int kLinesPerLook = 40;
// One seed in so many also lives through a restore, after its own life.
constexpr uint64_t kSeedsPerRestore = 4;

void set_faults(FaultPlan& plan, uint64_t seed) {
  const int scale = static_cast<int>(seed % 4);  // some lives are calm, some are not
  plan.set(Fault::unavailable, 6 * scale);
  plan.set(Fault::failed, 5 * scale);
  plan.set(Fault::lost_request, 3 * scale);
  plan.set(Fault::lost_answer, 4 * scale);
  plan.set(Fault::slow, scale);
  plan.set(Fault::hung, scale / 3);
  plan.set(Fault::crash_before, scale);
  plan.set(Fault::crash_inside, scale);
  plan.set(Fault::crash_after, scale);
}

WorldOptions options_of(const Script& script) {
  WorldOptions options;
  options.seed = script.seed;
  options.policy.minimum_unit = script.unit;
  options.policy.quotas.running = 4;
  return options;
}

void tell(const std::vector<Event>& events) {
  for (const Event& event : events) {
    fmt::print("       {} {} {} by {}: {} {}\n", to_rfc3339(event.at).substr(11, 12),
               event.instance_id ? event.instance_id->text : "", event.kind, event.actor,
               event.reason, event.detail);
  }
}

class Life {
 public:
  Life(const LifeOptions& options, const Script& script, Journal& journal)
      : options_(options),
        journal_(journal),
        world_(options_of(script)),
        invariants_(world_, paths_),
        player_(world_, invariants_, paths_) {}

  World& world() { return world_; }

  void live(Generator& generator) {
    world_.faults().set_listener([this](Fault fault, const std::string& call, int nth) {
      journal_.struck(fmt::format("fault {} {} {}", enum_text(fault), call, nth));
    });
    player_.set_drawer([&](int nth) {
      auto line = generator.meanwhile();
      if (line) journal_.struck(fmt::format("between {} {}", nth, *line));
      return line;
    });
    step(generator.beginning());
    for (int i = 0; i < options_.steps && outcome_.broken.empty(); ++i) step(generator.step());
    world_.faults().set_listener(nullptr);
    player_.set_drawer(nullptr);
    rest();
  }

  void play(const std::vector<std::string>& lines) {
    for (const std::string& line : lines) {
      if (!outcome_.broken.empty()) break;
      journal_.begin_step();
      play_line(line);
    }
    rest();
  }

  Outcome outcome() {
    for (const auto& [name, times] : world_.faults().hits()) paths_.hit("fault: " + name, times);
    if (world_.crashes() > 0) paths_.hit("process restarted", world_.crashes());
    if (world_.taken_over() > 0) paths_.hit("lock taken over", world_.taken_over());
    outcome_.paths = paths_.counts();
    return outcome_;
  }

 private:
  void step(const std::vector<std::string>& lines) {
    journal_.begin_step();
    world_.faults().mark();
    player_.mark();
    for (const std::string& line : lines) {
      if (outcome_.broken.empty()) play_line(line);
    }
  }

  void play_line(const std::string& line) {
    ++outcome_.step;
    journal_.did(line);
    player_.play(line);
    if (options_.verbose) {
      fmt::print("{:4} {} {}{}\n", outcome_.step, to_rfc3339(world_.now()), line,
                 player_.answer().empty() ? "" : "  (" + player_.answer() + ")");
    }
    if (Player::only_arms(line)) return;
    note(world_.broken());
    note(player_.broken());
    note(invariants_.check());
    if (options_.verbose) tell(paths_.recent());
    if (outcome_.step % kLinesPerLook == 0) note(player_.check_shown(Player::Look::at_one));
  }

  // Everything answers, until nothing moves any more; then all must be well.
  void rest() {
    if (!outcome_.broken.empty()) return;
    note(world_.settle_down());
    invariants_.look_at_all();
    note(invariants_.check());
    note(player_.check_shown(Player::Look::thorough));
    note(invariants_.check_at_rest());
    note(player_.check_keys());
  }

  void note(const std::vector<std::string>& broken) {
    if (outcome_.broken.empty()) outcome_.broken = broken;
  }

  const LifeOptions& options_;
  Journal& journal_;
  World world_;
  Paths paths_;
  Invariants invariants_;
  Player player_;
  Outcome outcome_;
};

int memory_file(const char* name) {
  const int fd = ::memfd_create(name, 0);
  CHECK(fd >= 0, "a file in memory");
  return fd;
}

std::string text_of(int fd) {
  std::string text;
  char buffer[65'536];
  off_t at = 0;
  while (true) {
    const ssize_t size = ::pread(fd, buffer, sizeof buffer, at);
    if (size <= 0) return text;
    text.append(buffer, static_cast<size_t>(size));
    at += size;
  }
}

std::string one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

void write_outcome(const Outcome& outcome, int fd) {
  std::string text = fmt::format("step {}\n", outcome.step);
  for (const std::string& what : outcome.broken) text += "broken " + one_line(what) + "\n";
  for (const auto& [name, times] : outcome.paths) text += fmt::format("path {} {}\n", times, name);
  CHECK(::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()), "written");
}

Outcome read_outcome(const std::string& text) {
  Outcome outcome;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("step ")) outcome.step = std::stoi(line.substr(5));
    if (line.starts_with("broken ")) outcome.broken.push_back(line.substr(7));
    if (!line.starts_with("path ")) continue;
    const size_t space = line.find(' ', 5);
    outcome.paths[line.substr(space + 1)] = std::stoi(line.substr(5, space - 5));
  }
  return outcome;
}

}  // namespace

Script script_of_seed(uint64_t seed) {
  Script script;
  script.seed = seed;
  if (seed % 5 == 1) script.unit = minutes(1);
  if (seed % 5 == 2) script.unit = hours(1);
  return script;
}

Outcome live_seed(const LifeOptions& options, uint64_t seed, Journal& journal) {
  Life life(options, script_of_seed(seed), journal);
  if (options.faults) set_faults(life.world().faults(), seed);
  Generator generator(life.world(), seed);
  life.live(generator);
  Outcome outcome = life.outcome();
  if (seed % kSeedsPerRestore == 0 && outcome.broken.empty()) {
    Paths paths;
    outcome.broken = live_through_restore(seed, options.faults, paths);
    for (const auto& [name, times] : paths.counts()) outcome.paths[name] += times;
  }
  return outcome;
}

Outcome live_script(const LifeOptions& options, const Script& script, Journal& journal) {
  Life life(options, script, journal);
  life.play(script.lines);
  return life.outcome();
}

Birth::Birth(const LifeOptions& options, uint64_t seed) : header_(script_of_seed(seed)) {
  begin(options, [&](Journal& journal) { return live_seed(options, seed, journal); });
}

Birth::Birth(const LifeOptions& options, const Script& script) : header_(script) {
  header_.lines.clear();
  begin(options, [&](Journal& journal) { return live_script(options, script, journal); });
}

Birth::~Birth() {
  for (const int fd : {journal_, outcome_, errors_}) ::close(fd);
}

template <class Live>
void Birth::begin(const LifeOptions& options, const Live& live) {
  journal_ = memory_file("journal");
  outcome_ = memory_file("outcome");
  errors_ = memory_file("errors");
  std::fflush(stdout);
  process_ = ::fork();
  CHECK(process_ >= 0, "a process for a life");
  if (process_ > 0) return;
  if (!options.verbose) ::dup2(errors_, STDERR_FILENO);
  ::alarm(static_cast<unsigned>(options.seconds_max));
  Journal journal(journal_);
  write_outcome(live(journal), outcome_);
  std::fflush(stdout);
  ::_exit(0);
}

Outcome Birth::outcome(int status) const {
  Outcome outcome = read_outcome(text_of(outcome_));
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return outcome;
  const std::string errors = one_line(text_of(errors_));
  const bool hung = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
  outcome.broken.push_back(hung ? "it never ended"
                                : "the process died: " + errors.substr(0, 4'000));
  outcome.step = static_cast<int>(script().lines.size());
  return outcome;
}

Script Birth::script() const {
  Script script = header_;
  script.lines = lines_of_journal(text_of(journal_));
  return script;
}

Outcome ended(const Birth& birth) {
  int status = 0;
  CHECK(::waitpid(birth.process(), &status, 0) == birth.process(), "a life ends");
  return birth.outcome(status);
}

}  // namespace cardhour
