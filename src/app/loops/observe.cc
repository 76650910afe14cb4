#include <algorithm>
#include <map>

#include "app/adopt.h"
#include "app/events.h"
#include "app/inventory.h"
#include "app/loops/loops.h"
#include "app/runs.h"
#include "app/settlement.h"

namespace cardhour {
namespace {

// A reboot from inside reads "stopped" for a moment: what is seen stopped must still be so
// this much later before it counts.
constexpr Duration kStoppedForGood = seconds(2);

// The row of a host that the engine names, or a new one.
Result<Host> host_named(Tx& tx, Deps& deps, const std::string& name) {
  TRY_ASSIGN(const auto hosts, tx.hosts().all());
  for (const Host& row : hosts) {
    if (row.name == name) return row;
  }
  Host host;
  host.id = deps.entropy.id<HostId>();
  host.name = name;
  return host;
}

Status note_alive(Tx& tx, Deps& deps, const EngineHost& seen, Timestamp now) {
  TRY_ASSIGN(Host host, host_named(tx, deps, seen.name));
  host.cpu_total = seen.cpu_total;
  host.memory_bytes = seen.memory_bytes;
  host.pool_total_bytes = seen.pool_total_bytes;
  host.pool_used_bytes = seen.pool_used_bytes;
  host.last_seen_at = now;
  host.reachable = true;
  return tx.hosts().upsert(host);
}

// What the driver says proves no life of the engine: the rest of the row stays.
Result<HostId> note_driver(Tx& tx, Deps& deps, const EngineHost& seen, const ProbedGpus& gpus) {
  TRY_ASSIGN(Host host, host_named(tx, deps, seen.name));
  host.driver_version = gpus.driver_version;
  host.cuda_version = gpus.cuda_version;
  TRY(tx.hosts().upsert(host));
  return host.id;
}

// The card as the driver and the engine together see it: NVML by UUID, Incus by PCI address.
Card join_card(const Deps& deps, const HostId& host, const EngineHost& engine,
               const ProbedGpus& gpus, const ProbedCard& probed) {
  Card card;
  card.uuid = probed.uuid;
  card.host_id = host;
  card.driver_name = probed.name;
  card.pci_address = probed.pci_address;
  card.card_index = probed.index;
  card.vram_bytes = probed.memory_total_bytes.value_or(0);
  card.numa_node = probed.numa_node;
  card.simulated = gpus.simulated;
  const GpuModel* model = deps.catalog.by_driver_name(probed.name, card.vram_bytes);
  card.model = model ? model->key : probed.name;
  card.fault = probed.fault;
  const auto& pci = engine.gpu_pci;
  const bool engine_sees = std::find(pci.begin(), pci.end(), probed.pci_address) != pci.end();
  if (card.fault.empty() && !gpus.simulated && !engine_sees) {
    card.fault = "the engine does not see this card";
  }
  return card;
}

Status upsert_cards(Tx& tx, const Deps& deps, const HostId& host, const EngineHost& engine,
                    const ProbedGpus& gpus) {
  TRY_ASSIGN(const auto rows, tx.hosts().cards_of(host));
  std::map<CardId, Card> known;
  for (const Card& card : rows) known.emplace(card.uuid, card);
  for (const ProbedCard& probed : gpus.cards) {
    if (probed.uuid.empty()) continue;  // gone from the bus: it has no identity left
    const Card card = join_card(deps, host, engine, gpus, probed);
    const auto before = known.extract(card.uuid);
    if (before.empty() || before.mapped() != card) TRY(tx.hosts().upsert_card(card));
  }
  for (auto& [id, card] : known) {  // not seen
    if (!card.present) continue;
    card.present = false;
    TRY(tx.hosts().upsert_card(card));
  }
  return {};
}

// No news is no charge: after a while without proof of life the segments close at the last.
Status note_silence(Tx& tx, const Deps& deps, Timestamp now) {
  TRY_ASSIGN(const auto hosts, tx.hosts().all());
  for (Host host : hosts) {
    if (now - host.last_seen_at < deps.policy.host_silent_after) continue;
    if (host.reachable) {
      host.reachable = false;
      TRY(tx.hosts().upsert(host));
      TRY(tx.events().append(Event{0, now, std::nullopt, std::nullopt, "host.silent",
                                   "system:observe", "host_silent", "host=" + host.name}));
    }
    // A host that is silent already may have answered a worker in between, and a run began.
    TRY_ASSIGN(const auto instances, tx.instances().alive());
    for (Instance instance : instances) {
      if (instance.host_id != host.id || instance.observed != Observed::running) continue;
      if (!instance.reachable) continue;
      TRY(close_segments(tx, deps, instance, host.last_seen_at, Cause::host_silent,
                         "system:observe"));
      instance.reachable = false;
      TRY(tx.instances().update(instance));
      TRY(record(tx, instance, now, "instance.unreachable", "system:observe", "host_silent"));
    }
  }
  return {};
}

// The engine shows it running: the run goes on, and after a silence billing resumes now.
Status note_running(Tx& tx, const Deps& deps, Instance instance, const EngineInstance& seen,
                    Timestamp now) {
  if (instance.reachable && instance.engine_run == seen.run) return {};
  if (!instance.reachable) {
    TRY_ASSIGN(const auto open, tx.ledger().open_segments_of(instance.id));
    TRY_ASSIGN(const auto allocations, tx.hosts().active_allocations_of(instance.id));
    std::vector<CardId> cards;
    for (const Allocation& allocation : allocations) cards.push_back(allocation.card_uuid);
    if (open.empty()) TRY(open_segment(tx, deps, instance, now, Cause::host_back, cards));
    instance.reachable = true;
    TRY(record(tx, instance, now, "instance.reachable", "system:observe", "host_back"));
  }
  if (instance.engine_run != seen.run) {
    instance.engine_run = seen.run;  // a reboot from inside keeps segment and rate
    if (!instance.notice_reason.empty()) instance.guest_current = false;  // the file is gone
  }
  return tx.instances().update(instance);
}

// Stopped or deleted behind our back: the run ended at the last proof of life.
Status note_vanished(Tx& tx, const Deps& deps, Instance instance, bool gone, Timestamp last_alive,
                     Timestamp now) {
  const Cause cause = instance.reachable ? Cause::vanished : Cause::host_reboot;
  TRY(close_segments(tx, deps, instance, last_alive, cause, "system:observe"));
  TRY(end_run(tx, instance, LifecycleEvent::vanish, now));
  instance.desired = Desired::stopped;
  if (gone) {
    set_fault(instance, "vanished",
              Text{"the instance was deleted from the engine by somebody else",
                   "实例已被他人从引擎中删除"},
              Text{"a start makes its system disk anew from the image; the data disk is kept if "
                   "it is still there",
                   "重新开机会从镜像重建系统盘；数据盘若仍存在则保留"});
  } else if (cause == Cause::host_reboot) {
    set_fault(instance, "host_reboot",
              Text{"the host was silent, and came back without this run",
                   "主机失去联系，恢复后该实例已停止运行"},
              Text{"it was charged to the last sign of life only; start it again",
                   "仅计费至主机最后一次响应；请重新开机"});
  } else {
    set_fault(instance, "vanished",
              Text{"the instance was stopped outside of Cardhour", "实例在 Cardhour 之外被停止"},
              Text{"start it again", "请重新开机"});
  }
  TRY(tx.instances().update(instance));
  return record(tx, instance, now, "instance.stopped", "system:observe",
                cause == Cause::vanished ? "vanished" : "host_reboot");
}

// The engine runs what should be stopped: it is stopped again, and never charged.
Status note_stray(Tx& tx, const Deps& deps, Instance instance, Timestamp now) {
  advance(instance, LifecycleEvent::stray);
  TRY(ensure_operation(tx, deps, instance, OperationKind::stop, now));
  TRY(tx.instances().update(instance));
  return record(tx, instance, now, "instance.stray", "system:observe",
                "the engine ran it without a grant");
}

}  // namespace

Result<std::vector<EngineHost>> ObserveLoop::look_at_hosts() {
  auto hosts = deps_.engine.hosts();
  const Timestamp now = deps_.clock.now();
  if (!hosts) {
    TRY(deps_.store.write([&](Tx& tx) { return note_silence(tx, deps_, now); }));
    return fail(hosts.error());
  }
  const auto images = deps_.engine.images();  // without an answer: as they were
  TRY(deps_.store.write([&](Tx& tx) -> Status {
    if (images) TRY(note_images(tx, *images));
    for (const EngineHost& seen : *hosts) {
      TRY(note_alive(tx, deps_, seen, now));
    }
    return note_silence(tx, deps_, now);  // of hosts that did not show up
  }));
  return hosts;
}

// A driver that does not answer is no news of the cards, and no silence of the host.
Status ObserveLoop::look_at_cards(const std::vector<EngineHost>& hosts) {
  TRY_ASSIGN(const ProbedGpus gpus, deps_.probe.probe());
  return deps_.store.write([&](Tx& tx) -> Status {
    for (const EngineHost& seen : hosts) {
      TRY_ASSIGN(const HostId id, note_driver(tx, deps_, seen, gpus));
      TRY(upsert_cards(tx, deps_, id, seen, gpus));
    }
    return {};
  });
}

Status ObserveLoop::note_hosts_before() {
  if (hosts_before_) return {};
  std::map<HostId, Timestamp> before;
  TRY(deps_.store.read([&](Tx& tx) -> Status {
    TRY_ASSIGN(const auto hosts, tx.hosts().all());
    for (const Host& host : hosts) before[host.id] = host.last_seen_at;
    return {};
  }));
  hosts_before_ = std::move(before);
  return {};
}

ObserveLoop::Life& ObserveLoop::life_of(const Instance& instance) {
  return lives_.try_emplace(instance.id, Life{(*hosts_before_)[instance.host_id], std::nullopt})
      .first->second;
}

Status ObserveLoop::look_at(const Instance& instance) {
  // The row was read before the engine is asked, and its version guards the conclusion.
  TRY_ASSIGN(const auto seen, deps_.engine.find(instance.id));
  if (seen && seen->status == EngineStatus::busy) return {};
  const bool running = seen && seen->status == EngineStatus::running;
  const Timestamp now = deps_.clock.now();
  Timestamp last_alive = now;
  if (instance.observed == Observed::running && !running) {
    Life& life = life_of(instance);
    if (!life.missing_since) life.missing_since = now;
    if (now - *life.missing_since < kStoppedForGood) return {};
    last_alive = life.last_alive;
  }
  return deps_.store.write([&](Tx& tx) -> Status {
    TRY_ASSIGN(const auto fresh, tx.instances().find(instance.id));
    TRY_ASSIGN(const auto operation, tx.instances().pending_operation(instance.id));
    if (!fresh || fresh->version != instance.version || operation) return {};
    if (instance.observed == Observed::running && running) {
      return note_running(tx, deps_, *fresh, *seen, now);
    }
    if (instance.observed == Observed::running) {
      return note_vanished(tx, deps_, *fresh, !seen, last_alive, now);
    }
    if (running) return note_stray(tx, deps_, *fresh, now);
    return {};
  });
}

// What the engine has and no row knows is adopted. Once all is accounted for, starts are granted.
Status ObserveLoop::account_for(const std::vector<EngineInstance>& seen,
                                const std::vector<Instance>& known) {
  std::optional<Restore> restore;
  TRY(deps_.store.read([&](Tx& tx) -> Status {
    TRY_ASSIGN(restore, tx.restores().latest());
    return {};
  }));
  is_restored_ = restore && !restore->reconciled_at;
  TRY_ASSIGN(const Accounting accounting,
             adopt_unknown(deps_, Sighting{seen, known, *hosts_before_}, is_restored_));
  if (accounting != Accounting::whole) return {};
  if (is_restored_) {
    restore->reconciled_at = deps_.clock.now();
    TRY(deps_.store.write([&](Tx& tx) { return tx.restores().put(*restore); }));
    is_restored_ = false;
  }
  deps_.first_look->note();
  return {};
}

// Until a restored database is reconciled, what runs without a row's knowledge is not a stray.
bool ObserveLoop::is_for_now(const Instance& instance, bool runs) const {
  const bool steady = instance.observed == Observed::running ||
                      instance.observed == Observed::stopped ||
                      instance.observed == Observed::in_bin;
  return steady && !(is_restored_ && runs);
}

Status ObserveLoop::pass() {
  TRY(note_hosts_before());
  TRY_ASSIGN(const std::vector<EngineHost> hosts, look_at_hosts());

  std::vector<Instance> known;
  TRY(deps_.store.read([&](Tx& tx) -> Status {
    TRY_ASSIGN(known, tx.instances().alive());
    return {};
  }));
  const Timestamp looked_at = deps_.clock.now();
  TRY_ASSIGN(const auto seen, deps_.engine.list());
  std::map<InstanceId, EngineInstance> by_id;
  for (const EngineInstance& instance : seen) by_id[instance.id] = instance;
  std::map<InstanceId, Life> lives;  // of what should run now
  for (const Instance& instance : known) {
    if (instance.observed != Observed::running) continue;
    Life life = life_of(instance);
    const auto found = by_id.find(instance.id);
    if (found != by_id.end() && found->second.status == EngineStatus::running) {
      life = Life{looked_at, std::nullopt};
    }
    lives.emplace(instance.id, life);
  }
  lives_ = std::move(lives);

  // One that cannot be looked at does not hide the others.
  Status first_failure = account_for(seen, known);
  for (const Instance& instance : known) {
    const auto found = by_id.find(instance.id);
    const bool running = found != by_id.end() && found->second.status == EngineStatus::running;
    const bool as_expected =
        instance.observed == Observed::running
            ? running && instance.reachable && found->second.run == instance.engine_run
            : !running;
    if (as_expected || !is_for_now(instance, running)) continue;
    const Status looked = look_at(instance);
    if (!looked && first_failure) first_failure = looked;
  }
  const Status cards = look_at_cards(hosts);  // last: a driver may hang
  if (!cards && first_failure) first_failure = cards;
  return first_failure;
}

}  // namespace cardhour
