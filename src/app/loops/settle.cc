#include <algorithm>

#include "app/events.h"
#include "app/loops/loops.h"
#include "app/runs.h"
#include "app/settlement.h"
#include "base/enum_text.h"
#include "base/limits.h"

namespace cardhour {
namespace {

// A stop that is decided this soon after the balance ran out is dated back to that instant.
// Later than that this process was down: the run goes on to now, and what the wallet cannot
// pay is written off.
constexpr Duration kPunctual = seconds(5);

Status stop_unpaid(Tx& tx, const Deps& deps, const std::vector<Segment>& open, Timestamp at,
                   Timestamp now) {
  for (const Segment& segment : open) {
    if (segment.rate_per_hour == Money{}) continue;  // what costs nothing runs on
    TRY_ASSIGN(auto instance, tx.instances().find(segment.instance_id));
    if (!instance || instance->observed != Observed::running) continue;
    set_fault(*instance, "arrears",
              Text{"the balance reached zero, so the run was stopped; the disks are kept",
                   "余额已用完，实例已关机；磁盘已保留"},
              Text{"top up, then start again", "请充值后重新开机"});
    TRY(order_stop(
        tx, deps, *instance,
        StopOrder{LifecycleEvent::stop, Desired::stopped, Cause::arrears, at, "system:settle", ""},
        now));
  }
  return {};
}

// Warns running instances while the runway is short, corrects the deadline, and takes the
// warning back. What costs nothing runs on and is not warned.
Status update_notices(Tx& tx, const Deps& deps, const Funds& funds, Timestamp now) {
  const auto empty = funds.covered_until(now);
  const bool short_of = empty && *empty - now <= deps.policy.arrears_notice;
  const bool comfortable = !empty || *empty - now > deps.policy.arrears_notice_withdrawn;
  for (const Segment& segment : funds.open) {
    TRY_ASSIGN(auto instance, tx.instances().find(segment.instance_id));
    if (!instance || instance->observed != Observed::running) continue;
    const bool warned = instance->notice_reason == enum_text(Cause::arrears);
    const bool moved = warned && !comfortable && instance->notice_deadline != empty;
    if (moved || (short_of && !warned && segment.rate_per_hour != Money{})) {
      TRY(order_notice(tx, deps, *instance,
                       NoticeOrder{std::string(enum_text(Cause::arrears)), empty}, now));
    } else if (comfortable && warned) {
      TRY(order_notice(tx, deps, *instance, NoticeOrder{}, now));
    }
  }
  return {};
}

Status settle_one(Tx& tx, const Deps& deps, const AccountId& account, Timestamp now) {
  TRY_ASSIGN(const Funds funds, load_funds(tx, account));
  const auto empty = funds.covered_until(now);
  if (empty && *empty < now) {
    const Timestamp at = now - *empty <= kPunctual ? *empty : now;
    return stop_unpaid(tx, deps, funds.open, at, now);
  }
  TRY(update_notices(tx, deps, funds, now));
  return settle_account(tx, deps, account, now, "system:settle");
}

}  // namespace

Status SettleLoop::pass() {
  std::vector<AccountId> due;
  const Timestamp now = deps_.clock.now();
  TRY(deps_.store.read([&](Tx& tx) -> Status {
    TRY_ASSIGN(due, tx.accounts().due(now, limits::kDueAccountsPerPass));
    return {};
  }));
  for (const AccountId& account : due) {
    TRY(deps_.store.write([&](Tx& tx) { return settle_one(tx, deps_, account, now); }));
  }
  if (!due.empty()) deps_.changed();
  return {};
}

}  // namespace cardhour
