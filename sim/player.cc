#include "sim/player.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/enum_text.h"
#include "domain/ssh_key.h"

namespace cardhour {
namespace {

Money cents(const std::string& text) { return Money{std::stoll(text) * 10'000}; }

Duration millis(const std::string& text) { return Duration{std::stoll(text)}; }

bool has(const Words& words, const std::string& word) {
  return std::ranges::find(words, word) != words.end();
}

std::string after(const Words& words, const std::string& word) {
  const auto found = std::ranges::find(words, word);
  return found == words.end() || found + 1 == words.end() ? "" : *(found + 1);
}

// "no-gpu 0" or "4090 2" at an index.
ShapeRequest shape_at(const Words& words, size_t index) {
  if (words.at(index) == "no-gpu") return ShapeRequest{Mode::no_gpu, "", 0};
  return ShapeRequest{Mode::on_demand, words[index], std::stoi(words.at(index + 1))};
}

}  // namespace

Player::Player(World& world, Invariants& invariants, Paths& paths)
    : world_(world), invariants_(invariants), paths_(paths) {
  world_.set_between([this](const InstanceId& id) { meanwhile(id); });
}

Player::~Player() { world_.set_between(nullptr); }

const std::map<std::string, Player::Act>& Player::acts() {
  static const std::map<std::string, Act> kActs = {
      {"account", &Player::account},     {"rent", &Player::rent},
      {"topup", &Player::top_up},        {"again", &Player::again},
      {"misuse", &Player::misuse},       {"start", &Player::start},
      {"restart", &Player::restart},     {"stop", &Player::stop},
      {"release", &Player::release},     {"restore", &Player::restore},
      {"purge", &Player::purge},         {"rename", &Player::rename},
      {"add-key", &Player::add_key},     {"drop-key", &Player::drop_key},
      {"guest", &Player::guest},         {"price", &Player::price},
      {"events", &Player::events},       {"power-off", &Player::power_off},
      {"vanish", &Player::vanish},       {"remove", &Player::remove},
      {"stray", &Player::stray},         {"kill-guest", &Player::kill_guest},
      {"hang", &Player::hang},           {"sight", &Player::sight},
      {"dirty", &Player::dirty},         {"sick", &Player::sick},
      {"report", &Player::report},       {"leave", &Player::leave},
      {"withdraw", &Player::withdraw},   {"put-back", &Player::put_back},
      {"foreign", &Player::foreign},     {"namesake", &Player::namesake},
      {"unknown", &Player::unknown},     {"port", &Player::port},
      {"silent", &Player::silent},       {"back", &Player::back},
      {"driver", &Player::driver},       {"boot", &Player::boot},
      {"reboot", &Player::reboot},       {"crash", &Player::crash},
      {"sleep", &Player::sleep},         {"wall", &Player::wall},
      {"pass", &Player::pass},           {"work", &Player::work},
      {"observe", &Player::observe},     {"settle", &Player::settle},
      {"reconcile", &Player::reconcile}, {"tidy", &Player::tidy},
      {"fault", &Player::fault},         {"between", &Player::between},
  };
  return kActs;
}

std::vector<std::string> Player::verbs() {
  std::vector<std::string> verbs;
  for (const auto& [verb, act] : acts()) {
    if (verb != "between") verbs.push_back("did: " + verb);  // a seed draws what it arms
  }
  return verbs;
}

bool Player::only_arms(const std::string& line) {
  return line.starts_with("fault ") || line.starts_with("between ");
}

void Player::play(const std::string& line) {
  answer_.clear();
  if (line.starts_with("pass ")) return act(line);  // each thread of it may crash and begin anew
  if (world_.run([&] { act(line); })) return;
  answer_ = "crash";
  if (line != "crash") paths_.hit("crash in a request");
}

void Player::act(const std::string& line) {
  const Words words = words_of(line);
  const auto found = words.empty() ? acts().end() : acts().find(words[0]);
  CHECK(found != acts().end(), "no such action: " + line);
  paths_.hit("did: " + words[0]);
  (this->*found->second)(words);
}

// Somebody else does something while an engine call is on its way.
void Player::meanwhile(const InstanceId& busy) {
  if (is_meanwhile_) return;
  ++moments_;
  std::vector<std::string> lines;
  for (const Armed& armed : armed_) {
    if (armed.moment == moments_) lines.push_back(armed.line);
  }
  std::erase_if(armed_, [&](const Armed& armed) { return armed.moment <= moments_; });
  is_meanwhile_ = true;
  struct Leave {
    bool& flag;
    ~Leave() { flag = false; }
  } const leave{is_meanwhile_};
  if (drawer_) {
    if (auto drawn = drawer_(moments_ - marked_at_)) lines.push_back(*drawn);
  }
  for (const std::string& line : lines) {
    ++meanwhiles_;
    paths_.hit("meanwhile: " + words_of(line).at(0));
    const int64_t before = version_of(busy);
    act(line);
    if (version_of(busy) != before) paths_.hit("stale result dropped");
  }
}

int64_t Player::version_of(const InstanceId& id) {
  int64_t version = 0;
  static_cast<void>(world_.store().read([&](Tx& tx) -> Status {
    TRY_ASSIGN(const auto found, tx.instances().find(id));
    if (found) version = found->version;
    return {};
  }));
  return version;
}

// The instance that the second word labels: rents write their label into `purpose`.
std::optional<Instance> Player::instance(const Words& words) {
  const std::string& label = words.at(1);
  std::optional<Instance> found;
  const Status read = world_.store().read([&](Tx& tx) -> Status {
    if (!labels_.contains(label)) {
      TRY_ASSIGN(const auto rows, tx.instances().page(InstanceFilter{{}, true}, Page{"", 1'000}));
      for (const Instance& row : rows) labels_.emplace(row.purpose, row.id);
    }
    const auto id = labels_.find(label);
    if (id == labels_.end()) return {};
    TRY_ASSIGN(found, tx.instances().find(id->second));
    return {};
  });
  CHECK(read.has_value(), "instances can be read");
  return found;
}

Player::Renter* Player::renter(const std::string& name) {
  const auto found = renters_.find(name);
  return found == renters_.end() ? nullptr : &found->second;
}

Player::Renter* Player::owner(const Instance& instance) {
  for (auto& [name, renter] : renters_) {
    if (renter.actor.account == instance.account_id) return &renter;
  }
  CHECK(false, "an instance has its renter");
  return nullptr;
}

void Player::answer_of(const Error* error) {
  if (error == nullptr) return;
  answer_ = enum_text(error->code);
  paths_.hit("refused: " + answer_);
  if (error->code == ErrorCode::internal) broken_.push_back("internal error: " + error->what.en);
  if (error->what.en.empty() || error->what.zh.empty()) broken_.push_back("an error without text");
}

int Player::struck() const {
  int times = meanwhiles_ + world_.crashes();
  for (const auto& [name, hits] : world_.faults().hits()) times += hits;
  return times;
}

// ---- renters and operators ----

void Player::account(const Words& words) {
  if (renters_.contains(words.at(1))) return;
  Renter renter;
  renter.actor = world_.add_renter(words[1]);
  renter.client = std::make_unique<Client>(world_, renter.actor);
  world_.outside([&] {
    const auto done = world_.plane().wallet.top_up(world_.admin(), renter.actor.account,
                                                   cents(words.at(2)), "", {});
    CHECK(done.has_value(), "the first top-up");
  });
  renters_.emplace(words[1], std::move(renter));
}

// rent R SHAPE N as LABEL [disk GIB] [key]
void Player::rent(const Words& words) {
  Renter* by = renter(words.at(1));
  if (by == nullptr) return;
  RentRequest request;
  request.shape = shape_at(words, 2);
  request.purpose = after(words, "as");
  if (has(words, "disk")) request.data_disk_bytes = std::stoll(after(words, "disk")) * kGiB;
  if (has(words, "key")) {
    keyed_.emplace(request.purpose, Keyed{words[1], request, {}, {}, {}});
    return ask(request.purpose);
  }
  const int before = struck();
  const auto quote = by->client->quote(request);
  const auto rented = world_.plane().instances.rent(by->actor, request, {});
  answered(rented);
  if (quote && struck() == before) compare(*quote, rented);
}

// Nothing went on in between: the quote is what happens.
void Player::compare(const wire::QuoteView& quote, const Result<Instance>& rented) {
  if (!rented) {
    const ErrorCode code = rented.error().code;
    const bool was_promised = quote.affordable && quote.placeable;
    if (was_promised &&
        (code == ErrorCode::insufficient_balance || code == ErrorCode::no_capacity)) {
      broken_.push_back("quoted as affordable and placeable, and then: " + rented.error().what.en);
    }
    return;
  }
  paths_.hit("quote kept");
  const int count = rented->mode == Mode::no_gpu ? 1 : rented->gpu_count;
  if (rented->rate_per_hour * count != quote.rate_per_hour || rented->held != quote.hold) {
    broken_.push_back(fmt::format("quoted {} and a hold of {}, rented at {} x {} and {}",
                                  to_decimal(quote.rate_per_hour), to_decimal(quote.hold),
                                  to_decimal(rented->rate_per_hour), count,
                                  to_decimal(rented->held)));
  }
  if (!quote.affordable || !quote.placeable) {
    broken_.push_back("rented what was quoted as impossible");
  }
  if (rented->data_disk_bytes != quote.data_disk_bytes || rented->millicores != quote.millicores ||
      rented->memory_bytes != quote.memory_bytes) {
    broken_.push_back("rented another shape than was quoted");
  }
}

// topup R CENTS [key K]
void Player::top_up(const Words& words) {
  Renter* to = renter(words.at(1));
  if (to == nullptr) return;
  const std::string key = after(words, "key");
  if (!key.empty()) {
    keyed_.emplace(key, Keyed{words[1], {}, cents(words.at(2)), {}, {}});
    return ask(key);
  }
  answered(
      world_.plane().wallet.top_up(world_.admin(), to->actor.account, cents(words.at(2)), "", {}));
}

void Player::again(const Words& words) {
  if (keyed_.contains(words.at(1))) ask(words[1]);
}

// A client that had no answer for so long does not ask again: keys are forgotten some day.
void Player::ask(const std::string& key) {
  constexpr Duration kPatience = days(29);
  Keyed& keyed = keyed_.at(key);
  if (!keyed.first_asked_at) keyed.first_asked_at = world_.now();
  if (world_.now() - *keyed.first_asked_at > kPatience) return;
  const Actor& actor = renter(keyed.renter)->actor;
  const Idempotency idempotency{key, "body of " + key};
  std::string result;
  if (keyed.rent) {
    const auto answer = world_.plane().instances.rent(actor, *keyed.rent, idempotency);
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

void Player::misuse(const Words& words) {
  const auto found = keyed_.find(words.at(1));
  if (found == keyed_.end() || found->second.result.empty()) return;
  const Renter* by = renter(found->second.renter);
  const auto answer = world_.plane().wallet.top_up(found->second.rent ? by->actor : world_.admin(),
                                                   by->actor.account, Money{10'000}, "misused",
                                                   Idempotency{words[1], "another body"});
  answered(answer);
  if (answer) broken_.push_back("key " + words[1] + " was accepted with another body");
}

// start LABEL SHAPE N
void Player::start(const Words& words) {
  const auto found = instance(words);
  if (!found) return;
  answered(
      world_.plane().instances.start(owner(*found)->actor, found->id.text, shape_at(words, 2), {}));
}

void Player::restart(const Words& words) {
  const auto found = instance(words);
  if (found) answered(world_.plane().instances.restart(owner(*found)->actor, found->id.text));
}

// stop LABEL [operator]
void Player::stop(const Words& words) {
  const auto found = instance(words);
  if (!found) return;
  const Actor& by = has(words, "operator") ? world_.admin() : owner(*found)->actor;
  answered(world_.plane().instances.stop(by, found->id.text));
}

void Player::release(const Words& words) {
  const auto found = instance(words);
  if (found) answered(world_.plane().instances.release(owner(*found)->actor, found->id.text));
}

void Player::restore(const Words& words) {
  const auto found = instance(words);
  if (found) answered(world_.plane().instances.restore(owner(*found)->actor, found->id.text));
}

// purge LABEL [mistyped]
void Player::purge(const Words& words) {
  const auto found = instance(words);
  if (!found) return;
  const std::string typed = has(words, "mistyped") ? "not its name" : found->name;
  answered(world_.plane().instances.purge(owner(*found)->actor, found->id.text, typed));
}

void Player::rename(const Words& words) {
  const auto found = instance(words);
  if (!found) return;
  answered(world_.plane().instances.rename(owner(*found)->actor, found->id.text, words.at(2)));
}

// add-key R NUMBER
void Player::add_key(const Words& words) {
  Renter* by = renter(words.at(1));
  if (by == nullptr) return;
  std::array<uint8_t, 32> seed{};
  Xoshiro random(std::stoull(words.at(2)));
  for (uint8_t& byte : seed) byte = static_cast<uint8_t>(random.below(256));
  answered(world_.plane().accounts.add_ssh_key(by->actor, "key",
                                               make_host_key(seed, "key").public_line));
}

void Player::drop_key(const Words& words) {
  Renter* by = renter(words.at(1));
  if (by == nullptr) return;
  const auto keys = world_.plane().accounts.ssh_keys(by->actor);
  if (!keys || keys->empty()) return;
  answered(world_.plane().accounts.delete_ssh_key(by->actor, keys->front().id.text));
}

// guest LABEL poweroff|reboot|late: "late" is the word of a shutdown that has happened.
void Player::guest(const Words& words) {
  const auto found = instance(words);
  if (!found) return;
  const bool reboots = words.at(2) == "reboot";
  answered(world_.plane().instances.guest_shutdown(
      World::guest(found->id),
      reboots ? Instances::ShutdownKind::reboot : Instances::ShutdownKind::poweroff));
  if (words[2] == "late") return;
  for (const SimRun& run : world_.engine().running()) {
    if (run.id != found->id || !world_.engine().poweroff_inside(run.id) || !reboots) continue;
    static_cast<void>(world_.engine().ensure_started(run.spec, run.shape));
  }
}

// price MODEL|no-gpu CENTS
void Player::price(const Words& words) {
  const bool no_gpu = words.at(1) == "no-gpu";
  answered(world_.plane().inventory.set_price(world_.admin(), no_gpu ? "" : words[1],
                                              no_gpu ? Mode::no_gpu : Mode::on_demand,
                                              cents(words.at(2))));
}

// events R [lost]
void Player::events(const Words& words) {
  Renter* by = renter(words.at(1));
  if (by != nullptr) by->client->follow_events(has(words, "lost"));
}

// ---- the world outside ----

void Player::power_off(const Words& words) {
  const auto found = instance(words);
  if (!found || !world_.engine().poweroff_inside(found->id)) return;
  invariants_.note_stopped_behind(found->id);
}

void Player::vanish(const Words& words) {
  const auto found = instance(words);
  if (!found || !world_.engine().stop_behind_our_back(found->id)) return;
  invariants_.note_stopped_behind(found->id);
}

void Player::remove(const Words& words) {
  const auto found = instance(words);
  if (!found || !world_.engine().delete_behind_our_back(found->id)) return;
  invariants_.note_stopped_behind(found->id);
}

// Somebody starts what is stopped, without cards.
void Player::stray(const Words& words) {
  const auto found = instance(words);
  if (!found) return;
  EngineSpec spec;
  spec.id = found->id;
  spec.account = found->account_id;
  spec.image = found->image;
  spec.system_disk_bytes = found->system_disk_bytes;
  spec.data_disk_bytes = found->data_disk_bytes;
  spec.ipv4 = found->ipv4;
  spec.idmap_base = found->idmap_base;
  spec.ssh_port = found->ssh_port;
  const bool rests = found->observed == Observed::stopped || found->observed == Observed::in_bin;
  if (rests && world_.engine().ensure_started(spec, EngineShape{})) {
    paths_.hit("started behind our back");
  }
}

void Player::kill_guest(const Words& words) {
  const auto found = instance(words);
  if (found) world_.engine().kill_guest(found->id);
}

// hang LABEL on|off: its shutdowns
void Player::hang(const Words& words) {
  const auto found = instance(words);
  if (found) world_.engine().set_shutdown_hangs(found->id, words.at(2) == "on");
}

// sight LABEL true_view|one_missing|one_extra
void Player::sight(const Words& words) {
  const auto found = instance(words);
  const auto sight = enum_from<CardSight>(words.at(2));
  if (found && sight) world_.engine().set_card_sight(found->id, *sight);
}

// dirty CARD GIB
void Player::dirty(const Words& words) {
  world_.engine().set_memory_used(world_.engine().cards().at(std::stoul(words.at(1))).uuid,
                                  std::stoll(words.at(2)) * kGiB);
}

// sick CARD on|off
void Player::sick(const Words& words) {
  world_.engine().set_card_fault(world_.engine().cards().at(std::stoul(words.at(1))).uuid,
                                 words.at(2) == "on" ? "Xid 79" : "");
}

void Player::foreign(const Words& words) {
  world_.engine().add_foreign(words.at(1));
  invariants_.note_foreign(words[1]);
}

// Somebody makes an instance of his own with the name of one of ours that he deleted.
void Player::namesake(const Words& words) {
  const auto found = instance(words);
  if (!found || !world_.engine().delete_behind_our_back(found->id)) return;
  invariants_.note_stopped_behind(found->id);
  world_.engine().add_foreign(found->id.text);
  invariants_.note_foreign(found->id.text);
}

// Tagged as ours, and of no row of ours: a database that was put back, say.
void Player::unknown(const Words& words) {
  const InstanceId id = make_id<InstanceTag>(std::stoull(words.at(1)));
  world_.engine().add_unknown(id);
  invariants_.note_unknown(id);
}

void Player::port(const Words& words) { world_.engine().take_port(std::stoi(words.at(1))); }

void Player::silent(const Words&) {
  world_.engine().set_silent(true);
  invariants_.note_silent_since(world_.now());
}

void Player::back(const Words&) {
  world_.engine().set_silent(false);
  invariants_.note_silent_since(std::nullopt);
}

// driver refuses|answers
void Player::driver(const Words& words) { world_.probe().set_refuses(words.at(1) == "refuses"); }

// boot MS
void Player::boot(const Words& words) { world_.engine().set_boot_time(millis(words.at(1))); }

// reboot [swapped]: of the host; the cards may come back at other PCI addresses
void Player::reboot(const Words& words) {
  for (const SimRun& run : world_.engine().running()) invariants_.note_stopped_behind(run.id);
  invariants_.note_reboot();
  world_.engine().reboot_host();
  if (!has(words, "swapped")) return;
  world_.engine().swap_pci_addresses();
  paths_.hit("PCI addresses swapped");
}

// ---- the process ----

void Player::crash(const Words&) { throw Crash{"killed"}; }
void Player::sleep(const Words& words) { world_.sleep(millis(words.at(1))); }

// wall MS: the wall clock is set so much forward (or back, below 0)
void Player::wall(const Words& words) {
  paths_.hit(words.at(1).starts_with('-') ? "wall clock set back" : "wall clock set forward");
  world_.step_wall_clock(millis(words[1]));
}

void Player::pass(const Words& words) { world_.pass(millis(words.at(1))); }
void Player::work(const Words&) { world_.work_one(); }
void Player::observe(const Words&) { world_.look_now(); }
void Player::settle(const Words&) { world_.settle_now(); }
void Player::reconcile(const Words&) { world_.reconcile_now(); }
void Player::tidy(const Words&) { answered(world_.plane().reconcile.tidy()); }

// fault FAULT CALL NTH
void Player::fault(const Words& words) {
  const auto fault = enum_from<Fault>(words.at(1));
  CHECK(fault.has_value(), "no such fault: " + words[1]);
  world_.faults().force(*fault, words.at(2), std::stoi(words.at(3)));
}

// between NTH LINE...: what another thread does at the Nth next moment of an engine call
void Player::between(const Words& words) {
  std::string line;
  for (size_t i = 2; i < words.size(); ++i) line += (i == 2 ? "" : " ") + words[i];
  armed_.push_back({moments_ + std::stoi(words.at(1)), std::move(line)});
}

}  // namespace cardhour
