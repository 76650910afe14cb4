// Cards in trouble: what the driver reports, what is left on cards, and the operator's hand; and
// what must be true of them after every step. Parts of Workload and Invariants.
#include <fmt/format.h>

#include "base/check.h"
#include "base/enum_text.h"
#include "base/size.h"
#include "sim/invariants.h"
#include "sim/workload.h"

namespace cardhour {

void Workload::card_trouble() {
  const auto cards = world_.engine().cards();
  const CardId card = cards[below(cards.size())].uuid;
  constexpr int64_t kXids[] = {13, 31, 43, 48, 63, 74, 79, 94, 95, 12345};
  switch (below(5)) {
    case 0:
      world_.probe().report(card, kXids[below(std::size(kXids))]);
      break;
    case 1: {
      CardSample sample;
      sample.is_divided = chance(20);
      if (chance(50)) sample.processes = {{.pid = 1, .command = "left"}};
      if (chance(20)) sample.reading.row_remap_is_pending = 1;
      sample.reading.ecc_uncorrected = static_cast<int64_t>(below(3));
      sample.reading.gpu_percent = static_cast<int64_t>(below(101));
      world_.probe().set_sample(card, sample);
      break;
    }
    case 2: {
      const ConditionKind kind = chance(50) ? ConditionKind::quarantine : ConditionKind::excluded;
      answered(world_.plane().telemetry.take_out(world_.admin(), card, {kind, "", chance(30)}));
      break;
    }
    default:
      answered(world_.plane().telemetry.put_back(world_.admin(), card));
      break;
  }
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
