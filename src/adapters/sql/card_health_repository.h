// Conditions and errors of cards in SQL; see ports/card_health.h.
#pragma once

#include "adapters/sql/connection.h"
#include "ports/store.h"

namespace cardhour::sql {

class SqlCardHealthRepository : public CardHealthRepository {
 public:
  explicit SqlCardHealthRepository(Connection& connection) : connection_(connection) {}

  Result<std::vector<CardCondition>> conditions() override;
  Status set_condition(const CardCondition& condition) override;
  Result<bool> delete_condition(const CardId& card, ConditionKind kind) override;
  Status count_xid(const CardId& card, int64_t code, Timestamp at) override;
  Result<std::vector<CardXid>> xids() override;

 private:
  Connection& connection_;
};

}  // namespace cardhour::sql
