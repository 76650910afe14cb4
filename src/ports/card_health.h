// CardHealthRepository: why cards are out of the market, and the errors of their driver. A part
// of the Store (ports/store.h), with its rules.
#pragma once

#include <vector>

#include "base/error.h"
#include "domain/card_health.h"

namespace cardhour {

class CardHealthRepository {
 public:
  virtual ~CardHealthRepository() = default;
  virtual Result<std::vector<CardCondition>> conditions() = 0;  // by card and kind
  // Sets or replaces the card's condition of that kind.
  virtual Status set_condition(const CardCondition& condition) = 0;
  // False: there was none.
  virtual Result<bool> delete_condition(const CardId& card, ConditionKind kind) = 0;
  // One more error of that code.
  virtual Status count_xid(const CardId& card, int64_t code, Timestamp at) = 0;
  virtual Result<std::vector<CardXid>> xids() = 0;  // by card, the latest first
};

}  // namespace cardhour
