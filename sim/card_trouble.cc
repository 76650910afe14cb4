// Cards in trouble: what the driver reports, what is left on cards, and the operator's hand; and
// what must be true of them after every step. Parts of Generator, Player and Invariants.
#include <fmt/format.h>

#include "base/check.h"
#include "base/enum_text.h"
#include "sim/generator.h"
#include "sim/invariants.h"
#include "sim/player.h"

namespace cardhour {
namespace {

constexpr int64_t kXids[] = {13, 31, 43, 48, 63, 74, 79, 94, 95, 12345};

}  // namespace

std::string Generator::report() {
  return fmt::format("report {} {}", below(world_.engine().cards().size()),
                     kXids[below(std::size(kXids))]);
}

std::string Generator::leave() {
  const char* kinds[] = {"nothing", "process", "divided", "remap"};
  return fmt::format("leave {} {}", below(world_.engine().cards().size()),
                     kinds[below(std::size(kinds))]);
}

std::string Generator::withdraw() {
  return fmt::format("withdraw {} {} {}", below(world_.engine().cards().size()),
                     chance(50) ? "quarantine" : "excluded", chance(30) ? "now" : "later");
}

std::string Generator::put_back() {
  return fmt::format("put-back {}", below(world_.engine().cards().size()));
}

// report CARD XID
void Player::report(const Words& words) {
  world_.probe().report(world_.engine().cards().at(std::stoul(words.at(1))).uuid,
                        std::stoll(words.at(2)));
}

// leave CARD nothing|process|divided|remap
void Player::leave(const Words& words) {
  CardSample sample;
  if (words.at(2) == "process") sample.processes = {{.pid = 1, .command = "left"}};
  if (words[2] == "divided") sample.is_divided = true;
  if (words[2] == "remap") sample.reading.row_remap_is_pending = 1;
  world_.probe().set_sample(world_.engine().cards().at(std::stoul(words.at(1))).uuid, sample);
}

// withdraw CARD quarantine|excluded now|later
void Player::withdraw(const Words& words) {
  const CardId card = world_.engine().cards().at(std::stoul(words.at(1))).uuid;
  const auto kind = enum_from<ConditionKind>(words.at(2)).value_or(ConditionKind::quarantine);
  const bool now = words.at(3) == "now";
  world_.run([&] {
    answered(world_.plane().telemetry.take_out(world_.admin(), card, {kind, "", now}));
  });
}

// put-back CARD
void Player::put_back(const Words& words) {
  const CardId card = world_.engine().cards().at(std::stoul(words.at(1))).uuid;
  world_.run([&] { answered(world_.plane().telemetry.put_back(world_.admin(), card)); });
}

// A card that is out of the market is granted to nobody; who has it already may keep it.
void Invariants::check_conditions() {
  const Status read = world_.store().read([&](Tx& tx) -> Status {
    TRY_ASSIGN(const auto conditions, tx.card_health().conditions());
    TRY_ASSIGN(const auto allocations, tx.hosts().active_allocations());
    for (const CardCondition& condition : conditions) {
      paths_.hit("out of the market: " + std::string(enum_text(condition.kind)));
      for (const Allocation& allocation : allocations) {
        if (allocation.card_uuid != condition.card_uuid) continue;
        if (allocation.granted_at <= condition.since) continue;
        broken_.push_back(fmt::format("card {} was granted to {} though it is {} ({})",
                                      condition.card_uuid.text, allocation.instance_id.text,
                                      enum_text(condition.kind), condition.reason));
      }
    }
    return {};
  });
  CHECK(read.has_value(), "conditions can be read");
}

}  // namespace cardhour
