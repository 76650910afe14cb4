#include "app/adoptions.h"

#include "app/events.h"
#include "app/grants.h"
#include "app/runs.h"
#include "app/secrets.h"
#include "app/settlement.h"
#include "base/enum_text.h"

namespace cardhour {
namespace {

const char* const kRestore = "system:restore";

tl::unexpected<Error> not_adopted() {
  return fail(
      ErrorCode::not_found, Text{"no such instance waits for a decision", "没有该待决定的实例"},
      Text{"`cardhour admin adopted ls` lists them", "运行 `cardhour admin adopted ls` 查看列表"});
}

Status call_off(Tx& tx, const InstanceId& id) {
  TRY_ASSIGN(auto pending, tx.instances().pending_operation(id));
  if (!pending) return {};
  pending->state = OperationState::superseded;
  pending->lock_token.clear();
  pending->lock_expires_at.reset();
  return tx.instances().update_operation(*pending);
}

Status put_at_rest(Tx& tx, const Deps& deps, Instance instance, Timestamp now) {
  TRY(call_off(tx, instance.id));
  TRY_ASSIGN(auto rule, tx.idle().find(instance.id));
  if (rule && rule->then_no_gpu) {  // a start that nobody asked for today
    rule->then_no_gpu = false;
    TRY(tx.idle().set(*rule));
  }
  switch (instance.observed) {
    case Observed::creating:
    case Observed::starting:
      TRY(release_hold(tx, deps, instance, now, kRestore));
      advance(instance, LifecycleEvent::fail);
      instance.desired = Desired::stopped;
      set_fault(instance, "restored",
                Text{"the database was restored from a backup that was made during this start",
                     "数据库已从备份恢复，该备份是在本次开机过程中制作的"},
                Text{"nothing was charged; start it again", "本次不计费；请重新开机"});
      return note_stopped(tx, deps, instance, now, kRestore, "restored");
    case Observed::stopping:
    case Observed::releasing:
      return note_stopped(tx, deps, instance, now, kRestore, "restored");
    case Observed::in_bin:
      instance.desired = Desired::released;
      instance.bin_until = now + deps.policy.bin;
      return tx.instances().update(instance);
    case Observed::running:
    case Observed::stopped:
    case Observed::purged:
      return {};
  }
  return {};
}

// The account that the operator means, or the engine's own word.
Result<Account> account_for(Tx& tx, const Adoption& adoption, const std::string& typed) {
  const std::string word = typed.empty() ? adoption.engine_account.text : typed;
  TRY_ASSIGN(auto by_login, tx.accounts().find_login(word));
  if (by_login) return std::move(*by_login);
  TRY_ASSIGN(auto by_id, tx.accounts().find(AccountId{word}));
  if (by_id) return std::move(*by_id);
  if (!typed.empty()) return invalid("account", Text{"no such account", "没有该账户"});
  return invalid("account",
                 text("the account that it belonged to ({}) is not in this database",
                      "该实例原属的账户（{}）不在此数据库中", adoption.engine_account.text),
                 Text{"name one: --account LOGIN", "请用 --account 指定账户"});
}

// Charged from now on, at today's price.
Status begin_charging(Tx& tx, const Deps& deps, Instance& instance, Timestamp now) {
  const Shape shape{instance.mode, instance.gpu_model, instance.gpu_count};
  TRY_ASSIGN(const ShapePrice price, price_of(tx, shape));
  instance.rate_per_hour = price.rate_per_hour;
  TRY_ASSIGN(const auto allocations, tx.hosts().active_allocations_of(instance.id));
  std::vector<CardId> cards;
  for (const Allocation& allocation : allocations) cards.push_back(allocation.card_uuid);
  TRY(open_segment(tx, deps, instance, now, Cause::adopted, cards));
  TRY_ASSIGN(const auto pending, tx.instances().pending_operation(instance.id));
  if (pending || instance.guest_current) return {};
  return ensure_operation(tx, deps, instance, OperationKind::refresh, now);
}

Status keep_in(Tx& tx, const Deps& deps, Instance& instance, const Adoption& adoption,
               const AccountId& account, const Actor& actor, Timestamp now) {
  const bool runs = instance.observed == Observed::running;
  if (!runs && instance.observed != Observed::stopped) {
    return fail(
        ErrorCode::conflict,
        text("the instance is {}", "实例当前状态为 {}", std::string(enum_text(instance.observed))),
        Text{"wait until it rests, or `cardhour restore` it from the bin",
             "请等待其状态稳定，或先用 `cardhour restore` 从回收站恢复"});
  }
  if (runs) TRY(close_segments(tx, deps, instance, now, Cause::adopted, actor.name));
  instance.account_id = account;
  if (adoption.kind == AdoptionKind::instance) {
    TRY(tx.accounts().delete_tokens_of(instance.id));
    TRY(make_identity(tx, deps, instance));
    instance.guest_current = false;
  }
  clear_fault(instance);
  if (runs) TRY(begin_charging(tx, deps, instance, now));
  TRY(tx.instances().update(instance));
  TRY(tx.restores().delete_adoption(instance.id));
  return record(tx, instance, now, "instance.kept", actor.name, "adopted",
                "rate=" + to_decimal(instance.rate_per_hour));
}

}  // namespace

Status Adoptions::begin() {
  return deps_.store.write([&](Tx& tx) -> Status {
    TRY_ASSIGN(auto restore, tx.restores().latest());
    if (!restore || restore->rested_at) return {};
    const Timestamp now = deps_.clock.now();
    TRY_ASSIGN(const auto instances, tx.instances().alive());
    for (const Instance& instance : instances) TRY(put_at_rest(tx, deps_, instance, now));
    restore->rested_at = now;
    return tx.restores().put(*restore);
  });
}

Result<std::vector<AdoptionView>> Adoptions::list() {
  std::vector<AdoptionView> views;
  TRY(deps_.store.read([&](Tx& tx) -> Status {
    TRY_ASSIGN(const auto adoptions, tx.restores().adoptions());
    for (const Adoption& adoption : adoptions) {
      TRY_ASSIGN(const auto instance, tx.instances().find(adoption.instance_id));
      if (!instance) continue;
      AdoptionView view{adoption, *instance, "", {}};
      TRY_ASSIGN(const auto owner, tx.accounts().find(instance->account_id));
      if (owner) view.owner = owner->login;
      TRY_ASSIGN(const auto allocations, tx.hosts().active_allocations_of(instance->id));
      for (const Allocation& allocation : allocations) view.cards.push_back(allocation.card_uuid);
      views.push_back(std::move(view));
    }
    return {};
  }));
  return views;
}

Result<Instance> Adoptions::keep(const Actor& actor, const std::string& id,
                                 const std::string& typed) {
  Instance kept;
  TRY(deps_.store.write([&](Tx& tx) -> Status {
    TRY_ASSIGN(const auto adoption, tx.restores().find_adoption(InstanceId{id}));
    if (!adoption) return not_adopted();
    TRY_ASSIGN(auto instance, tx.instances().find(adoption->instance_id));
    if (!instance) return not_adopted();
    TRY_ASSIGN(const Account account, account_for(tx, *adoption, typed));
    TRY(keep_in(tx, deps_, *instance, *adoption, account.id, actor, deps_.clock.now()));
    kept = std::move(*instance);
    return {};
  }));
  deps_.changed();
  return kept;
}

Result<Instance> Adoptions::remove(const Actor& actor, const std::string& id) {
  bool is_adopted = false;
  TRY(deps_.store.read([&](Tx& tx) -> Status {
    TRY_ASSIGN(const auto adoption, tx.restores().find_adoption(InstanceId{id}));
    is_adopted = adoption.has_value();
    return {};
  }));
  if (!is_adopted) return not_adopted();
  return Instances(deps_).release(actor, id);  // the decision is over when it is purged
}

}  // namespace cardhour
