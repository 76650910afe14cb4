#include "app/operations.h"

#include <algorithm>
#include <set>

#include "app/events.h"
#include "app/runs.h"
#include "app/secrets.h"
#include "app/settlement.h"
#include "app/steps.h"
#include "base/check.h"
#include "base/enum_text.h"

namespace cardhour {
namespace {

// A lock outlives the longest engine call (a graceful stop, an image unpacked for the first
// time) with room to spare; after a crash of the process unlock_all() opens it at once.
constexpr Duration kLock = minutes(10);

struct Claimed {
  Operation operation;
  Instance instance;
  StepInput input;
};

Result<StepInput> load_input(Tx& tx, const Deps& deps, const Instance& instance) {
  StepInput input;
  input.identity.hostname = instance.id.text;
  // Without its secrets an instance can still be stopped and purged.
  if (const auto secrets = unseal_secrets(deps, instance.secrets_sealed)) {
    input.identity.token = secrets->token;
    input.identity.password = secrets->password;
    input.identity.host_key_private = secrets->host_key_private;
    input.identity.host_key_public = secrets->host_key_public;
  } else {
    input.no_identity = secrets.error();
  }
  TRY_ASSIGN(const auto keys, tx.accounts().ssh_keys(instance.account_id));
  for (const SshKey& key : keys) input.identity.authorized_keys.push_back(key.public_key);
  TRY_ASSIGN(input.cards, tx.hosts().granted_to(instance.id));
  return input;
}

// Locks the next due operation and loads what its step needs.
Result<std::optional<Claimed>> claim(const Deps& deps) {
  std::optional<Claimed> claimed;
  const std::string lock_token = id_text('l', deps.entropy.bits());
  TRY(deps.store.write([&](Tx& tx) -> Status {
    claimed.reset();
    const Timestamp now = deps.clock.now();
    TRY_ASSIGN(auto operation, tx.instances().claim_operation(now, lock_token, now + kLock));
    if (!operation) return {};
    TRY_ASSIGN(auto instance, tx.instances().find(operation->instance_id));
    CHECK(instance.has_value(), "an operation has its instance");
    TRY_ASSIGN(auto input, load_input(tx, deps, *instance));
    claimed = Claimed{std::move(*operation), std::move(*instance), std::move(input)};
    return {};
  }));
  return claimed;
}

void unlock(Operation& operation) {
  operation.lock_token.clear();
  operation.lock_expires_at.reset();
}

Status finish(Tx& tx, Operation& operation, OperationState state) {
  operation.state = state;
  unlock(operation);
  return tx.instances().update_operation(operation);
}

void go_to(Operation& operation, Step step, Timestamp now) {
  CHECK(has_step(operation.kind, step), "a step that its kind of operation does not have");
  operation.step = step;
  operation.attempt = 0;
  operation.not_before = now;
  operation.deadline.reset();
  operation.last_error.clear();
  operation.last_error_zh.clear();
}

// The run became usable: billing begins now.
Status apply_ready(Tx& tx, const Deps& deps, Claimed& claimed, const StepResult& result,
                   Timestamp now) {
  Instance& instance = claimed.instance;
  TRY(finish(tx, claimed.operation, OperationState::done));
  instance.engine_run = result.engine_run;
  instance.guest_current = instance.notice_reason.empty();  // a notice went with the run before
  if (claimed.operation.kind == OperationKind::restart) {
    TRY(tx.instances().update(instance));
    return record(tx, instance, now, "instance.restarted", "system:operations", "ready");
  }
  TRY(release_hold(tx, deps, instance, now, "system:operations"));
  advance(instance, LifecycleEvent::ready);
  instance.reachable = true;
  instance.ready_at = now;
  std::vector<CardId> cards;
  for (const Card& card : claimed.input.cards) cards.push_back(card.uuid);
  TRY(open_segment(tx, deps, instance, now, Cause::ready, cards));
  TRY(tx.instances().update(instance));
  return record(tx, instance, now, "instance.running", "system:operations", "ready");
}

// The start (or restart) will not succeed: nothing is charged for a failed start.
Status apply_failure(Tx& tx, const Deps& deps, Claimed& claimed, const Error& error,
                     Timestamp now) {
  Instance& instance = claimed.instance;
  const bool restart = claimed.operation.kind == OperationKind::restart;
  Text remedy = error.next;
  if (restart) {
    remedy = Text{"it was charged until the restart was asked for; start it again",
                  "仅计费至请求重启的时刻；请重新开机"};
  } else if (remedy.en.empty()) {
    remedy = Text{"nothing was charged; start again, and tell the operator if it happens twice",
                  "本次不计费；请重新开机，若再次出现请联系运营者"};
  }
  set_fault(instance, std::string(enum_text(error.code)), error.what, remedy);
  // Billing of a failed restart ends with it: the run was not usable any more.
  const StopOrder order{LifecycleEvent::fail,
                        Desired::stopped,
                        restart ? Cause::restart_failed : Cause::start_failed,
                        restart ? claimed.operation.created_at : now,
                        "system:operations",
                        error.what.en};
  TRY(order_stop(tx, deps, instance, order, now));
  // order_stop made this operation a stop; the engine is not asked politely.
  TRY_ASSIGN(auto stop, tx.instances().pending_operation(instance.id));
  CHECK(stop && stop->kind == OperationKind::stop, "a failed start is stopped");
  stop->step = Step::force;
  unlock(*stop);
  return tx.instances().update_operation(*stop);
}

Status apply_purged(Tx& tx, Claimed& claimed, Timestamp now) {
  Instance& instance = claimed.instance;
  TRY(finish(tx, claimed.operation, OperationState::done));
  TRY(tx.hosts().delete_claims(instance.id));
  TRY(tx.accounts().delete_tokens_of(instance.id));
  TRY(tx.restores().delete_adoption(instance.id));
  advance(instance, LifecycleEvent::purged);
  instance.secrets_sealed.clear();
  TRY(tx.instances().update(instance));
  return record(tx, instance, now, "instance.purged", "system:operations", "released");
}

Status apply_stopped(Tx& tx, const Deps& deps, Claimed& claimed, Timestamp now) {
  Instance& instance = claimed.instance;
  TRY(finish(tx, claimed.operation, OperationState::done));
  TRY(note_stopped(tx, deps, instance, now, "system:operations", "stopped"));
  const auto next = needed_operation(instance);  // a purge, if that was asked for
  return next ? ensure_operation(tx, deps, instance, *next, now) : Status();
}

Status apply_done(Tx& tx, const Deps& deps, Claimed& claimed, const StepResult& result,
                  Timestamp now) {
  switch (claimed.operation.kind) {
    case OperationKind::start:
    case OperationKind::restart:
      return apply_ready(tx, deps, claimed, result, now);
    case OperationKind::stop:
      return apply_stopped(tx, deps, claimed, now);
    case OperationKind::purge:
      return apply_purged(tx, claimed, now);
    case OperationKind::refresh:
      TRY(finish(tx, claimed.operation, OperationState::done));
      claimed.instance.guest_current = true;
      return tx.instances().update(claimed.instance);
  }
  return {};
}

Status apply_result(Tx& tx, const Deps& deps, Claimed& claimed, const StepResult& result) {
  const Timestamp now = deps.clock.now();
  Operation& operation = claimed.operation;
  switch (result.kind) {
    case StepResult::Kind::next:
      go_to(operation, result.step, now);
      operation.deadline = result.deadline;
      unlock(operation);
      return tx.instances().update_operation(operation);
    case StepResult::Kind::again:
      ++operation.attempt;
      operation.not_before = now + result.wait;
      operation.last_error = result.error.what.en;
      operation.last_error_zh = result.error.what.zh;
      unlock(operation);
      return tx.instances().update_operation(operation);
    case StepResult::Kind::done:
      return apply_done(tx, deps, claimed, result, now);
    case StepResult::Kind::failed:
      return apply_failure(tx, deps, claimed, result.error, now);
  }
  return {};
}

// The result counts only if nothing changed since the claim; otherwise the lock is opened
// and the changed operation starts afresh.
Status apply(const Deps& deps, const Claimed& claimed, const StepResult& result) {
  return deps.store.write([&](Tx& tx) -> Status {
    Claimed fresh = claimed;
    TRY_ASSIGN(auto operation, tx.instances().find_operation(claimed.operation.id));
    if (!operation || operation->lock_token != claimed.operation.lock_token) return {};
    TRY_ASSIGN(const auto instance, tx.instances().find(claimed.instance.id));
    CHECK(instance.has_value(), "instances are never deleted");
    const bool same = instance->version == claimed.instance.version &&
                      operation->kind == claimed.operation.kind &&
                      operation->state == OperationState::pending;
    if (!same) {
      unlock(*operation);
      return tx.instances().update_operation(*operation);
    }
    return apply_result(tx, deps, fresh, result);
  });
}

}  // namespace

Status Operations::open_stuck() {
  std::vector<Stuck> stuck;
  {
    const std::lock_guard lock(mutex_);
    stuck.swap(stuck_);
  }
  if (stuck.empty()) return {};
  const Status opened = deps_.store.write([&](Tx& tx) -> Status {
    for (const Stuck& one : stuck) {
      TRY_ASSIGN(auto operation, tx.instances().find_operation(one.id));
      if (!operation || operation->lock_token != one.lock_token) continue;
      unlock(*operation);
      TRY(tx.instances().update_operation(*operation));
    }
    return {};
  });
  if (opened) return {};
  const std::lock_guard lock(mutex_);
  stuck_.insert(stuck_.end(), stuck.begin(), stuck.end());
  return opened;
}

Result<bool> Operations::run_one() {
  TRY(open_stuck());
  TRY_ASSIGN(const std::optional<Claimed> claimed, claim(deps_));
  if (!claimed) return false;
  const StepResult result =
      perform_step(deps_, claimed->operation, claimed->instance, claimed->input);
  const Status applied = apply(deps_, *claimed, result);
  if (!applied) {
    const std::lock_guard lock(mutex_);
    stuck_.push_back(Stuck{claimed->operation.id, claimed->operation.lock_token});
    return fail(applied.error());
  }
  deps_.changed();
  return true;
}

Status Operations::unlock_all() {
  return deps_.store.write([](Tx& tx) { return tx.instances().unlock_operations(); });
}

Result<std::optional<Timestamp>> Operations::next_due() {
  std::optional<Timestamp> at;
  {
    const std::lock_guard lock(mutex_);
    if (!stuck_.empty()) at = deps_.clock.now();
  }
  if (at) return at;
  TRY(deps_.store.read([&](Tx& tx) -> Status {
    TRY_ASSIGN(at, tx.instances().next_operation_at());
    return {};
  }));
  return at;
}

}  // namespace cardhour
