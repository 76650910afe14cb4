#include "app/telemetry.h"

#include <algorithm>
#include <map>

#include "app/events.h"
#include "app/loops/telemetry.h"
#include "base/enum_text.h"
#include "base/limits.h"

namespace cardhour {
namespace {

tl::unexpected<Error> no_card(const std::string& word) {
  return fail(ErrorCode::not_found,
              text("no card \"{}\"", "没有显卡“{}”",
                   is_valid_utf8_text(word) ? word.substr(0, 60) : std::string("?")),
              Text{"`cardhour admin gpu ls` lists them", "运行 `cardhour admin gpu ls` 查看"});
}

Status check_note(const std::string& note) {
  if (note.size() <= limits::kNoteBytes && (note.empty() || is_valid_utf8_text(note))) return {};
  return invalid("note",
                 text("a note has at most {} bytes", "备注最多 {} 字节", limits::kNoteBytes));
}

}  // namespace

Result<std::vector<CardNow>> Telemetry::cards() {
  TRY_ASSIGN(const auto views, Inventory(deps_).cards());
  std::vector<CardCondition> conditions;
  std::vector<CardXid> xids;
  TRY(deps_.store.read([&](Tx& tx) -> Status {
    TRY_ASSIGN(conditions, tx.card_health().conditions());
    TRY_ASSIGN(xids, tx.card_health().xids());
    return {};
  }));
  const auto look = watch_.latest();
  std::vector<CardNow> out;
  for (const CardView& view : views) {
    CardNow now;
    now.view = view;
    for (const CardSample& sample : look->sample.cards) {
      if (sample.uuid != view.card.uuid.text) continue;
      now.sample = sample;
      now.sampled_at = look->sampled_at;
      now.unowned_bytes = unowned_bytes(sample);
    }
    for (const CardCondition& condition : conditions) {
      if (condition.card_uuid == view.card.uuid) now.conditions.push_back(condition);
    }
    for (const CardXid& xid : xids) {
      if (xid.card_uuid == view.card.uuid) now.xids.push_back(xid);
    }
    out.push_back(std::move(now));
  }
  return out;
}

Result<std::vector<ProcessNow>> Telemetry::processes() {
  InventoryRows rows;
  std::map<AccountId, std::string> logins;
  TRY(deps_.store.read([&](Tx& tx) -> Status {
    TRY_ASSIGN(rows, load_inventory(tx));
    for (const Instance& instance : rows.instances) {
      if (logins.contains(instance.account_id)) continue;
      TRY_ASSIGN(const auto account, tx.accounts().find(instance.account_id));
      logins[instance.account_id] = account ? account->login : "";
    }
    return {};
  }));
  const auto look = watch_.latest();
  std::vector<ProcessNow> out;
  for (const CardSample& sample : look->sample.cards) {
    const auto card = std::ranges::find(rows.cards, CardId{sample.uuid}, &Card::uuid);
    const auto holder =
        std::ranges::find(rows.allocations, CardId{sample.uuid}, &Allocation::card_uuid);
    for (const GpuProcess& process : sample.processes) {
      ProcessNow now;
      now.card = CardId{sample.uuid};
      if (card != rows.cards.end()) now.card_index = card->card_index;
      now.process = process;
      const auto instance =
          std::ranges::find(rows.instances, InstanceId{process.container}, &Instance::id);
      if (instance != rows.instances.end()) {
        now.instance = instance->id;
        now.instance_name = instance->name;
        now.login = logins[instance->account_id];
      }
      now.is_expected =
          now.instance && holder != rows.allocations.end() && holder->instance_id == *now.instance;
      out.push_back(std::move(now));
    }
  }
  return out;
}

std::optional<SeriesRow> Telemetry::latest(const SeriesId& id) const {
  const auto look = watch_.latest();
  const auto found = look->rows.find(id);
  if (found == look->rows.end()) return std::nullopt;
  return found->second;
}

Result<Curves> Telemetry::curves(const SeriesId& id, const Range& range) {
  const Timestamp now = deps_.clock.now();
  Curves curves;
  curves.kind = id.kind;
  curves.to = range.to.value_or(now);
  curves.from = range.from.value_or(curves.to - hours(1));
  TRY_ASSIGN(const SeriesPlan plan, plan_range(curves.from, curves.to, range.step, now));
  curves.step = plan.step;
  if (deps_.series == nullptr) return curves;
  TRY_ASSIGN(const auto points, deps_.series->read(id, plan.tier, curves.from, curves.to));
  curves.points = resample(id.kind, points, plan.step);
  return curves;
}

Result<Curves> Telemetry::instance_curves(const InstanceId& id, const Range& range) {
  return curves({SeriesKind::instance, id.text}, range);
}

Result<Curves> Telemetry::card_curves(const CardId& id, const Range& range) {
  TRY_ASSIGN(const Card card, find_card(id.text));
  return curves({SeriesKind::card, card.uuid.text}, range);
}

Result<Card> Telemetry::find_card(const std::string& word) {
  std::vector<Card> cards;
  TRY(deps_.store.read([&](Tx& tx) -> Status {
    TRY_ASSIGN(cards, tx.hosts().cards());
    return {};
  }));
  std::optional<Card> found;
  int matches = 0;
  for (const Card& card : cards) {
    if (card.uuid.text == word) return card;
    const bool matches_start = word.size() >= 4 && card.uuid.text.starts_with(word);
    if (!matches_start && std::to_string(card.card_index) != word) continue;
    found = card;
    ++matches;
  }
  if (matches == 0) return no_card(word);
  if (matches == 1) return *found;
  return fail(ErrorCode::conflict,
              text("\"{}\" names {} cards", "“{}”对应 {} 张显卡", word, matches),
              Text{"take the UUID", "请使用 UUID"});
}

Status Telemetry::take_out(const Actor& by, const CardId& id, const Removal& removal) {
  TRY(check_note(removal.note));
  const Timestamp now = deps_.clock.now();
  const bool excluded = removal.kind == ConditionKind::excluded;
  TRY(deps_.store.write([&](Tx& tx) -> Status {
    TRY_ASSIGN(const auto cards, tx.hosts().cards());
    if (std::ranges::find(cards, id, &Card::uuid) == cards.end()) return no_card(id.text);
    TRY(tx.card_health().set_condition({id, removal.kind, "operator", removal.note, by.name, now}));
    TRY(tx.events().append(Event{0, now, std::nullopt, std::nullopt,
                                 excluded ? "card.excluded" : "card.quarantined", by.name, "admin",
                                 "card=" + id.text}));
    if (!removal.ends_run) return {};
    return end_run_on_card(tx, deps_, id, "operator", by.name, now, now);
  }));
  deps_.changed();
  return {};
}

Status Telemetry::put_back(const Actor& by, const CardId& id) {
  const Timestamp now = deps_.clock.now();
  TRY(deps_.store.write([&](Tx& tx) -> Status {
    TRY_ASSIGN(const bool quarantined,
               tx.card_health().delete_condition(id, ConditionKind::quarantine));
    TRY_ASSIGN(const bool excluded, tx.card_health().delete_condition(id, ConditionKind::excluded));
    if (!quarantined && !excluded) {
      return fail(ErrorCode::conflict,
                  Text{"this card was not taken out of the market", "该显卡未被移出市场"},
                  Text{"what is unfit comes back by itself, when its cause is gone",
                       "暂不可租的显卡会在原因消失后自动恢复"});
    }
    return tx.events().append(Event{0, now, std::nullopt, std::nullopt, "card.returned", by.name,
                                    "admin", "card=" + id.text});
  }));
  deps_.changed();
  return {};
}

}  // namespace cardhour
