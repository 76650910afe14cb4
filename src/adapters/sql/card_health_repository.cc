#include "adapters/sql/card_health_repository.h"

#include "adapters/sql/host_repository.h"

namespace cardhour::sql {

Result<std::vector<CardCondition>> SqlCardHealthRepository::conditions() {
  static const std::string sql =
      select_sql<CardCondition>("card_conditions", "order by card_uuid, kind");
  return connection_.select<CardCondition>(sql);
}

Status SqlCardHealthRepository::set_condition(const CardCondition& condition) {
  static const std::string sql = upsert_sql<CardCondition>("card_conditions", "card_uuid, kind");
  TRY(connection_.run(sql, condition));
  return count_free_cards_beside(connection_, condition.card_uuid);
}

Result<bool> SqlCardHealthRepository::delete_condition(const CardId& card, ConditionKind kind) {
  static const std::string sql =
      "delete from card_conditions where card_uuid = :card and kind = :kind";
  TRY_ASSIGN(const int64_t deleted, connection_.change(sql, card, kind));
  TRY(count_free_cards_beside(connection_, card));
  return deleted > 0;
}

Status SqlCardHealthRepository::count_xid(const CardId& card, int64_t code, Timestamp at) {
  static const std::string find =
      select_sql<CardXid>("card_xids", "where card_uuid = :card and code = :code");
  static const std::string sql = upsert_sql<CardXid>("card_xids", "card_uuid, code");
  TRY_ASSIGN(std::optional<CardXid> row, connection_.find<CardXid>(find, card, code));
  if (!row) row = CardXid{card, code, 0, at, at};
  ++row->count;
  row->last_at = at;
  return connection_.run(sql, *row);
}

Result<std::vector<CardXid>> SqlCardHealthRepository::xids() {
  static const std::string sql =
      select_sql<CardXid>("card_xids", "order by card_uuid, last_at desc, code");
  return connection_.select<CardXid>(sql);
}

}  // namespace cardhour::sql
