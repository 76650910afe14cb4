#include "app/adopt.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "app/claims.h"
#include "app/events.h"
#include "app/runs.h"
#include "app/settlement.h"
#include "base/enum_text.h"

namespace cardhour {
namespace {

const char* const kActor = "system:observe";

struct Finds {
  std::vector<EngineObject> unknown;  // no row
  struct Run {
    Instance row;  // as it was before the engine was asked
    EngineObject object;
  };
  std::vector<Run> runs;  // of rows that know nothing of this run
  std::set<InstanceId> in_engine;
  bool is_changing = false;
};

// Whether the row knows of what the engine shows running.
bool knows_run(const Instance& row, const EngineInstance& seen) {
  if (row.observed == Observed::running) return row.engine_run == seen.run;
  return row.observed != Observed::stopped && row.observed != Observed::in_bin;
}

Result<std::set<InstanceId>> rowless(const Deps& deps, const Sighting& sighting) {
  std::set<InstanceId> ids;
  for (const EngineInstance& seen : sighting.seen) ids.insert(seen.id);
  for (const Instance& row : sighting.known) ids.erase(row.id);
  if (ids.empty()) return ids;
  // What was rented since the rows were read, and what is purged, has a row all the same.
  TRY(deps.store.read([&](Tx& tx) -> Status {
    for (auto id = ids.begin(); id != ids.end();) {
      TRY_ASSIGN(const auto row, tx.instances().find(*id));
      id = row ? ids.erase(id) : std::next(id);
    }
    return {};
  }));
  return ids;
}

Result<Finds> find_all(const Deps& deps, const Sighting& sighting, bool is_restored) {
  Finds finds;
  TRY_ASSIGN(const std::set<InstanceId> unknown, rowless(deps, sighting));
  for (const EngineInstance& seen : sighting.seen) {
    finds.in_engine.insert(seen.id);
    const auto row = std::ranges::find(sighting.known, seen.id, &Instance::id);
    const bool is_known = row != sighting.known.end();
    const bool is_strange_run =
        is_restored && is_known && seen.status == EngineStatus::running && !knows_run(*row, seen);
    if (!unknown.contains(seen.id) && !is_strange_run) {
      if (is_restored && seen.status == EngineStatus::busy) finds.is_changing = true;
      continue;
    }
    TRY_ASSIGN(auto object, deps.engine.describe(seen.id));
    if (!object) continue;  // gone meanwhile
    if (object->seen.status == EngineStatus::busy) {
      finds.is_changing = true;
    } else if (is_known) {
      finds.runs.push_back({*row, std::move(*object)});
    } else {
      finds.unknown.push_back(std::move(*object));
    }
  }
  return finds;
}

// Whose it is until the operator decides: the engine's tag, if that account is known here.
Result<AccountId> holder_of(Tx& tx, const AccountId& tagged) {
  TRY_ASSIGN(const auto account, tx.accounts().find(tagged));
  if (account) return account->id;
  std::optional<Account> first;
  Page page{"", 100};
  while (true) {
    TRY_ASSIGN(const auto rows, tx.accounts().page(page));
    for (const Account& row : rows) {
      if (row.role == Role::admin && (!first || row.created_at < first->created_at)) first = row;
    }
    if (rows.size() < static_cast<size_t>(page.limit)) break;
    page.after = rows.back().id.text;
  }
  if (first) return first->id;
  return fail(ErrorCode::conflict, Text{"no operator is there to hold what was found in the engine",
                                        "没有运营者账户可以接管引擎中发现的实例"});
}

Status note_adoption(Tx& tx, const Instance& instance, AdoptionKind kind,
                     const EngineObject& object, Timestamp now) {
  TRY(tx.restores().put_adoption(
      Adoption{instance.id, kind, object.spec.account, object.generation, now}));
  return record(tx, instance, now, "instance.adopted", kActor, "adopted",
                fmt::format("engine_account={} cards={} port={}", object.spec.account.text,
                            instance.gpu_count, instance.ssh_port));
}

void ask_operator(Instance& instance) {
  set_fault(instance, "adopted",
            Text{"it was found in the engine and was not in the restored database; nothing is "
                 "charged until the operator has decided",
                 "恢复后的数据库中没有该实例，但它存在于引擎中；在运营者决定之前不计费"},
            Text{"the operator keeps or removes it: `cardhour admin adopted ls`",
                 "由运营者决定保留或移除：`cardhour admin adopted ls`"});
}

// The run that the engine shows, at no price. The caller has moved the lifecycle.
Status take_run(Tx& tx, const Deps& deps, Instance& instance, const EngineObject& object,
                Timestamp now) {
  TRY_ASSIGN(const auto cards, tx.hosts().cards());
  std::vector<CardId> held;
  std::string model;
  for (const Card& card : cards) {
    if (std::ranges::find(object.cards, card.uuid) == object.cards.end()) continue;
    const Status taken = tx.hosts().insert_allocation(
        Allocation{deps.entropy.id<AllocationId>(), card.uuid, instance.id, now, std::nullopt});
    if (!taken && taken.error().code == ErrorCode::conflict) {
      return fail(
          ErrorCode::conflict,
          text("{} runs in the engine with card {}, which another instance still holds here",
               "引擎中的 {} 使用的显卡 {} 在数据库中仍由其他实例占用", instance.id.text,
               card.uuid.text),
          Text{"nothing is granted until that one is known to have stopped",
               "在确认后者已停止之前，不会分配任何资源"});
    }
    TRY(taken);
    held.push_back(card.uuid);
    model = card.model;
  }
  if (held.size() != object.cards.size()) {
    return fail(ErrorCode::conflict,
                text("{} runs in the engine with a card that no driver has shown yet",
                     "引擎中的 {} 使用了驱动尚未报告的显卡", instance.id.text),
                Text{"nothing is granted until the driver shows it or the instance is stopped",
                     "在驱动报告该卡或该实例停止之前，不会分配任何资源"});
  }
  instance.mode = held.empty() ? Mode::no_gpu : Mode::on_demand;
  instance.gpu_model = model;
  instance.gpu_count = static_cast<int>(held.size());
  instance.millicores = object.millicores;
  instance.memory_bytes = object.memory_bytes;
  instance.desired = Desired::running;
  instance.run_id = deps.entropy.id<RunId>();
  instance.rate_per_hour = Money{};
  instance.engine_run = object.seen.run;
  instance.ready_at = now;
  instance.reachable = true;
  instance.stopped_at.reset();
  instance.bin_until.reset();
  return open_segment(tx, deps, instance, now, Cause::adopted, held);
}

Status adopt_instance(Tx& tx, const Deps& deps, const EngineObject& object,
                      const std::set<InstanceId>& in_engine, Timestamp now) {
  TRY_ASSIGN(const auto row, tx.instances().find(object.spec.id));
  if (row) return {};
  TRY_ASSIGN(const auto hosts, tx.hosts().all());
  if (hosts.empty()) return fail(ErrorCode::conflict, Text{"no host is known", "没有已知的主机"});
  const Host& host = *std::ranges::max_element(hosts, {}, &Host::last_seen_at);
  Instance instance;
  instance.id = object.spec.id;
  TRY_ASSIGN(instance.account_id, holder_of(tx, object.spec.account));
  instance.name = "adopted-" + instance.id.text.substr(1, 4);
  instance.image = object.spec.image;
  instance.host_id = host.id;
  instance.system_disk_bytes = object.spec.system_disk_bytes;
  instance.data_disk_bytes = object.spec.data_disk_bytes;
  instance.nesting = object.spec.nesting;
  instance.ssh_port = object.spec.ssh_port;
  instance.ipv4 = object.spec.ipv4;
  instance.idmap_base = object.spec.idmap_base;
  instance.created_at = now;
  instance.mode = Mode::no_gpu;
  ask_operator(instance);
  TRY(claim_as_it_is(tx, deps, instance, in_engine, now));
  if (object.seen.status == EngineStatus::running) {
    instance.observed = Observed::running;
    TRY(take_run(tx, deps, instance, object, now));
  } else {
    instance.observed = Observed::stopped;
    instance.desired = Desired::stopped;
    instance.stopped_at = now;
  }
  TRY(tx.instances().insert(instance));
  return note_adoption(tx, instance, AdoptionKind::instance, object, now);
}

// The run that the row has ended when its host was last seen alive: it was before the restore.
Status end_known_run(Tx& tx, const Deps& deps, Instance& instance, Timestamp last_alive,
                     Timestamp now) {
  if (instance.observed != Observed::running) return {};
  TRY(close_segments(tx, deps, instance, last_alive, Cause::vanished, kActor));
  TRY(end_run(tx, instance, LifecycleEvent::vanish, now));
  return record(tx, instance, now, "instance.stopped", kActor, "vanished");
}

Status adopt_run(Tx& tx, const Deps& deps, Instance& instance, const EngineObject& object,
                 Timestamp now) {
  advance(instance, LifecycleEvent::adopt);
  ask_operator(instance);
  TRY(take_run(tx, deps, instance, object, now));
  TRY(tx.instances().update(instance));
  return note_adoption(tx, instance, AdoptionKind::run, object, now);
}

Status adopt_finds(Tx& tx, const Deps& deps, const Finds& finds, const Sighting& sighting,
                   Accounting& accounting) {
  const Timestamp now = deps.clock.now();
  std::vector<std::pair<Instance, const EngineObject*>> runs;
  // All that ended first: their cards may be what the others have.
  for (const Finds::Run& run : finds.runs) {
    TRY_ASSIGN(auto fresh, tx.instances().find(run.row.id));
    if (!fresh || fresh->version != run.row.version) {
      accounting = Accounting::partly;
      continue;
    }
    const auto alive = sighting.alive.find(fresh->host_id);
    TRY(end_known_run(tx, deps, *fresh, alive == sighting.alive.end() ? now : alive->second, now));
    runs.emplace_back(std::move(*fresh), &run.object);
  }
  for (auto& [instance, object] : runs) TRY(adopt_run(tx, deps, instance, *object, now));
  for (const EngineObject& object : finds.unknown) {
    TRY(adopt_instance(tx, deps, object, finds.in_engine, now));
  }
  return {};
}

}  // namespace

Result<Accounting> adopt_unknown(const Deps& deps, const Sighting& sighting, bool is_restored) {
  TRY_ASSIGN(const Finds finds, find_all(deps, sighting, is_restored));
  Accounting accounting = finds.is_changing ? Accounting::partly : Accounting::whole;
  if (finds.unknown.empty() && finds.runs.empty()) return accounting;
  TRY(deps.store.write([&](Tx& tx) {
    accounting = finds.is_changing ? Accounting::partly : Accounting::whole;
    return adopt_finds(tx, deps, finds, sighting, accounting);
  }));
  deps.changed();
  return accounting;
}

}  // namespace cardhour
