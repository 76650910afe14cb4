#include "sim/invariants.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/enum_text.h"

namespace cardhour {
namespace {

std::string text(Observed observed) { return std::string(enum_text(observed)); }

bool is_moving(const Instance& instance) {
  switch (instance.observed) {
    case Observed::creating:
    case Observed::starting:
    case Observed::stopping:
    case Observed::releasing:
      return true;
    default:
      return false;
  }
}

bool is_compute(const Segment& segment) { return segment.meter != Meter::minimum; }

const Instance* find(const std::vector<Instance>& rows, const InstanceId& id) {
  const auto found = std::ranges::find(rows, id, &Instance::id);
  return found == rows.end() ? nullptr : &*found;
}

}  // namespace

template <class... Args>
void Invariants::broken(const char* format, const Args&... args) {
  broken_.push_back(fmt::vformat(format, fmt::make_format_args(args...)));
}

Status Invariants::load(Tx& tx, Rows& rows) {
  TRY_ASSIGN(rows.inventory, load_inventory(tx));
  TRY_ASSIGN(rows.claims, tx.hosts().claims());
  TRY_ASSIGN(rows.accounts, tx.accounts().page(Page{"", 100}));
  for (const Account& account : rows.accounts) {
    SegmentFilter filter{account.id};
    if (checked_at_) filter.from = *checked_at_ - hours(1);
    TRY_ASSIGN(rows.segments[account.id], tx.ledger().segments(filter));
    TRY_ASSIGN(rows.wallet[account.id], tx.ledger().balance(wallet_of(account.id)));
    TRY_ASSIGN(rows.held[account.id], tx.ledger().balance(hold_of(account.id)));
    for (const Segment& segment : rows.segments[account.id]) {
      if (!is_new(segment)) continue;
      TRY_ASSIGN(rows.postings[segment.id], tx.ledger().posted_for(segment.id));
    }
  }
  for (const Instance& instance : rows.inventory.instances) {
    TRY_ASSIGN(const auto pending, tx.instances().pending_operation(instance.id));
    if (pending) rows.operations.emplace(instance.id, *pending);
  }
  TRY_ASSIGN(rows.unproven, tx.ledger().unproven_balances());
  return {};
}

bool Invariants::is_new(const Segment& segment) const {
  const auto known = known_.find(segment.id);
  return known == known_.end() || known->second.posted != segment.posted ||
         known->second.closed_at != segment.closed_at;
}

std::vector<std::string> Invariants::check() {
  broken_.clear();
  paths_.follow(world_);
  Rows rows;
  const Status loaded = world_.store().read([&](Tx& tx) -> Status {
    TRY(load(tx, rows));
    TRY_ASSIGN(const Money written_off, tx.ledger().balance(std::string(kWriteOff)));
    if (written_off != written_off_) paths_.hit("written off");
    written_off_ = written_off;
    return {};
  });
  CHECK(loaded.has_value(), loaded ? "" : loaded.error().what.en);
  check_cards(rows);
  check_claims(rows);
  check_conditions();
  check_engine(rows);
  check_money(rows);
  check_operations(rows);
  check_segments(rows);
  for (const Instance& instance : rows.inventory.instances) check_open(rows, instance);
  checked_at_ = world_.now();
  return broken_;
}

void Invariants::check_cards(const Rows& rows) {
  std::map<CardId, InstanceId> owners;
  std::map<InstanceId, int> cards;
  for (const Allocation& allocation : rows.inventory.allocations) {
    const auto [owner, fresh] = owners.emplace(allocation.card_uuid, allocation.instance_id);
    if (!fresh) broken("card {} has two owners", allocation.card_uuid.text);
    ++cards[allocation.instance_id];
    const Instance* instance = find(rows.inventory.instances, allocation.instance_id);
    if (instance == nullptr) {
      broken("card {} belongs to {}, which is purged", allocation.card_uuid.text,
             allocation.instance_id.text);
    } else if (!instance->run_id) {
      broken("card {} belongs to {}, which is {} without a run", allocation.card_uuid.text,
             instance->id.text, text(instance->observed));
    }
  }
  for (const Instance& instance : rows.inventory.instances) {
    if (!instance.run_id) continue;
    const int wanted = instance.mode == Mode::no_gpu ? 0 : instance.gpu_count;
    if (cards[instance.id] != wanted) {
      broken("{} ({}) has {} cards allocated, its shape {}", instance.id.text,
             text(instance.observed), cards[instance.id], wanted);
    }
  }
}

void Invariants::check_claims(const Rows& rows) {
  std::map<InstanceId, int> claims;
  std::set<std::pair<std::string, int64_t>> taken;
  for (const Claim& claim : rows.claims) {
    ++claims[claim.instance_id];
    if (!taken.emplace(enum_text(claim.kind), claim.number).second) {
      broken("{} {} is claimed twice", enum_text(claim.kind), claim.number);
    }
    if (find(rows.inventory.instances, claim.instance_id) == nullptr) {
      broken("{} {} is claimed by {}, which is purged", enum_text(claim.kind), claim.number,
             claim.instance_id.text);
    }
  }
  for (const Instance& instance : rows.inventory.instances) {
    if (claims[instance.id] != 3) {
      broken("{} has {} claims instead of 3", instance.id.text, claims[instance.id]);
    }
  }
}

// Whatever runs with cards runs with its own.
void Invariants::check_engine(const Rows& rows) {
  const auto foreign = world_.engine().foreign();
  for (const std::string& name : foreign_) {
    if (std::ranges::find(foreign, name) == foreign.end()) broken("foreign {} is gone", name);
  }
  check_unknown();
  std::map<CardId, InstanceId> owners;
  for (const Allocation& a : rows.inventory.allocations) owners[a.card_uuid] = a.instance_id;
  for (const SimRun& run : world_.engine().running()) {
    for (const EngineCard& card : run.shape.cards) {
      const auto owner = owners.find(card.uuid);
      if (owner == owners.end() || owner->second != run.id) {
        const Instance* instance = find(rows.inventory.instances, run.id);
        broken("the engine runs {} ({}) with card {}, which belongs to {}", run.id.text,
               instance ? text(instance->observed) : "purged", card.uuid.text,
               owner == owners.end() ? "nobody" : owner->second.text);
      }
    }
  }
}

// What we know nothing of is left alone: it runs on.
void Invariants::check_unknown() {
  std::set<InstanceId> running;
  for (const SimRun& run : world_.engine().running()) running.insert(run.id);
  for (const auto& [id, runs] : unknown_) {
    if (!world_.engine().exists(id)) broken("{}, of another database, is gone", id.text);
    if (runs && !running.contains(id)) broken("{}, of another database, was stopped", id.text);
  }
}

void Invariants::check_money(const Rows& rows) {
  for (const std::string& account : rows.unproven) {
    broken("the cached balance of {} is not the sum of its postings", account);
  }
  std::map<AccountId, Money> held;
  for (const Instance& instance : rows.inventory.instances) {
    held[instance.account_id] += instance.held;
    const bool may_hold =
        instance.observed == Observed::creating || instance.observed == Observed::starting;
    if (instance.held != Money{} && !may_hold) {
      broken("{} ({}) still has a hold of {}", instance.id.text, text(instance.observed),
             to_decimal(instance.held));
    }
  }
  for (const Account& account : rows.accounts) {
    const Money wallet = rows.wallet.at(account.id);
    const Money hold = rows.held.at(account.id);
    if (wallet.micro < 0) broken("{} has a wallet of {}", account.login, to_decimal(wallet));
    if (hold.micro < 0) broken("{} has a hold of {}", account.login, to_decimal(hold));
    if (hold != held[account.id]) {
      broken("{} has a hold of {}, its instances of {}", account.login, to_decimal(hold),
             to_decimal(held[account.id]));
    }
    const auto& segments = rows.segments.at(account.id);
    const bool burns = std::ranges::any_of(segments, [](const Segment& s) { return !s.closed_at; });
    if (burns != account.next_settlement_at.has_value()) {
      broken("{} has {} segments and {} settlement", account.login, burns ? "open" : "no open",
             burns ? "no" : "a");
    }
  }
}

void Invariants::check_operations(const Rows& rows) {
  for (const Instance& instance : rows.inventory.instances) {
    const auto pending = rows.operations.find(instance.id);
    const bool has = pending != rows.operations.end();
    const std::string kind = has ? std::string(enum_text(pending->second.kind)) : "no";
    const auto needed = needed_operation(instance);
    if (is_moving(instance) && (!has || pending->second.kind != needed)) {
      broken("{} is {} with {} operation", instance.id.text, text(instance.observed), kind);
    }
    const bool rests =
        instance.observed == Observed::stopped || instance.observed == Observed::in_bin;
    if (rests && has && pending->second.kind != OperationKind::purge) {
      broken("{} is {} with a {} operation", instance.id.text, text(instance.observed), kind);
    }
  }
}

void Invariants::check_segments(const Rows& rows) {
  for (const auto& [account, segments] : rows.segments) {
    std::map<InstanceId, Timestamp> busy_until;
    for (const Segment& segment : segments) {
      if (is_compute(segment)) {
        Timestamp& until = busy_until[segment.instance_id];
        if (segment.opened_at < until) {
          broken("segment {} of {} overlaps the one before", segment.id.text,
                 segment.instance_id.text);
        }
        until = segment.closed_at.value_or(Timestamp{INT64_MAX});
      }
      if (is_new(segment)) check_segment(rows, segment);
    }
  }
}

void Invariants::check_segment(const Rows& rows, const Segment& segment) {
  const std::string name = segment.id.text + " of " + segment.instance_id.text;
  const auto known = known_.find(segment.id);
  if (known != known_.end() && known->second.closed_at) broken("closed segment {} changed", name);
  if (rows.postings.at(segment.id) != segment.posted) {
    broken("segment {} says {} posted, the ledger {}", name, to_decimal(segment.posted),
           to_decimal(rows.postings.at(segment.id)));
  }
  if (known == known_.end() && segment.open_cause == Cause::ready && is_compute(segment)) {
    const Instance* instance = find(rows.inventory.instances, segment.instance_id);
    if (instance != nullptr && instance->ready_at && instance->run_id == segment.run_id &&
        segment.opened_at < *instance->ready_at) {
      broken("segment {} opened before its run was ready", name);
    }
  }
  if (segment.closed_at && is_compute(segment)) {
    if (segment_due(segment, *segment.closed_at) != segment.posted) {
      broken("closed segment {} owes {} and has {} posted", name,
             to_decimal(segment_due(segment, *segment.closed_at)), to_decimal(segment.posted));
    }
    const auto ended = paths_.ended_at(segment.instance_id);
    const bool paused = segment.close_cause == Cause::host_silent ||
                        segment.close_cause == Cause::adopted;  // the run goes on
    if (!paused && (!ended || *segment.closed_at > *ended)) {
      broken("segment {} closed after its stop was asked for", name);
    }
    if (paused && silent_since_ && *segment.closed_at > *silent_since_ &&
        segment.opened_at < *silent_since_) {
      broken("segment {} was charged into the silence", name);
    }
    const auto gone = stopped_behind_.find(segment.instance_id);
    const bool is_known = segment.close_cause == Cause::vanished && gone != stopped_behind_.end() &&
                          gone->second.crashes == world_.crashes();
    if (is_known && segment.opened_at<gone->second.at&& * segment.closed_at> gone->second.at) {
      broken("segment {} was charged {} ms after it had stopped", name,
             (*segment.closed_at - gone->second.at).ms);
    }
  }
  known_[segment.id] = segment;
}

void Invariants::check_open(const Rows& rows, const Instance& instance) {
  int open = 0;
  for (const Segment& segment : rows.segments.at(instance.account_id)) {
    if (segment.instance_id == instance.id && !segment.closed_at) ++open;
  }
  const bool pays = instance.observed == Observed::running && instance.reachable;
  if (open != (pays ? 1 : 0)) {
    broken("{} is {}{} with {} open segments", instance.id.text, text(instance.observed),
           instance.reachable ? "" : " and unreachable", open);
  }
}

// The notice says when the money ends, and the keys inside are the account's.
void Invariants::check_guest(const Rows& rows, const Instance& instance) {
  std::vector<Segment> open;
  for (const Segment& segment : rows.segments.at(instance.account_id)) {
    if (!segment.closed_at) open.push_back(segment);
  }
  const Timestamp now = world_.now();
  const auto empty = covered_until(open, rows.wallet.at(instance.account_id), now);
  const Policy& policy = world_.policy();
  const bool warned = !instance.notice_reason.empty();
  if (warned && (!empty || *empty - now > policy.arrears_notice_withdrawn)) {
    broken("{} is warned of arrears with money enough", instance.id.text);
  }
  if (!warned && empty && *empty - now < policy.arrears_notice) {
    broken("{} is not warned of arrears {} ms ahead", instance.id.text, (*empty - now).ms);
  }
  if (warned && empty && instance.notice_deadline != empty) {
    broken("{} is warned with a deadline {} ms off", instance.id.text,
           (*instance.notice_deadline - *empty).ms);
  }
  std::vector<SshKey> keys;
  const Status read = world_.store().read([&](Tx& tx) -> Status {
    TRY_ASSIGN(keys, tx.accounts().ssh_keys(instance.account_id));
    return {};
  });
  CHECK(read.has_value(), "keys can be read");
  const auto inside = world_.engine().authorized_keys(instance.id);
  const bool same = std::ranges::equal(inside, keys, {}, {}, &SshKey::public_key);
  if (!same) broken("{} has {} of {} keys inside", instance.id.text, inside.size(), keys.size());
}

std::vector<std::string> Invariants::check_at_rest() {
  broken_.clear();
  Rows rows;
  const Status loaded = world_.store().read([&](Tx& tx) { return load(tx, rows); });
  CHECK(loaded.has_value(), loaded ? "" : loaded.error().what.en);
  std::map<InstanceId, SimRun> running;
  for (SimRun& run : world_.engine().running()) running.emplace(run.id, std::move(run));
  for (const Instance& instance : rows.inventory.instances) {
    if (is_moving(instance)) broken("{} is still {}", instance.id.text, text(instance.observed));
    const auto run = running.find(instance.id);
    const bool runs = run != running.end();
    if (runs != (instance.observed == Observed::running)) {
      broken("{} is {}, and the engine {} it", instance.id.text, text(instance.observed),
             runs ? "runs" : "does not run");
    }
    if (instance.observed == Observed::running && !instance.reachable) {
      broken("{} is unreachable on a host that answers", instance.id.text);
    }
    if (runs && run->second.notice.empty() != instance.notice_reason.empty()) {
      broken("{} should show the notice \"{}\", and shows \"{}\"", instance.id.text,
             instance.notice_reason, run->second.notice);
    }
    if (runs) check_guest(rows, instance);
    running.erase(instance.id);
  }
  for (const auto& [id, run] : running) {
    if (!unknown_.contains(id)) broken("the engine runs {}, which is purged", id.text);
  }
  for (const std::string& left : world_.engine().leftovers()) {
    const InstanceId id{left.substr(left.rfind(' ') + 1)};
    if (find(rows.inventory.instances, id) == nullptr) broken("left over: {}", left);
  }
  return broken_;
}

}  // namespace cardhour
