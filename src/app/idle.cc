#include "app/idle.h"

#include "app/events.h"
#include "app/instances.h"
#include "app/runs.h"
#include "base/enum_text.h"

namespace cardhour {
namespace {

const std::string kActor = "system:idle";
const std::string kReason = "idle";
constexpr Duration kAfterMin = minutes(10);
constexpr Duration kAfterMax = hours(24);  // as far back as the finest curves reach
constexpr Duration kGrace = minutes(10);   // from the warning to the stop
constexpr Duration kHoldMax = days(30);
// Two looks may be missed, as when the server restarts; the third is missing data.
constexpr Duration kGapMax = seconds(30);

tl::unexpected<Error> no_rule() {
  return fail(ErrorCode::conflict, Text{"this instance has no idle rule", "该实例未设置空闲规则"},
              Text{"cardhour idle ID --after 30m", "cardhour idle ID --after 30m"});
}

Status withdraw(Tx& tx, const Deps& deps, Instance& instance, Timestamp now) {
  if (instance.observed != Observed::running || instance.notice_reason != kReason) return {};
  return order_notice(tx, deps, instance, NoticeOrder{"", std::nullopt, kActor}, now);
}

Status warn(Tx& tx, const Deps& deps, IdleRule rule, Instance& instance, Timestamp now) {
  rule.warned_at = now;
  if (rule.action != IdleAction::notify) rule.deadline = now + kGrace;
  TRY(tx.idle().set(rule));
  TRY(record(tx, instance, now, "instance.idle", kActor, std::string(enum_text(rule.action)),
             "for=" + for_people(rule.after, Language::en)));
  // A warning of an empty wallet is the more urgent one.
  if (!rule.deadline || !instance.notice_reason.empty()) return {};
  return order_notice(tx, deps, instance, NoticeOrder{kReason, rule.deadline, kActor}, now);
}

Status cancel(Tx& tx, const Deps& deps, IdleRule rule, Instance& instance, Timestamp now,
              const std::string& why) {
  rule.warned_at.reset();
  rule.deadline.reset();
  TRY(tx.idle().set(rule));
  if (instance.observed != Observed::running) return {};  // its stop says enough
  TRY(record(tx, instance, now, "instance.busy", kActor, why));
  return withdraw(tx, deps, instance, now);
}

Status act(Tx& tx, const Deps& deps, IdleRule rule, Instance& instance, Timestamp now) {
  const bool to_no_gpu = rule.action == IdleAction::no_gpu && instance.mode != Mode::no_gpu;
  rule.warned_at.reset();
  rule.deadline.reset();
  rule.then_no_gpu = to_no_gpu;
  TRY(tx.idle().set(rule));
  const std::string how_long_en = for_people(rule.after, Language::en);
  const std::string how_long_zh = for_people(rule.after, Language::zh);
  set_fault(instance, kReason,
            Text{"nothing happened in it for " + how_long_en + ", so it was stopped as you set",
                 "实例已空闲 " + how_long_zh + "，按您的设置关机"},
            Text{"start it again; `cardhour hold` keeps it on for a while",
                 "重新开机即可；`cardhour hold` 可在一段时间内保持运行"});
  return order_stop(tx, deps, instance,
                    StopOrder{LifecycleEvent::stop, Desired::stopped, Cause::idle, now, kActor,
                              "after=" + how_long_en},
                    now);
}

}  // namespace

Result<InstanceId> IdleRules::id_of(const Actor& actor, const std::string& id) {
  TRY_ASSIGN(const InstanceView view, Instances(deps_).get(actor, id));
  return view.instance.id;
}

Result<std::optional<IdleRule>> IdleRules::find(const Actor& actor, const std::string& id) {
  TRY_ASSIGN(const InstanceId instance, id_of(actor, id));
  std::optional<IdleRule> rule;
  TRY(deps_.store.read([&](Tx& tx) -> Status {
    TRY_ASSIGN(rule, tx.idle().find(instance));
    return {};
  }));
  return rule;
}

Result<IdleRule> IdleRules::set(const Actor& actor, const std::string& id, IdleAction action,
                                Duration after) {
  TRY_ASSIGN(const InstanceId instance_id, id_of(actor, id));
  if (after < kAfterMin || after > kAfterMax) {
    return invalid("after_ms",
                   Text{"between 10 minutes and 24 hours", "须在 10 分钟至 24 小时之间"});
  }
  const Timestamp now = deps_.clock.now();
  IdleRule rule;
  rule.instance_id = instance_id;
  rule.action = action;
  rule.after = after;
  TRY(deps_.store.write([&](Tx& tx) -> Status {
    TRY_ASSIGN(const auto before, tx.idle().find(instance_id));
    if (before) rule.hold_until = before->hold_until;
    TRY(tx.idle().set(rule));
    TRY_ASSIGN(auto instance, tx.instances().find(instance_id));
    if (!instance) return {};
    TRY(record(tx, *instance, now, "instance.idle_rule", actor.name, std::string(enum_text(action)),
               "after=" + for_people(after, Language::en)));
    return withdraw(tx, deps_, *instance, now);
  }));
  deps_.changed();
  return rule;
}

Status IdleRules::clear(const Actor& actor, const std::string& id) {
  TRY_ASSIGN(const InstanceId instance_id, id_of(actor, id));
  const Timestamp now = deps_.clock.now();
  TRY(deps_.store.write([&](Tx& tx) -> Status {
    TRY_ASSIGN(const bool was, tx.idle().remove(instance_id));
    if (!was) return no_rule();
    TRY_ASSIGN(auto instance, tx.instances().find(instance_id));
    if (!instance) return {};
    TRY(record(tx, *instance, now, "instance.idle_rule", actor.name, "none"));
    return withdraw(tx, deps_, *instance, now);
  }));
  deps_.changed();
  return {};
}

Result<IdleRule> IdleRules::hold(const Actor& actor, const std::string& id, Duration how_long) {
  TRY_ASSIGN(const InstanceId instance_id, id_of(actor, id));
  if (how_long.ms < 0 || how_long > kHoldMax) {
    return invalid("for_ms", Text{"at most 30 days", "最多 30 天"});
  }
  const Timestamp now = deps_.clock.now();
  IdleRule held;
  TRY(deps_.store.write([&](Tx& tx) -> Status {
    TRY_ASSIGN(const auto rule, tx.idle().find(instance_id));
    if (!rule) return no_rule();
    held = *rule;
    held.hold_until = now + how_long;
    TRY(tx.idle().set(held));
    TRY_ASSIGN(auto instance, tx.instances().find(instance_id));
    if (!instance || !held.warned_at) return {};
    held.warned_at.reset();
    held.deadline.reset();
    return cancel(tx, deps_, held, *instance, now, "hold");
  }));
  deps_.changed();
  return held;
}

Result<bool> IdleLoop::is_idle(const IdleRule& rule, const Instance& instance, Timestamp now) {
  const bool has_cards = instance.mode != Mode::no_gpu;
  // What is busy now needs no look back.
  const SeriesId id{SeriesKind::instance, instance.id.text};
  const auto look = watch_.latest();
  const auto row = look->rows.find(id);
  if (row == look->rows.end() || !is_quiet(row->second, has_cards, {})) return false;
  if (deps_.series == nullptr || !instance.reachable) return false;
  const Timestamp from = now - rule.after;
  // A run that began within the window has not been idle for so long.
  if (!instance.ready_at || *instance.ready_at > from) return false;
  TRY_ASSIGN(const auto points, deps_.series->read(id, 0, from, now + seconds(1)));
  return was_idle(points, from, now, has_cards, kGapMax, {});
}

// Stopped by its rule to go on without cards: as if its renter had started it so.
Status IdleLoop::go_on_without_cards(const IdleRule& rule, const Instance& instance) {
  if (instance.observed != Observed::stopped) return {};
  IdleRule done = rule;
  done.then_no_gpu = false;
  Actor owner;
  owner.account = instance.account_id;
  owner.scopes = all_scopes(Role::renter);
  owner.name = kActor;
  const bool is_wanted = instance.desired == Desired::stopped && instance.fault_code == kReason;
  const auto started =
      is_wanted ? Instances(deps_).start(owner, instance.id.text, {Mode::no_gpu, "", 0}, {})
                : Result<Instance>(instance);
  // What passes by itself, as just after the server's start, is waited for.
  if (!started && (started.error().code == ErrorCode::store_unavailable ||
                   started.error().code == ErrorCode::engine_unavailable)) {
    return fail(started.error());
  }
  return deps_.store.write([&](Tx& tx) -> Status {
    TRY(tx.idle().set(done));
    if (started) return {};
    return record(tx, instance, deps_.clock.now(), "instance.idle", kActor, "stays_stopped",
                  started.error().what.en);
  });
}

Status IdleLoop::look_at(const IdleRule& rule) {
  std::optional<Instance> instance;
  TRY(deps_.store.read([&](Tx& tx) -> Status {
    TRY_ASSIGN(instance, tx.instances().find(rule.instance_id));
    return {};
  }));
  const Timestamp now = deps_.clock.now();
  if (!instance || instance->observed == Observed::purged) {
    return deps_.store.write([&](Tx& tx) -> Status {
      TRY_ASSIGN([[maybe_unused]] const bool was, tx.idle().remove(rule.instance_id));
      return {};
    });
  }
  if (rule.then_no_gpu) return go_on_without_cards(rule, *instance);
  bool idle = false;
  if (instance->observed == Observed::running) {
    TRY_ASSIGN(idle, is_idle(rule, *instance, now));
  } else if (!rule.warned_at) {
    return {};
  }
  const IdleStep step = next_idle_step(rule, idle, now);
  if (step == IdleStep::nothing) return {};
  TRY(deps_.store.write([&](Tx& tx) -> Status {
    TRY_ASSIGN(auto fresh, tx.instances().find(rule.instance_id));
    TRY_ASSIGN(const auto same_rule, tx.idle().find(rule.instance_id));
    // What changed meanwhile is looked at anew.
    if (!fresh || fresh->version != instance->version || same_rule != rule) return {};
    if (step == IdleStep::warn) return warn(tx, deps_, rule, *fresh, now);
    if (step == IdleStep::cancel) return cancel(tx, deps_, rule, *fresh, now, "activity");
    return act(tx, deps_, rule, *fresh, now);
  }));
  deps_.changed();
  return {};
}

Status IdleLoop::pass() {
  std::vector<IdleRule> rules;
  TRY(deps_.store.read([&](Tx& tx) -> Status {
    TRY_ASSIGN(rules, tx.idle().rules());
    return {};
  }));
  Status first;
  for (const IdleRule& rule : rules) {
    const Status looked = look_at(rule);
    if (!looked && first) first = looked;
  }
  return first;
}

}  // namespace cardhour
