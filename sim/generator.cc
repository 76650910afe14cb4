#include "sim/generator.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/enum_text.h"

namespace cardhour {
namespace {

constexpr int kRenters = 4;
constexpr int kCards = 6;
// From which step on a life meets the fault that it is for.
constexpr int kGoalStep = 15;

}  // namespace

Generator::Generator(World& world, uint64_t seed)
    : world_(world), seed_(seed), random_(seed ^ 0x5eed) {}

const std::vector<Generator::Action>& Generator::of_renters() {
  static const std::vector<Action> kActions = {
      {18, &Generator::rent},   {9, &Generator::top_up},   {6, &Generator::again},
      {1, &Generator::misuse},  {14, &Generator::start},   {7, &Generator::switch_shape},
      {5, &Generator::restart}, {11, &Generator::stop},    {5, &Generator::release},
      {5, &Generator::restore}, {3, &Generator::purge},    {2, &Generator::rename},
      {2, &Generator::add_key}, {1, &Generator::drop_key}, {5, &Generator::guest},
      {1, &Generator::price},   {2, &Generator::events},
  };
  return kActions;
}

const std::vector<Generator::Action>& Generator::of_outside() {
  static const std::vector<Action> kActions = {
      {4, &Generator::power_off}, {4, &Generator::vanish},     {2, &Generator::remove},
      {4, &Generator::stray},     {2, &Generator::kill_guest}, {2, &Generator::hang},
      {2, &Generator::sight},     {1, &Generator::dirty},      {2, &Generator::sick},
      {1, &Generator::report},    {1, &Generator::leave},      {1, &Generator::withdraw},
      {1, &Generator::put_back},  {1, &Generator::foreign},    {1, &Generator::namesake},
      {1, &Generator::unknown},   {1, &Generator::port},       {5, &Generator::silence},
      {1, &Generator::driver},    {1, &Generator::boot},       {2, &Generator::reboot},
      {3, &Generator::crash},     {2, &Generator::sleep},      {2, &Generator::wall},
      {1, &Generator::tidy},
  };
  return kActions;
}

const std::vector<Generator::Action>& Generator::of_threads() {
  static const std::vector<Action> kActions = {
      {4, &Generator::work},      {1, &Generator::observe},    {1, &Generator::settle},
      {1, &Generator::reconcile}, {2, &Generator::short_pass},
  };
  return kActions;
}

void Generator::look() {
  const Status read = world_.store().read([&](Tx& tx) -> Status {
    TRY_ASSIGN(instances_, tx.instances().alive());
    return {};
  });
  CHECK(read.has_value(), "instances can be read");
}

// An action that has nothing to act on draws "".
std::string Generator::draw(const std::vector<Action>& actions) {
  look();
  int total = 0;
  for (const Action& action : actions) total += action.weight;
  auto drawn = static_cast<int>(below(static_cast<uint64_t>(total)));
  for (const Action& action : actions) {
    drawn -= action.weight;
    if (drawn < 0) return (this->*action.draw)();
  }
  return "";
}

std::vector<std::string> Generator::beginning() {
  std::vector<std::string> lines;
  for (int i = 0; i < kRenters; ++i) {
    lines.push_back(fmt::format("account renter{} {}", i, below(i == 0 ? 300 : 20'000) + 1));
  }
  lines.push_back(foreign());
  return lines;
}

std::vector<std::string> Generator::step() {
  std::vector<std::string> lines;
  if (++steps_ == kGoalStep) lines.push_back(goal());
  if (delivers_ && chance(15)) lines.push_back(add_key());
  const std::string action = draw(chance(75) ? of_renters() : of_outside());
  if (!action.empty()) lines.push_back(action);
  if (is_silent_ && chance(15)) lines.push_back(silence());
  lines.push_back(pass_time());
  return lines;
}

// Each life is for one fault at one call: rare ones would be met by luck only.
std::string Generator::goal() {
  static const auto kGoals = FaultPlan::possible_hits();
  const std::string& hit = kGoals[seed_ % kGoals.size()];
  const size_t space = hit.find(' ');
  const std::string call = hit.substr(0, space);
  delivers_ = call == "engine.put_notice" || call == "engine.apply_identity";
  return fmt::format("fault {} {} {}", hit.substr(space + 1), call, 1 + below(2));
}

std::optional<std::string> Generator::meanwhile() {
  if (below(1'000) >= 8) return std::nullopt;
  std::string line = draw(chance(60) ? of_renters() : of_threads());
  if (line.empty()) return std::nullopt;
  return line;
}

std::string Generator::pass_time() {
  const uint64_t kind = below(100);
  Duration by = milliseconds(static_cast<int64_t>(below(3'000)));
  if (kind < 45) by = milliseconds(static_cast<int64_t>(below(200)));
  if (kind >= 70) by = seconds(static_cast<int64_t>(below(120)));
  if (kind >= 90) by = minutes(static_cast<int64_t>(below(90)));
  if (kind >= 99) by = hours(static_cast<int64_t>(below(24 * 9)));
  if (is_silent_) by.ms = std::min(by.ms, minutes(20).ms);
  return fmt::format("pass {}", by.ms);
}

std::string Generator::label_of(std::initializer_list<Observed> states) {
  std::vector<const Instance*> found;
  for (const Instance& instance : instances_) {
    const bool is_meant =
        states.size() == 0 || std::ranges::find(states, instance.observed) != states.end();
    if (is_meant) found.push_back(&instance);
  }
  return found.empty() ? "" : found[below(found.size())]->purpose;
}

std::string Generator::any_label() { return label_of({}); }
std::string Generator::renter() { return fmt::format("renter{}", below(kRenters)); }

std::string Generator::shape() {
  if (chance(30)) return "no-gpu 0";
  if (chance(30)) return fmt::format("a100-80g {}", 1 + below(2));
  return fmt::format("4090 {}", 1 + below(3));
}

std::string Generator::key() { return keys_.empty() ? "" : keys_[below(keys_.size())]; }

namespace {
// "verb LABEL rest", or nothing for no label.
std::string about(const std::string& verb, const std::string& label, const std::string& rest = "") {
  return label.empty() ? "" : verb + " " + label + rest;
}
}  // namespace

std::string Generator::rent() {
  const std::string label = fmt::format("i{}", ++names_);
  std::string line = fmt::format("rent {} {} as {}", renter(), shape(), label);
  if (chance(20)) line += fmt::format(" disk {}", 1 + below(1'200));
  if (chance(55)) {
    line += " key";
    keys_.push_back(label);
  }
  return line;
}

std::string Generator::top_up() {
  std::string line = fmt::format("topup {} {}", renter(), 1 + below(chance(50) ? 30 : 1'500));
  if (chance(55)) {
    keys_.push_back(fmt::format("k{}", ++names_));
    line += " key " + keys_.back();
  }
  return line;
}

std::string Generator::again() { return about("again", key()); }
std::string Generator::misuse() { return about("misuse", key()); }

std::string Generator::start() {
  std::string label = label_of({Observed::stopped});
  if (label.empty() || chance(10)) {
    label = label_of({Observed::creating, Observed::starting, Observed::running, Observed::stopping,
                      Observed::in_bin});
  }
  return about("start", label, " " + shape());
}

std::string Generator::switch_shape() {
  for (const Instance& instance : instances_) {
    if (instance.observed != Observed::running || instance.mode != Mode::no_gpu) continue;
    return about("start", instance.purpose, " 4090 1");
  }
  return "";
}

std::string Generator::restart() { return about("restart", label_of({Observed::running})); }

std::string Generator::stop() {
  const std::string label =
      chance(80) ? label_of({Observed::running, Observed::starting, Observed::creating})
                 : label_of({Observed::stopped, Observed::stopping, Observed::releasing});
  return about("stop", label, chance(10) ? " operator" : "");
}

std::string Generator::release() {
  if (chance(25)) return about("release", label_of({Observed::starting, Observed::stopping}));
  return about("release", any_label());
}

std::string Generator::restore() {
  return about("restore", label_of({Observed::in_bin, Observed::releasing}));
}

std::string Generator::purge() {
  return about("purge", any_label(), chance(10) ? " mistyped" : "");
}

std::string Generator::rename() {
  return about("rename", any_label(), fmt::format(" name-{}", below(10)));
}

std::string Generator::add_key() { return fmt::format("add-key {} {}", renter(), ++names_); }
std::string Generator::drop_key() { return "drop-key " + renter(); }

std::string Generator::guest() {
  const uint64_t kind = below(10);
  return about("guest", label_of({Observed::running}),
               kind < 5   ? " poweroff"
               : kind < 9 ? " reboot"
                          : " late");
}

std::string Generator::price() {
  const char* models[] = {"4090", "a100-80g", "no-gpu"};
  return fmt::format("price {} {}", models[below(3)], 50 + below(300));
}

std::string Generator::events() {
  return fmt::format("events {}{}", renter(), chance(30) ? " lost" : "");
}

std::string Generator::power_off() { return about("power-off", label_of({Observed::running})); }

std::string Generator::vanish() {
  return about("vanish", label_of({Observed::running, Observed::starting, Observed::creating}));
}

std::string Generator::remove() {
  return about("remove", label_of({Observed::running, Observed::starting, Observed::stopped,
                                   Observed::in_bin, Observed::stopping}));
}

std::string Generator::stray() {
  return about("stray", label_of({Observed::stopped, Observed::in_bin}));
}

std::string Generator::kill_guest() {
  return about("kill-guest", label_of({Observed::running, Observed::starting, Observed::creating}));
}

std::string Generator::hang() {
  return about("hang", label_of({Observed::running, Observed::starting}),
               chance(70) ? " on" : " off");
}

std::string Generator::sight() {
  const CardSight sights[] = {CardSight::true_view, CardSight::one_missing, CardSight::one_extra};
  return about("sight", label_of({Observed::creating, Observed::starting, Observed::stopped}),
               fmt::format(" {}", enum_text(sights[below(3)])));
}

std::string Generator::dirty() {
  return fmt::format("dirty {} {}", below(kCards), chance(50) ? 20 : 0);
}

std::string Generator::sick() {
  const uint64_t card = below(kCards);
  const bool well = world_.engine().cards().at(card).fault.empty();
  return fmt::format("sick {} {}", card, well && chance(50) ? "on" : "off");
}

std::string Generator::foreign() { return fmt::format("foreign foreign-{}", ++names_); }

std::string Generator::namesake() {
  return about("namesake", label_of({Observed::stopped, Observed::in_bin, Observed::running}));
}

std::string Generator::unknown() { return fmt::format("unknown {}", 1'000'000 + ++names_); }
std::string Generator::port() { return fmt::format("port {}", 22'000 + below(40)); }

std::string Generator::silence() {
  is_silent_ = !is_silent_;
  return is_silent_ ? "silent" : "back";
}

std::string Generator::driver() { return chance(50) ? "driver refuses" : "driver answers"; }

std::string Generator::boot() { return chance(70) ? "boot 1850" : "boot 150000"; }
std::string Generator::reboot() { return chance(50) ? "reboot swapped" : "reboot"; }

std::string Generator::sleep() {
  const Duration by = chance(50) ? seconds(static_cast<int64_t>(below(60)))
                                 : minutes(static_cast<int64_t>(below(200)));
  return fmt::format("sleep {}", by.ms);
}

std::string Generator::wall() {
  const auto by = static_cast<int64_t>(below(chance(70) ? 10'000 : 7'200'000));
  return fmt::format("wall {}", chance(50) ? by : -by);
}

std::string Generator::short_pass() { return fmt::format("pass {}", below(4'000)); }

}  // namespace cardhour
