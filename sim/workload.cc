#include "sim/workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/check.h"
#include "base/enum_text.h"
#include "domain/ssh_key.h"

namespace cardhour {
namespace {

constexpr int kRenters = 4;

Money money(int64_t cents) { return Money{cents * 10'000}; }

}  // namespace

Workload::Workload(World& world, Invariants& invariants, Paths& paths, uint64_t seed)
    : world_(world), invariants_(invariants), paths_(paths), random_(seed ^ 0x5eed) {
  for (int i = 0; i < kRenters; ++i) {
    renters_.push_back(world_.add_renter(fmt::format("renter-{}", i)));
    world_.outside([&] {
      const Money amount = money(static_cast<int64_t>(below(i == 0 ? 300 : 20'000)) + 1);
      const auto done =
          world_.plane().wallet.top_up(world_.admin(), renters_.back().account, amount, "", {});
      CHECK(done.has_value(), "the first top-up");
    });
  }
  foreign();
  world_.set_between([this](const InstanceId& id) { between(id); });
}

const std::vector<Workload::Action>& Workload::renters() {
  static const std::vector<Action> kActions = {
      {8, "rent", &Workload::rent},
      {10, "rent with key", &Workload::rent_with_key},
      {4, "top up", &Workload::top_up},
      {5, "top up with key", &Workload::top_up_with_key},
      {6, "replay", &Workload::replay},
      {1, "misuse key", &Workload::misuse_key},
      {14, "start", &Workload::start},
      {7, "change shape", &Workload::change_shape},
      {5, "restart", &Workload::restart},
      {11, "stop", &Workload::stop},
      {5, "release", &Workload::release},
      {5, "restore", &Workload::restore},
      {3, "purge", &Workload::purge},
      {2, "rename", &Workload::rename},
      {2, "add ssh key", &Workload::add_ssh_key},
      {1, "delete ssh key", &Workload::delete_ssh_key},
      {3, "guest poweroff", &Workload::guest_poweroff},
      {2, "guest reboot", &Workload::guest_reboot},
      {1, "set price", &Workload::set_price},
  };
  return kActions;
}

const std::vector<Workload::Action>& Workload::outside() {
  static const std::vector<Action> kActions = {
      {4, "poweroff inside", &Workload::poweroff_inside},
      {4, "stop behind our back", &Workload::stop_behind},
      {2, "delete behind our back", &Workload::delete_behind},
      {3, "start behind our back", &Workload::start_behind},
      {2, "kill guest", &Workload::kill_guest},
      {2, "shutdown hangs", &Workload::shutdown_hangs},
      {2, "wrong cards visible", &Workload::wrong_cards},
      {1, "dirty card", &Workload::dirty_card},
      {2, "sick card", &Workload::sick_card},
      {3, "card trouble", &Workload::card_trouble},
      {1, "foreign object", &Workload::foreign},
      {1, "port taken", &Workload::take_port},
      {5, "silence", &Workload::silence},
      {1, "driver refuses", &Workload::driver_refuses},
      {1, "slow boot", &Workload::slow_boot},
      {1, "host reboots", &Workload::reboot_host},
      {3, "process killed", &Workload::kill_process},
      {2, "process hangs", &Workload::hang},
      {3, "faults on or off", &Workload::toggle_faults},
  };
  return kActions;
}

void Workload::draw(const std::vector<Action>& actions) {
  const Status read = world_.store().read([&](Tx& tx) -> Status {
    TRY_ASSIGN(instances_, tx.instances().alive());
    return {};
  });
  CHECK(read.has_value(), "instances can be read");
  int total = 0;
  for (const Action& action : actions) total += action.weight;
  auto drawn = static_cast<int>(below(static_cast<uint64_t>(total)));
  for (const Action& action : actions) {
    drawn -= action.weight;
    if (drawn >= 0) continue;
    trace_ += (trace_.empty() ? "" : "; ") + std::string(action.name);
    (this->*action.act)();
    return;
  }
}

void Workload::step() {
  trace_.clear();
  const bool done = world_.run([&] { draw(chance(75) ? renters() : outside()); });
  if (!done) paths_.hit("crash in a request");
  pass_time();
}

void Workload::pass_time() {
  const uint64_t kind = below(100);
  Duration by = milliseconds(static_cast<int64_t>(below(3'000)));
  if (kind < 45) by = milliseconds(static_cast<int64_t>(below(200)));
  if (kind >= 70) by = seconds(static_cast<int64_t>(below(120)));
  if (kind >= 90) by = minutes(static_cast<int64_t>(below(90)));
  if (kind >= 99) by = hours(static_cast<int64_t>(below(24 * 9)));
  if (is_silent_) {
    by.ms = std::min(by.ms, minutes(20).ms);
    if (chance(15)) silence();
  }
  trace_ += fmt::format("; {} ms pass", by.ms);
  world_.pass(by);
}

// Somebody else does something while an engine call is on its way.
void Workload::between(const InstanceId& busy) {
  if (is_between_ || below(1'000) >= 8) return;
  is_between_ = true;
  const auto version = [&] {
    int64_t value = 0;
    static_cast<void>(world_.store().read([&](Tx& tx) -> Status {
      TRY_ASSIGN(const auto instance, tx.instances().find(busy));
      if (instance) value = instance->version;
      return {};
    }));
    return value;
  };
  const int64_t before = version();
  struct Leave {
    bool& flag;
    ~Leave() { flag = false; }
  } const leave{is_between_};
  trace_ += " [meanwhile";
  draw(renters());
  trace_ += "]";
  if (version() != before) paths_.hit("stale result dropped");
  if (chance(30)) world_.clock().advance(milliseconds(static_cast<int64_t>(below(4'000))));
}

const Instance* Workload::some(std::initializer_list<Observed> states) {
  std::vector<const Instance*> found;
  for (const Instance& instance : instances_) {
    if (std::ranges::find(states, instance.observed) != states.end()) found.push_back(&instance);
  }
  return found.empty() ? nullptr : found[below(found.size())];
}

const Actor& Workload::owner(const Instance& instance) const {
  return *std::ranges::find(renters_, instance.account_id, &Actor::account);
}

ShapeRequest Workload::shape() {
  if (chance(30)) return ShapeRequest{Mode::no_gpu, "", 0};
  if (chance(30)) return ShapeRequest{Mode::on_demand, "a100-80g", 1 + static_cast<int>(below(2))};
  return ShapeRequest{Mode::on_demand, "4090", 1 + static_cast<int>(below(3))};
}

void Workload::answer_of(const Error* error) {
  if (error == nullptr) return;
  paths_.hit("refused: " + std::string(enum_text(error->code)));
  trace_ += " (" + std::string(enum_text(error->code)) + ")";
  if (error->code == ErrorCode::internal) broken_.push_back("internal error: " + error->what.en);
  if (error->what.en.empty() || error->what.zh.empty()) broken_.push_back("an error without text");
}

template <class T>
void Workload::answered(const Result<T>& result) {
  answer_of(result ? nullptr : &result.error());
}
void Workload::answered(const Status& result) { answer_of(result ? nullptr : &result.error()); }

void Workload::rent() {
  RentRequest request;
  request.shape = shape();
  if (chance(20)) request.data_disk_bytes = static_cast<int64_t>(1 + below(1'200)) * kGiB;
  answered(world_.plane().instances.rent(who(), request, {}));
}

void Workload::rent_with_key() {
  const std::string key = fmt::format("rent-{}", ++names_);
  Keyed keyed;
  keyed.is_rent = true;
  keyed.who = static_cast<int>(below(renters_.size()));
  keyed.rent.shape = shape();
  keyed.rent.purpose = key;
  keyed_.emplace(key, keyed);
  ask(key);
}

void Workload::top_up() {
  const Money amount = money(static_cast<int64_t>(below(chance(50) ? 30 : 1'500)) + 1);
  answered(world_.plane().wallet.top_up(world_.admin(), who().account, amount, "", {}));
}

void Workload::top_up_with_key() {
  const std::string key = fmt::format("topup-{}", ++names_);
  Keyed keyed;
  keyed.who = static_cast<int>(below(renters_.size()));
  keyed.amount = money(static_cast<int64_t>(below(500)) + 1);
  keyed_.emplace(key, keyed);
  ask(key);
}

void Workload::ask(const std::string& key) {
  Keyed& keyed = keyed_.at(key);
  const Actor& actor = renters_[static_cast<size_t>(keyed.who)];
  const Idempotency idempotency{key, "body of " + key};
  std::string result;
  if (keyed.is_rent) {
    const auto answer = world_.plane().instances.rent(actor, keyed.rent, idempotency);
    answered(answer);
    if (answer) result = answer->id.text;
  } else {
    const auto answer =
        world_.plane().wallet.top_up(world_.admin(), actor.account, keyed.amount, key, idempotency);
    answered(answer);
    if (answer) result = answer->id.text;
  }
  if (result.empty()) return;
  if (!keyed.result.empty()) paths_.hit("replayed with its key");
  if (!keyed.result.empty() && keyed.result != result) {
    broken_.push_back(fmt::format("key {} gave {} and then {}", key, keyed.result, result));
  }
  keyed.result = result;
}

void Workload::replay() {
  if (keyed_.empty()) return;
  auto keyed = keyed_.begin();
  std::advance(keyed, static_cast<int64_t>(below(keyed_.size())));
  ask(keyed->first);
}

void Workload::misuse_key() {
  for (const auto& [key, keyed] : keyed_) {
    if (keyed.result.empty()) continue;
    const auto answer = world_.plane().wallet.top_up(
        keyed.is_rent ? renters_[static_cast<size_t>(keyed.who)] : world_.admin(),
        renters_[0].account, money(1), "misused", Idempotency{key, "another body"});
    answered(answer);
    if (answer) broken_.push_back("key " + key + " was accepted with another body");
    return;
  }
}

void Workload::start() {
  const Instance* instance = some({Observed::stopped});
  if (instance == nullptr || chance(10)) {
    instance = some({Observed::creating, Observed::starting, Observed::running, Observed::stopping,
                     Observed::in_bin});
  }
  if (instance == nullptr) return;
  answered(world_.plane().instances.start(owner(*instance), instance->id.text, shape(), {}));
}

void Workload::change_shape() {
  for (const Instance& instance : instances_) {
    if (instance.observed != Observed::running || instance.mode != Mode::no_gpu) continue;
    answered(world_.plane().instances.start(owner(instance), instance.id.text,
                                            ShapeRequest{Mode::on_demand, "4090", 1}, {}));
    return;
  }
}

void Workload::restart() {
  const Instance* instance = some({Observed::running});
  if (instance == nullptr) return;
  answered(world_.plane().instances.restart(owner(*instance), instance->id.text));
}

void Workload::stop() {
  const Instance* instance =
      chance(80) ? some({Observed::running, Observed::starting, Observed::creating})
                 : some({Observed::stopped, Observed::stopping, Observed::releasing});
  if (instance == nullptr) return;
  const Actor& by = chance(10) ? world_.admin() : owner(*instance);
  answered(world_.plane().instances.stop(by, instance->id.text));
}

void Workload::release() {
  if (instances_.empty()) return;
  const Instance& instance = instances_[below(instances_.size())];
  answered(world_.plane().instances.release(owner(instance), instance.id.text));
}

void Workload::restore() {
  const Instance* instance = some({Observed::in_bin, Observed::releasing});
  if (instance == nullptr) return;
  answered(world_.plane().instances.restore(owner(*instance), instance->id.text));
}

void Workload::purge() {
  if (instances_.empty()) return;
  const Instance& instance = instances_[below(instances_.size())];
  answered(world_.plane().instances.purge(owner(instance), instance.id.text,
                                          chance(90) ? instance.name : "not its name"));
}

void Workload::rename() {
  if (instances_.empty()) return;
  const Instance& instance = instances_[below(instances_.size())];
  answered(world_.plane().instances.rename(owner(instance), instance.id.text,
                                           fmt::format("name-{}", below(10))));
}

void Workload::add_ssh_key() {
  std::array<uint8_t, 32> seed{};
  for (uint8_t& byte : seed) byte = static_cast<uint8_t>(below(256));
  answered(
      world_.plane().accounts.add_ssh_key(who(), "key", make_host_key(seed, "key").public_line));
}

void Workload::delete_ssh_key() {
  const Actor& actor = who();
  const auto keys = world_.plane().accounts.ssh_keys(actor);
  if (!keys || keys->empty()) return;
  answered(world_.plane().accounts.delete_ssh_key(actor, keys->front().id.text));
}

void Workload::guest_poweroff() {
  const Instance* instance = some({Observed::running});
  if (instance == nullptr) return;
  answered(world_.plane().instances.guest_shutdown(World::guest(instance->id),
                                                   Instances::ShutdownKind::poweroff));
  world_.engine().poweroff_inside(instance->id);
}

void Workload::guest_reboot() {
  const Instance* instance = some({Observed::running});
  if (instance == nullptr) return;
  answered(world_.plane().instances.guest_shutdown(World::guest(instance->id),
                                                   Instances::ShutdownKind::reboot));
  for (const SimRun& run : world_.engine().running()) {
    if (run.id != instance->id) continue;
    if (!world_.engine().poweroff_inside(run.id)) return;
    world_.outside([&] { static_cast<void>(world_.engine().ensure_started(run.spec, run.shape)); });
  }
}

void Workload::set_price() {
  const Money price = money(50 + static_cast<int64_t>(below(300)));
  answered(world_.plane().inventory.set_price(world_.admin(), chance(50) ? "4090" : "a100-80g",
                                              Mode::on_demand, price));
}

void Workload::poweroff_inside() {
  const Instance* instance = some({Observed::running});
  if (instance == nullptr || !world_.engine().poweroff_inside(instance->id)) return;
  invariants_.note_stopped_behind(instance->id);
}

void Workload::stop_behind() {
  const Instance* instance = some({Observed::running, Observed::starting, Observed::creating});
  if (instance == nullptr || !world_.engine().stop_behind_our_back(instance->id)) return;
  invariants_.note_stopped_behind(instance->id);
}

void Workload::delete_behind() {
  const Instance* instance = some({Observed::running, Observed::starting, Observed::stopped,
                                   Observed::in_bin, Observed::stopping});
  if (instance == nullptr || !world_.engine().delete_behind_our_back(instance->id)) return;
  invariants_.note_stopped_behind(instance->id);
}

// Somebody starts what is stopped, without cards.
void Workload::start_behind() {
  const Instance* instance = some({Observed::stopped, Observed::in_bin});
  if (instance == nullptr) return;
  EngineSpec spec;
  spec.id = instance->id;
  spec.account = instance->account_id;
  spec.image = instance->image;
  spec.system_disk_bytes = instance->system_disk_bytes;
  spec.data_disk_bytes = instance->data_disk_bytes;
  spec.ipv4 = instance->ipv4;
  spec.idmap_base = instance->idmap_base;
  spec.ssh_port = instance->ssh_port;
  world_.outside([&] {
    if (world_.engine().ensure_started(spec, EngineShape{})) paths_.hit("started behind our back");
  });
}

void Workload::kill_guest() {
  const Instance* instance = some({Observed::running, Observed::starting, Observed::creating});
  if (instance != nullptr) world_.engine().kill_guest(instance->id);
}

void Workload::shutdown_hangs() {
  const Instance* instance = some({Observed::running, Observed::starting});
  if (instance != nullptr) world_.engine().set_shutdown_hangs(instance->id, chance(70));
}

void Workload::wrong_cards() {
  const Instance* instance = some({Observed::creating, Observed::starting, Observed::stopped});
  if (instance == nullptr) return;
  const CardSight sights[] = {CardSight::true_view, CardSight::one_missing, CardSight::one_extra};
  world_.engine().set_card_sight(instance->id, sights[below(3)]);
}

void Workload::dirty_card() {
  const auto cards = world_.engine().cards();
  world_.engine().set_memory_used(cards[below(cards.size())].uuid, chance(50) ? 20 * kGiB : 0);
}

void Workload::sick_card() {
  const auto cards = world_.engine().cards();
  const ProbedCard& card = cards[below(cards.size())];
  world_.engine().set_card_fault(card.uuid, card.fault.empty() && chance(50) ? "Xid 79" : "");
}

void Workload::foreign() {
  const std::string name = fmt::format("foreign-{}", ++names_);
  world_.engine().add_foreign(name);
  invariants_.note_foreign(name);
}

void Workload::take_port() {
  if (chance(20)) world_.engine().take_port(22'000 + static_cast<int>(below(40)));
}

void Workload::silence() {
  is_silent_ = !is_silent_;
  world_.engine().set_silent(is_silent_);
  invariants_.note_silent_since(is_silent_ ? std::optional(world_.now()) : std::nullopt);
}

void Workload::driver_refuses() { world_.probe().set_refuses(chance(50)); }

void Workload::slow_boot() {
  world_.engine().set_boot_time(chance(70) ? milliseconds(1'850) : seconds(150));
}

void Workload::reboot_host() {
  for (const SimRun& run : world_.engine().running()) invariants_.note_stopped_behind(run.id);
  world_.engine().reboot_host();
}

void Workload::kill_process() { throw Crash{"killed"}; }

void Workload::hang() {
  const Duration by = chance(50) ? seconds(static_cast<int64_t>(below(60)))
                                 : minutes(static_cast<int64_t>(below(200)));
  trace_ += fmt::format(" for {} ms", by.ms);
  world_.sleep(by);
}

void Workload::toggle_faults() { world_.faults().set_active(chance(60)); }

std::vector<std::string> Workload::check_keys() {
  std::vector<std::string> wrong;
  std::map<std::string, int> effects;
  const Status read = world_.store().read([&](Tx& tx) -> Status {
    for (const Actor& renter : renters_) {
      Page page{"", 100};
      while (true) {
        TRY_ASSIGN(const auto rows, tx.ledger().transactions(renter.account, page));
        for (const LedgerTransaction& row : rows) {
          if (row.kind == TransactionKind::topup) ++effects[row.note];
        }
        if (rows.empty()) break;
        page.after = rows.back().id.text;
      }
      page = Page{"", 100};
      while (true) {
        TRY_ASSIGN(const auto rows,
                   tx.instances().page(InstanceFilter{renter.account, true}, page));
        for (const Instance& row : rows) ++effects[row.purpose];
        if (rows.empty()) break;
        page.after = rows.back().id.text;
      }
    }
    return {};
  });
  CHECK(read.has_value(), read ? "" : read.error().what.en);
  for (const auto& [key, keyed] : keyed_) {
    const int times = effects[key];
    if (times > 1 || (times == 0 && !keyed.result.empty())) {
      wrong.push_back(fmt::format("key {} had its effect {} times", key, times));
    }
  }
  return wrong;
}

}  // namespace cardhour
