#include <algorithm>
#include <set>

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
Status update_notices(Tx& tx, const Deps& deps, const AccountId& account, const Funds& funds,
                      std::optional<Timestamp> empty, Timestamp now) {
  const bool short_of = empty && *empty - now <= deps.policy.arrears_notice;
  const bool comfortable = !empty || *empty - now > deps.policy.arrears_notice_withdrawn;
  TRY_ASSIGN(const auto with_notice, tx.instances().warned(account));
  if (with_notice.empty() && !short_of) return {};  // as almost always
  const std::set<InstanceId> noticed(with_notice.begin(), with_notice.end());
  for (const Segment& segment : funds.open) {
    if (!short_of && !noticed.contains(segment.instance_id)) continue;
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

Status settle_one(Tx& tx, const Deps& deps, const AccountId& account, Funds funds, Timestamp now) {
  const auto empty = funds.covered_until(now);
  if (empty && *empty < now) {
    const Timestamp at = now - *empty <= kPunctual ? *empty : now;
    return stop_unpaid(tx, deps, funds.open, at, now);
  }
  TRY(update_notices(tx, deps, account, funds, empty, now));
  return settle_account(tx, deps, account, std::move(funds), now, "system:settle");
}

// Settles accounts from `at` on in one transaction, until it has held the writer for long enough.
// Leaves `at` behind the last one.
Status settle_batch(const Deps& deps, const std::vector<AccountId>& due, size_t& at,
                    Timestamp now) {
  const size_t begin = at;
  return deps.store.write([&](Tx& tx) -> Status {
    int segments = 0;
    for (at = begin; at < due.size() && segments < limits::kSegmentsPerSettlement; ++at) {
      TRY_ASSIGN(Funds funds, load_funds(tx, due[at]));
      segments += std::max(1, static_cast<int>(funds.open.size()));
      TRY(settle_one(tx, deps, due[at], std::move(funds), now));
    }
    return {};
  });
}

}  // namespace

Status SettleLoop::pass() {
  const Timestamp now = deps_.clock.now();
  for (int round = 0; round < limits::kSettleRoundsPerPass; ++round) {
    std::vector<AccountId> due;
    TRY(deps_.store.read([&](Tx& tx) -> Status {
      TRY_ASSIGN(due, tx.accounts().due(now, limits::kDueAccountsPerPass));
      return {};
    }));
    for (size_t at = 0; at < due.size();) TRY(settle_batch(deps_, due, at, now));
    if (!due.empty()) deps_.changed();
    if (due.size() < static_cast<size_t>(limits::kDueAccountsPerPass)) break;
  }
  return {};
}

}  // namespace cardhour
