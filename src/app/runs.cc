#include "app/runs.h"

#include "app/events.h"
#include "app/settlement.h"
#include "base/check.h"
#include "base/enum_text.h"

namespace cardhour {
namespace {

Operation fresh_operation(const Instance& instance, OperationKind kind, Timestamp now) {
  Operation operation;
  operation.instance_id = instance.id;
  operation.kind = kind;
  operation.step = first_step(kind, instance);
  operation.created_at = now;
  operation.not_before = now;
  return operation;
}

}  // namespace

void set_fault(Instance& instance, const std::string& code, const Text& what, const Text& next) {
  instance.fault_code = code;
  instance.fault_what_en = what.en;
  instance.fault_what_zh = what.zh;
  instance.fault_next_en = next.en;
  instance.fault_next_zh = next.zh;
}

void clear_fault(Instance& instance) { set_fault(instance, "", {}, {}); }

Status ensure_operation(Tx& tx, const Deps& deps, const Instance& instance, OperationKind kind,
                        Timestamp now) {
  TRY_ASSIGN(std::optional<Operation> pending, tx.instances().pending_operation(instance.id));
  Operation wanted = fresh_operation(instance, kind, now);
  if (!pending) {
    wanted.id = deps.entropy.id<OperationId>();
    return tx.instances().insert_operation(wanted);
  }
  if (pending->kind == kind) return {};
  wanted.id = pending->id;
  wanted.lock_token = pending->lock_token;
  wanted.lock_expires_at = pending->lock_expires_at;
  return tx.instances().update_operation(wanted);
}

Status refresh_guests(Tx& tx, const Deps& deps, const AccountId& account, Timestamp now) {
  TRY_ASSIGN(const auto instances, tx.instances().of_account(account));
  for (Instance instance : instances) {
    instance.guest_current = false;
    TRY(tx.instances().update(instance));
    if (instance.observed != Observed::running) continue;
    TRY_ASSIGN(const auto pending, tx.instances().pending_operation(instance.id));
    if (!pending) TRY(ensure_operation(tx, deps, instance, OperationKind::refresh, now));
  }
  return {};
}

Status release_hold(Tx& tx, const Deps& deps, Instance& instance, Timestamp at,
                    const std::string& actor) {
  if (instance.held == Money{}) return {};
  LedgerTransaction head = transaction_head(deps, instance.account_id, at, actor);
  head.instance_id = instance.id;
  TRY(tx.ledger().append(hold_release_entry(std::move(head), instance.held)));
  instance.held = Money{};
  return {};
}

Status order_stop(Tx& tx, const Deps& deps, Instance& instance, const StopOrder& order,
                  Timestamp now) {
  TRY(close_segments(tx, deps, instance, order.at, order.cause, order.actor));
  TRY(release_hold(tx, deps, instance, now, order.actor));
  advance(instance, order.event);
  instance.desired = order.desired;
  instance.notice_reason.clear();  // the file goes with the run
  instance.notice_deadline.reset();
  TRY(ensure_operation(tx, deps, instance, OperationKind::stop, now));
  TRY(tx.instances().update(instance));
  return record(tx, instance, now, "instance." + std::string(enum_text(instance.observed)),
                order.actor, std::string(enum_text(order.cause)), order.detail);
}

Status end_run(Tx& tx, Instance& instance, LifecycleEvent event, Timestamp now) {
  TRY(tx.hosts().release_allocations(instance.id, now));
  advance(instance, event);
  instance.run_id.reset();
  instance.engine_run.clear();
  instance.ready_at.reset();
  instance.reachable = true;
  instance.stopped_at = now;
  instance.notice_reason.clear();  // the file goes with the run
  instance.notice_deadline.reset();
  return {};
}

Status note_stopped(Tx& tx, const Deps& deps, Instance& instance, Timestamp now,
                    const std::string& actor, const std::string& reason) {
  TRY(end_run(tx, instance, LifecycleEvent::stopped, now));
  if (instance.observed == Observed::in_bin) instance.bin_until = now + deps.policy.bin;
  TRY(tx.instances().update(instance));
  return record(tx, instance, now, "instance." + std::string(enum_text(instance.observed)), actor,
                reason);
}

Status order_notice(Tx& tx, const Deps& deps, Instance& instance, const NoticeOrder& order,
                    Timestamp now) {
  CHECK(instance.observed == Observed::running, "notices go to running instances");
  instance.notice_reason = order.reason;
  instance.notice_deadline = order.deadline;
  instance.guest_current = false;
  TRY_ASSIGN(const auto pending, tx.instances().pending_operation(instance.id));
  // A restart that is under way goes first; the reconcile loop brings the notice after it.
  if (!pending) TRY(ensure_operation(tx, deps, instance, OperationKind::refresh, now));
  TRY(tx.instances().update(instance));
  return record(tx, instance, now,
                order.reason.empty() ? "instance.notice_withdrawn" : "instance.notice", order.actor,
                order.reason, order.deadline ? "deadline=" + to_rfc3339(*order.deadline) : "");
}

}  // namespace cardhour
