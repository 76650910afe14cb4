#include "sim/world.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <utility>

#include "adapters/files/catalog_file.h"
#include "adapters/sql/backup.h"
#include "base/check.h"
#include "base/enum_text.h"

namespace cardhour {
namespace {

// How often a long stretch of time is looked at; a shorter one every observe_interval.
constexpr int64_t kLooksPerPass = 12;
constexpr int kStepsPerTurn = 8;
// More than this many rounds at one instant never end.
constexpr int kRoundsPerInstant = 2'000;

constexpr int kWaitsAtOnce = 2;

// Runs its body when the scope is left, by a crash too.
struct Leave {
  std::function<void()> body;
  ~Leave() { body(); }
};

template <class T>
T must(Result<T> result) {
  CHECK(result.has_value(), result ? "" : result.error().what.en);
  return std::move(*result);
}

void must(const Status& status) { CHECK(status.has_value(), status ? "" : status.error().what.en); }

SimHost host_of(const WorldOptions& options) {
  SimHost host;
  const auto add = [&](const std::string& name, int64_t bytes, int count) {
    for (int i = 0; i < count; ++i) {
      ProbedCard card;
      const int index = static_cast<int>(host.cards.size());
      card.uuid = CardId{fmt::format("GPU-{:08x}-0000-0000-0000-000000000000", index + 1)};
      card.name = "NVIDIA " + name;
      card.pci_address = fmt::format("0000:{:02x}:00.0", index + 1);
      card.index = index;
      card.memory_total_bytes = bytes;
      card.memory_used_bytes = 0;
      card.numa_node = index % 2;
      host.cards.push_back(std::move(card));
    }
  };
  add("GeForce RTX 4090", 24 * kGiB, options.cards_4090);
  add("A100-SXM4-80GB", 80 * kGiB, options.cards_a100);
  return host;
}

std::string catalog_path(const std::string& name) {
  return std::string(CARDHOUR_SOURCE_DIR) + "/catalog/" + name;
}

Catalog load_models() {
  static const Catalog catalog = must(load_catalog(catalog_path("gpu-models.toml")));
  return catalog;
}

const std::vector<Price>& default_prices() {
  static const std::vector<Price> prices =
      must(load_prices(catalog_path("prices.toml"), load_models()));
  return prices;
}

SimEngineOptions engine_options(SimClock& clock, FaultPlan& faults, const WorldOptions& wanted) {
  SimEngineOptions options;
  options.start_time = wanted.engine_start_time;
  options.boot_time = wanted.boot_time;
  const Duration wait_max = wanted.ssh_wait_max;
  options.wait = [&clock, wait_max](Duration by) {
    clock.advance(std::clamp(by, Duration{0}, wait_max));
  };
  options.midway = faults.midway();
  return options;
}

std::string fresh_path(const std::string& what) {
  static std::atomic<int> made = 0;
  const auto name = fmt::format("cardhour-sim-{}-{}-{}.db", ::getpid(), what, ++made);
  return (std::filesystem::temp_directory_path() / name).string();
}

void remove_database(const std::string& path) {
  if (path.empty()) return;
  for (const char* ending : {"", "-wal", "-shm"}) std::filesystem::remove(path + ending);
}

Status find_restless(Tx& tx, std::vector<std::string>& restless) {
  TRY_ASSIGN(const auto forgotten, tx.instances().forgotten());
  for (const InstanceId& id : forgotten) restless.push_back(id.text + " is forgotten");
  TRY_ASSIGN(const auto alive, tx.instances().alive());
  for (const Instance& instance : alive) {
    TRY_ASSIGN(const auto pending, tx.instances().pending_operation(instance.id));
    if (!pending) continue;
    restless.push_back(fmt::format("{} ({}) never ends its {} at step {}, attempt {}: {}",
                                   instance.id.text, enum_text(instance.observed),
                                   enum_text(pending->kind), enum_text(pending->step),
                                   pending->attempt, pending->last_error));
  }
  return {};
}

}  // namespace

// Another thread's doings in the middle of an operation.
class World::BetweenEngine final : public Engine {
 public:
  explicit BetweenEngine(Engine& inner) : inner_(inner) {}

  std::function<void(const InstanceId&)> between;

  Result<std::vector<EngineHost>> hosts() override {
    return amid({}, [&] { return inner_.hosts(); });
  }
  Result<std::vector<EngineInstance>> list() override {
    return amid({}, [&] { return inner_.list(); });
  }
  Result<std::vector<EngineUsage>> usage() override {
    return amid({}, [&] { return inner_.usage(); });
  }
  Result<std::vector<std::string>> images() override {
    return amid({}, [&] { return inner_.images(); });
  }
  Result<bool> port_is_free(int port) override {
    return amid({}, [&] { return inner_.port_is_free(port); });
  }
  Result<std::optional<EngineInstance>> find(const InstanceId& id) override {
    return amid(id, [&] { return inner_.find(id); });
  }
  Result<std::optional<EngineObject>> describe(const InstanceId& id) override {
    return amid(id, [&] { return inner_.describe(id); });
  }
  Status ensure_created(const EngineSpec& spec, const GuestIdentity& identity) override {
    return amid(spec.id, [&] { return inner_.ensure_created(spec, identity); });
  }
  Status ensure_started(const EngineSpec& spec, const EngineShape& shape) override {
    return amid(spec.id, [&] { return inner_.ensure_started(spec, shape); });
  }
  Result<bool> ssh_answers(const EngineSpec& spec, Duration patience) override {
    return amid(spec.id, [&] { return inner_.ssh_answers(spec, patience); });
  }
  Result<std::vector<VisibleCard>> visible_cards(const InstanceId& id) override {
    return amid(id, [&] { return inner_.visible_cards(id); });
  }
  Status apply_identity(const InstanceId& id, const GuestIdentity& identity) override {
    return amid(id, [&] { return inner_.apply_identity(id, identity); });
  }
  Status put_notice(const InstanceId& id, const std::string& json) override {
    return amid(id, [&] { return inner_.put_notice(id, json); });
  }
  Status shut_down(const InstanceId& id, Duration grace) override {
    return amid(id, [&] { return inner_.shut_down(id, grace); });
  }
  Status force_stop(const InstanceId& id) override {
    return amid(id, [&] { return inner_.force_stop(id); });
  }
  Status ensure_removed(const InstanceId& id) override {
    return amid(id, [&] { return inner_.ensure_removed(id); });
  }

 private:
  template <class Call>
  auto amid(InstanceId id, const Call& call) -> decltype(call()) {
    if (between) between(id);
    auto answer = call();
    if (between) between(id);
    return answer;
  }

  Engine& inner_;
};

World::World(const WorldOptions& options)
    : policy_(options.policy),
      catalog_(load_models()),
      entropy_(options.seed),
      faults_(options.seed ^ 0xfa017),
      engine_(clock_, {host_of(options)}, engine_options(clock_, faults_, options)),
      probe_(engine_),
      store_(),
      faulty_store_(store_, faults_),
      faulty_engine_(engine_, faults_),
      between_engine_(std::make_unique<BetweenEngine>(faulty_engine_)),
      looks_are_exact_(options.looks_are_exact),
      series_(options.series),
      observe_every_(policy_.observe_interval) {
  crypto_init();
  faults_.set_wait([this](Duration by) { wait(by); });
  store_.now = must(open_sqlite(":memory:", SqliteOptions{.durable = false}));
  begin();
  outside([&] {
    const auto first = must(plane_->accounts.ensure_first_operator("operator"));
    admin_ =
        Actor{first->account.id, Role::admin, all_scopes(Role::admin), std::nullopt, "operator"};
    must(plane_->inventory.seed_prices(default_prices()));
    must(plane_->observe.pass());
  });
  next_look_ = now() + observe_every_;
}

World::~World() {
  store_.now.reset();
  for (const std::string& path : {backup_, restored_}) remove_database(path);
}

void World::take_backup() {
  if (backup_.empty()) backup_ = fresh_path("backup");
  must(store_.now->backup_to(backup_));
}

void World::restore_backup() {
  CHECK(!backup_.empty(), "a backup was taken");
  const std::string path = fresh_path("restored");
  CHECK(std::filesystem::copy_file(backup_, path), "the backup can be copied");
  must(sql::prepare_restored(path, Restore{now(), "backup", std::nullopt, std::nullopt}));
  plane_.reset();
  store_.now = must(open_sqlite(path, SqliteOptions{.durable = false}));
  remove_database(std::exchange(restored_, path));
  restart();
}

void World::begin() {
  plane_.reset();
  Timestamp known;
  must(store_.now->read([&](Tx& tx) -> Status {
    TRY_ASSIGN(known, newest_instant(tx));
    return {};
  }));
  const Timestamp wall = clock_.now() + wall_is_off_;
  plane_clock_.begin(std::max(wall, known) - clock_.now());
  next_look_ = now();
  next_claim_ = now();
  not_before_ = now();
  const auto deps_on = [this](Store& store) {
    return Deps{.store = store,
                .engine = *between_engine_,
                .clock = plane_clock_,
                .entropy = entropy_,
                .probe = probe_,
                .policy = policy_,
                .catalog = catalog_,
                .network = network_,
                .seal_key = seal_key_,
                .password_cost = PasswordCost::cheap,
                .series = series_};
  };
  plane_ = std::make_unique<ControlPlane>(deps_on(faulty_store_));
  must(Adoptions(deps_on(store_)).begin());
  must(store_.now->write([](Tx& tx) { return tx.instances().unlock_operations(); }));
}

// A call of the engine takes its time, and the other threads go on.
void World::wait(Duration by) {
  if (waiting_ >= kWaitsAtOnce) return clock_.advance(by);
  const std::map<OperationId, std::string> before = locks();
  ++waiting_;
  const Leave leave{[this] { --waiting_; }};
  pass(by);
  const std::map<OperationId, std::string> after = locks();
  for (const auto& [operation, token] : before) {
    const auto found = after.find(operation);
    if (found == after.end() || found->second != token) ++taken_over_;
  }
}

std::map<OperationId, std::string> World::locks() {
  std::map<OperationId, std::string> tokens;
  must(store_.now->read([&](Tx& tx) -> Status {
    TRY_ASSIGN(const auto alive, tx.instances().alive());
    for (const Instance& instance : alive) {
      TRY_ASSIGN(const auto pending, tx.instances().pending_operation(instance.id));
      if (pending && !pending->lock_token.empty()) tokens[pending->id] = pending->lock_token;
    }
    return {};
  }));
  return tokens;
}

void World::restart() {
  ++crashes_;
  begin();
}

void World::lose_secret_key() {
  seal_key_[0] ^= 1;
  restart();
}

Actor World::add_renter(const std::string& login) {
  Actor actor;
  outside([&] {
    const Secret password("correct horse battery " + login);
    const Account account = must(plane_->accounts.create(admin_, login, password, Role::renter));
    actor = Actor{account.id, Role::renter, all_scopes(Role::renter), std::nullopt, login};
  });
  return actor;
}

Actor World::guest(const InstanceId& id) {
  Actor actor;
  actor.instance = id;
  actor.name = id.text;
  return actor;
}

// A crash in a thread is the end of all of them: it passes through the calls that wait.
bool World::run(const std::function<void()>& body) {
  if (depth_ > 0) {
    body();
    return true;
  }
  try {
    ++depth_;
    const Leave leave{[this] { --depth_; }};
    body();
    return true;
  } catch (const Crash&) {
    restart();
    return false;
  }
}

void World::outside(const std::function<void()>& body) {
  auto between = std::move(between_engine_->between);
  between_engine_->between = nullptr;
  faults_.set_paused(true);
  body();
  faults_.set_paused(false);
  between_engine_->between = std::move(between);
}

void World::set_between(std::function<void(const InstanceId&)> between) {
  between_engine_->between = std::move(between);
}

// One worker: some of what is due. Each step may take time, so the loops get their turn.
Status World::work() {
  for (int step = 0; step < kStepsPerTurn; ++step) {
    TRY_ASSIGN(const auto due, plane_->operations.next_due());
    const bool locks = now() >= next_claim_;  // what a lock that expired hides from next_due
    if (!locks && (!due || *due > now())) break;
    TRY_ASSIGN(const bool any, plane_->operations.run_one());
    if (any) continue;
    next_claim_ = now() + minutes(1);
    break;
  }
  return {};
}

// The loop has one thread: while it waits for the engine, nobody looks.
Status World::look() {
  if (now() < next_look_ || is_observing_) return {};
  next_look_ = now() + observe_every_;
  is_observing_ = true;
  const Leave leave{[this] { is_observing_ = false; }};
  static_cast<void>(plane_->observe.pass());  // its failures are news that did not come
  static_cast<void>(plane_->measure.pass());
  static_cast<void>(plane_->idle.pass());
  if (now() < next_round_) return {};
  next_round_ = now() + minutes(1);
  static_cast<void>(plane_->doctor.pass());
  return {};
}

void World::work_one() { static_cast<void>(plane_->operations.run_one()); }

void World::look_now() {
  next_look_ = std::min(next_look_, now());
  static_cast<void>(look());
}

void World::settle_now() { note(plane_->settle.pass()); }
void World::reconcile_now() { note(plane_->reconcile.pass()); }

void World::note(const Status& status) {
  if (status) return;
  if (status.error().code == ErrorCode::internal) broken_.push_back(status.error().what.en);
  not_before_ = now() + seconds(1);
}

void World::act() {
  run([&] { note(work()); });
  run([&] { note(look()); });
  run([&] { note(plane_->settle.pass()); });
  run([&] { note(plane_->reconcile.pass()); });
}

Timestamp World::next_event() {
  // While a look waits for the engine, the next one does too.
  Timestamp next = is_observing_ ? now() + observe_every_ : next_look_;
  must(store_.now->read([&](Tx& tx) -> Status {
    TRY_ASSIGN(const auto operation, tx.instances().next_operation_at());
    if (operation) next = std::min(next, *operation);
    TRY_ASSIGN(const auto due, tx.accounts().due(next, 1));
    if (due.empty()) return {};
    TRY_ASSIGN(const auto account, tx.accounts().find(due.front()));
    next = std::min(next, account->next_settlement_at.value_or(next));
    return {};
  }));
  if (not_before_ > now()) next = std::min(next, not_before_);
  return std::max(next, not_before_);
}

Duration World::between_looks(Duration by) const {
  if (looks_are_exact_) return policy_.observe_interval;
  return std::max(policy_.observe_interval, Duration{by.ms / kLooksPerPass});
}

void World::pass(Duration by) {
  const Timestamp until = now() + by;
  const Duration observe_before = observe_every_;
  observe_every_ = between_looks(by);
  const Leave leave{[&] { observe_every_ = observe_before; }};
  int rounds = 0;
  Timestamp instant = now();
  do {
    act();
    const Timestamp next = next_event();
    if (now() > instant) rounds = 0;
    instant = now();
    if (++rounds > kRoundsPerInstant) broken_.push_back("something is due for ever");
    if (!broken_.empty() || next > until || now() > until) break;
    clock_.advance(std::max(next - now(), Duration{}));
  } while (true);
  if (now() < until) clock_.advance(until - now());
  next_look_ = std::min(next_look_, now() + observe_before);
}

void World::sleep(Duration by) { clock_.advance(by); }

std::vector<std::string> World::settle_down() {
  engine_.set_silent(false);
  probe_.set_refuses(false);
  std::vector<std::string> restless;
  outside([&] {
    for (int round = 0; round < 40 && (round < 2 || !restless.empty()); ++round) {
      pass(seconds(60));
      restless.clear();
      must(store_.now->read([&](Tx& tx) { return find_restless(tx, restless); }));
    }
  });
  return restless;
}

}  // namespace cardhour
