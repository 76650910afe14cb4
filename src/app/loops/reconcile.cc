#include "app/events.h"
#include "app/loops/loops.h"
#include "app/runs.h"
#include "base/limits.h"

namespace cardhour {
namespace {

constexpr Duration kAnswersKept = days(30);  // idempotency keys: a client's longest retry

Status remember_forgotten(Tx& tx, const Deps& deps, Timestamp now) {
  TRY_ASSIGN(const auto forgotten, tx.instances().forgotten());
  for (const InstanceId& id : forgotten) {
    TRY_ASSIGN(const auto instance, tx.instances().find(id));
    const auto kind = instance ? needed_operation(*instance) : std::nullopt;
    if (kind) TRY(ensure_operation(tx, deps, *instance, *kind, now));
  }
  return {};
}

Status empty_bin(Tx& tx, const Deps& deps, Timestamp now) {
  TRY_ASSIGN(const auto expired, tx.instances().bin_expired(now, limits::kDueAccountsPerPass));
  for (const InstanceId& id : expired) {
    TRY_ASSIGN(auto instance, tx.instances().find(id));
    if (!instance || instance->observed != Observed::in_bin) continue;
    instance->desired = Desired::purged;
    TRY(tx.instances().update(*instance));
    TRY(ensure_operation(tx, deps, *instance, OperationKind::purge, now));
    TRY(record(tx, *instance, now, "instance.purging", "system:bin", "expired"));
  }
  return {};
}

}  // namespace

Status ReconcileLoop::pass() {
  const Timestamp now = deps_.clock.now();
  bool anything = false;
  TRY(deps_.store.read([&](Tx& tx) -> Status {
    TRY_ASSIGN(const auto forgotten, tx.instances().forgotten());
    TRY_ASSIGN(const auto expired, tx.instances().bin_expired(now, 1));
    anything = !forgotten.empty() || !expired.empty();
    return {};
  }));
  if (!anything) return {};
  TRY(deps_.store.write([&](Tx& tx) -> Status {
    TRY(remember_forgotten(tx, deps_, now));
    return empty_bin(tx, deps_, now);
  }));
  deps_.changed();
  return {};
}

Status ReconcileLoop::tidy() {
  const Timestamp now = deps_.clock.now();
  return deps_.store.write([&](Tx& tx) -> Status {
    TRY(tx.accounts().delete_expired_tokens(now));
    return tx.keys().delete_answers_before(now - kAnswersKept);
  });
}

}  // namespace cardhour
