#include "tests/scenarios/scenario.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/enum_text.h"
#include "sim/edges.h"
#include "tests/scenarios/words.h"

namespace cardhour {
namespace {

WorldOptions calm_world() {
  WorldOptions options;
  options.engine_start_time = Duration{};
  options.boot_time = seconds(2);
  options.ssh_wait_max = seconds(2);
  options.looks_are_exact = true;
  return options;
}

}  // namespace

Scenario::Scenario() : world_(calm_world()) { actors_["operator"] = world_.admin(); }

std::vector<std::string> Scenario::run(const std::string& line) {
  printed_.clear();
  const Words words = split_words(line);
  CHECK(!words.empty(), "a command");
  if (run_time(words)) {
    print_events();
    return printed_;
  }
  const bool lived = world_.run([&] {
    if (run_world(words)) return;
    CHECK(words.size() >= 2, line);
    run_renter(words[0], words);
  });
  if (!lived) say("no answer: the process died, and another one began");
  print_events();
  return printed_;
}

// Time is no call: each loop and worker in it may crash and begin anew.
bool Scenario::run_time(const Words& words) {
  const std::string& verb = words[0];
  if (verb == "advance") {
    world_.pass(duration_of(words.at(1)));
  } else if (verb == "until") {
    world_.pass(clock_time(words.at(1), world_.now()) - world_.now());
  } else if (verb == "down") {
    world_.sleep(duration_of(words.at(1)));
    world_.restart();
  } else {
    return false;
  }
  return true;
}

bool Scenario::run_world(const Words& words) {
  const std::string& verb = words[0];
  if (verb == "account") {
    actors_[words.at(1)] = world_.add_renter(words[1]);
    if (words.size() > 2) top_up({"topup", words[1], words[2]});
  } else if (verb == "topup") {
    top_up(words);
  } else if (verb == "price") {
    const bool no_gpu = words.at(1) == "no-gpu";
    static_cast<void>(allowed(world_.plane().inventory.set_price(
        world_.admin(), no_gpu ? "" : words[1], no_gpu ? Mode::no_gpu : Mode::on_demand,
        money_of(words.at(2)))));
  } else if (verb == "policy") {
    run_policy(words);
  } else if (verb == "backup") {
    backup();
  } else if (verb == "restore") {
    restore();
  } else if (verb == "adopted") {
    adopted(words);
  } else if (verb == "guest") {
    guest(words);
  } else if (verb == "outside") {
    run_outside(words);
  } else if (verb == "cards") {
    cards();
  } else {
    return false;
  }
  return true;
}

void Scenario::run_policy(const Words& words) {
  Policy& policy = world_.policy();
  if (words.at(1) == "unit") {
    policy.minimum_unit = duration_of(words.at(2));
  } else {
    CHECK(words[1] == "running", "policy unit|running");
    policy.quotas.running = std::stoi(words.at(2));
  }
}

void Scenario::run_renter(const std::string& who, const Words& words) {
  const Actor& by = actor(who);
  CHECK(run_money(by, words) || run_instance(by, words), "an unknown command: " + words[1]);
}

bool Scenario::run_money(const Actor& by, const Words& words) {
  const std::string& verb = words[1];
  if (verb == "wallet") {
    const auto view = world_.plane().wallet.view(by.account);
    if (!allowed(view)) return true;
    say(fmt::format("balance {} held {} accrued {} available {}", to_decimal(view->balance),
                    to_decimal(view->held), to_decimal(view->accrued),
                    to_decimal(view->available)));
    if (view->runway) {
      say(fmt::format("burn {} an hour, runway {}", to_decimal(view->burn_per_hour),
                      for_people(*view->runway, Language::en)));
    }
  } else if (verb == "bill") {
    bill(by, words);
  } else if (verb == "ledger") {
    ledger(by);
  } else {
    return false;
  }
  return true;
}

bool Scenario::run_instance(const Actor& by, const Words& words) {
  Instances& instances = world_.plane().instances;
  const std::string& verb = words[1];
  if (verb == "rent") {
    rent(by, words);
    return true;
  }
  if (verb == "quote") {
    RentRequest request;
    request.shape = shape_at(words, 2);
    const auto quote = instances.quote(by.account, request);
    if (!allowed(quote)) return true;
    say(fmt::format("{} an hour; needs {} of {}; {} free{}{}", to_decimal(quote->rate_per_hour),
                    to_decimal(quote->needed), to_decimal(quote->available), quote->cards_free,
                    quote->affordable ? "" : "; not affordable",
                    quote->placeable ? "" : "; no place"));
    return true;
  }
  const InstanceId id = instance(words.at(2));
  if (verb == "start") {
    start(by, words);
  } else if (verb == "stop") {
    static_cast<void>(allowed(instances.stop(by, id.text)));
  } else if (verb == "restart") {
    static_cast<void>(allowed(instances.restart(by, id.text)));
  } else if (verb == "release") {
    static_cast<void>(allowed(instances.release(by, id.text)));
  } else if (verb == "restore") {
    static_cast<void>(allowed(instances.restore(by, id.text)));
  } else if (verb == "purge") {
    static_cast<void>(allowed(instances.purge(by, id.text, words.at(3))));
  } else if (verb == "show") {
    show(by, id);
  } else {
    return false;
  }
  return true;
}

void Scenario::rent(const Actor& by, const Words& words) {
  RentRequest request;
  request.shape = shape_at(words, 2);
  request.name = option(words, "as");
  const std::string key = option(words, "key");
  const std::string body = option(words, "body", "rent");
  const auto rented = world_.plane().instances.rent(by, request, Idempotency{key, body});
  if (!allowed(rented)) return;
  const auto [known, fresh] = labels_.emplace(request.name, rented->id);
  if (!fresh) {
    say(known->second == rented->id ? "the same instance again" : "another instance");
  }
}

void Scenario::start(const Actor& by, const Words& words) {
  const std::string key = option(words, "key");
  static_cast<void>(allowed(world_.plane().instances.start(
      by, instance(words.at(2)).text, shape_at(words, 3), Idempotency{key, "start"})));
}

void Scenario::top_up(const Words& words) {
  const Idempotency idempotency{option(words, "key"), option(words, "body", "topup")};
  static_cast<void>(allowed(world_.plane().wallet.top_up(world_.admin(), actor(words.at(1)).account,
                                                         money_of(words.at(2)), "", idempotency)));
}

void Scenario::show(const Actor& by, const InstanceId& id) {
  const auto view = world_.plane().instances.get(by, id.text);
  if (!allowed(view)) return;
  const Instance& row = view->instance;
  std::string line = fmt::format("{}{}, {} cards, cost {}", enum_text(row.observed),
                                 row.reachable ? "" : " (unreachable)", view->cards.size(),
                                 to_decimal(view->cost_so_far));
  if (!view->activity.empty()) line += ", at step " + view->activity;
  if (!view->waiting_for.en.empty()) line += ", waiting for: " + view->waiting_for.en;
  say(line);
  if (!row.fault_code.empty()) {
    say(fmt::format("fault {}: {}; {}", row.fault_code, row.fault_what_en, row.fault_next_en));
  }
  if (!row.notice_reason.empty()) {
    say(fmt::format("notice {} until {}", row.notice_reason, time_of_day(*row.notice_deadline)));
  }
}

void Scenario::bill(const Actor& by, const Words& words) {
  BillQuery query{.explain = true};
  const std::string last = option(words, "last");
  const std::string but_last = option(words, "but-last");
  if (!last.empty()) query.from = world_.now() - duration_of(last);
  if (!but_last.empty()) query.to = world_.now() - duration_of(but_last);
  const auto bill = world_.plane().wallet.bill(by.account, query);
  if (!allowed(bill)) return;
  for (const BillLine& line : bill->lines) {
    const Segment& s = line.segment;
    say(fmt::format("{} {} x{} {} to {} ({}): {} charged, {}", line.instance_name,
                    enum_text(s.meter), s.quantity, time_of_day(s.opened_at),
                    s.closed_at ? time_of_day(*s.closed_at) : "now",
                    s.close_cause ? enum_text(*s.close_cause) : "open",
                    for_people(line.charged, Language::en), to_decimal(line.amount)));
    if (!line.agrees) say("  this line does not agree with the ledger");
  }
  say("total " + to_decimal(bill->total));
}

void Scenario::ledger(const Actor& by) {
  const auto views = world_.plane().wallet.transaction_views(by.account, Page{"", 100});
  if (!allowed(views)) return;
  for (auto view = views->rbegin(); view != views->rend(); ++view) {
    say(fmt::format("{} {} {}", time_of_day(view->transaction.at),
                    enum_text(view->transaction.kind), to_decimal(view->wallet_change)));
  }
}

void Scenario::cards() {
  const auto cards = world_.plane().inventory.cards();
  if (!allowed(cards)) return;
  for (const CardView& view : *cards) {
    say(fmt::format("{} {}: {}{}", view.card.card_index, view.card.model, view.state,
                    view.instance_id ? " by " + label(*view.instance_id) : ""));
  }
}

void Scenario::backup() {
  world_.take_backup();
  backup_states_ = states_;
  backup_seq_ = seq_;
}

void Scenario::restore() {
  world_.restore_backup();
  states_ = backup_states_;
  seq_ = backup_seq_;
}

void Scenario::adopted(const Words& words) {
  Adoptions& adoptions = world_.plane().adoptions;
  if (words.at(1) == "ls") {
    const auto views = adoptions.list();
    if (!allowed(views)) return;
    for (const AdoptionView& view : *views) {
      say(fmt::format("{} ({}): {}, {} cards, held by {}", label(view.adoption.instance_id),
                      enum_text(view.adoption.kind), enum_text(view.instance.observed),
                      view.cards.size(), view.owner));
    }
    return;
  }
  const std::string id = instance(words.at(2)).text;
  const std::string account = option(words, "account");
  static_cast<void>(words[1] == "keep" ? allowed(adoptions.keep(world_.admin(), id, account))
                                       : allowed(adoptions.remove(world_.admin(), id)));
}

// As the guest does it: first it says so, then it goes down.
void Scenario::guest(const Words& words) {
  const InstanceId id = instance(words.at(1));
  const bool reboots = words.at(2) == "reboot";
  const auto kind = reboots ? Instances::ShutdownKind::reboot : Instances::ShutdownKind::poweroff;
  static_cast<void>(allowed(world_.plane().instances.guest_shutdown(World::guest(id), kind)));
  for (const SimRun& run : world_.engine().running()) {
    if (run.id != id) continue;
    world_.engine().poweroff_inside(id);
    if (reboots) static_cast<void>(world_.engine().ensure_started(run.spec, run.shape));
  }
}

void Scenario::stray(const InstanceId& id) {
  const auto view = world_.plane().instances.get(world_.admin(), id.text);
  if (!allowed(view)) return;
  EngineSpec spec;
  spec.id = id;
  spec.ssh_port = view->instance.ssh_port;
  static_cast<void>(allowed(world_.engine().ensure_started(spec, EngineShape{})));
}

void Scenario::run_outside(const Words& words) {
  SimEngine& engine = world_.engine();
  const std::string& what = words.at(1);
  if (what == "silent") {
    engine.set_silent(true);
  } else if (what == "back") {
    engine.set_silent(false);
  } else if (what == "reboot") {
    engine.reboot_host();
  } else if (what == "boot-time") {
    engine.set_boot_time(duration_of(words.at(2)));
  } else if (what == "stop") {
    engine.stop_behind_our_back(instance(words.at(2)));
  } else if (what == "delete") {
    engine.delete_behind_our_back(instance(words.at(2)));
  } else if (what == "start") {
    stray(instance(words.at(2)));
  } else if (what == "kill-guest") {
    engine.kill_guest(instance(words.at(2)));
  } else if (what == "hide-card") {
    engine.set_card_sight(instance(words.at(2)), CardSight::one_missing);
  } else if (what == "take-port") {
    engine.take_port(std::stoi(words.at(2)));
  } else if (what == "lose-secret-key") {
    world_.lose_secret_key();
  } else if (what == "fault") {
    const auto fault = enum_from<Fault>(words.at(2));
    CHECK(fault.has_value(), "outside fault FAULT CALL [N]");
    world_.faults().force(*fault, words.at(3), words.size() > 4 ? std::stoi(words[4]) : 1);
  } else {
    CHECK(false, "an unknown command: outside " + what);
  }
}

bool Scenario::allowed(const Status& result) {
  if (!result) refuse(result.error());
  return result.has_value();
}

void Scenario::refuse(const Error& error) {
  say(fmt::format("refused ({}): {}", enum_text(error.code), error.what.en));
  if (!error.next.en.empty()) say("  " + error.next.en);
}

void Scenario::print_events() {
  std::vector<Event> events;
  const Status read = world_.store().read([&](Tx& tx) -> Status {
    TRY_ASSIGN(events, tx.events().after(seq_, {}, 1'000));
    return {};
  });
  CHECK(read.has_value(), "events can be read");
  for (const Event& event : events) follow(event);
}

void Scenario::follow(const Event& event) {
  seq_ = event.seq;
  const std::string prefix = "instance.";
  if (event.kind.starts_with("account.") || event.kind == "price.set") return;
  if (!event.instance_id) {
    say(fmt::format("{} {} {}", time_of_day(event.at), event.kind, event.detail));
    return;
  }
  const std::string word = event.kind.substr(prefix.size());
  Observed& state = states_[*event.instance_id];
  if (const auto edge = edge_of(state, event)) {
    edges_.emplace(state, *edge);
    state = next_state(state, *edge).value_or(state);
  }
  const bool dated = event.detail.starts_with("until=") || event.detail.starts_with("mode=");
  say(fmt::format("{} {} {} ({}){}", time_of_day(event.at), label(*event.instance_id), word,
                  event.reason, dated || event.detail.empty() ? "" : ": " + event.detail));
}

std::string Scenario::label(const InstanceId& id) const {
  for (const auto& [name, labelled] : labels_) {
    if (labelled == id) return name;
  }
  return "?";
}

InstanceId Scenario::instance(const std::string& name) const {
  const auto found = labels_.find(name);
  CHECK(found != labels_.end(), "no instance is called " + name);
  return found->second;
}

const Actor& Scenario::actor(const std::string& name) const {
  const auto found = actors_.find(name);
  CHECK(found != actors_.end(), "nobody is called " + name);
  return found->second;
}

}  // namespace cardhour
