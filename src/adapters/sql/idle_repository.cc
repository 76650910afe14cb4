#include "adapters/sql/idle_repository.h"

namespace cardhour::sql {

Result<std::vector<IdleRule>> SqlIdleRepository::rules() {
  static const std::string sql = select_sql<IdleRule>("idle_rules", "order by instance_id");
  return connection_.select<IdleRule>(sql);
}

Result<std::optional<IdleRule>> SqlIdleRepository::find(const InstanceId& id) {
  static const std::string sql = select_sql<IdleRule>("idle_rules", "where instance_id = :id");
  return connection_.find<IdleRule>(sql, id);
}

Status SqlIdleRepository::set(const IdleRule& rule) {
  static const std::string sql = upsert_sql<IdleRule>("idle_rules", "instance_id");
  return connection_.run(sql, rule);
}

Result<bool> SqlIdleRepository::remove(const InstanceId& id) {
  static const std::string sql = "delete from idle_rules where instance_id = :id";
  TRY_ASSIGN(const int64_t deleted, connection_.change(sql, id));
  return deleted > 0;
}

}  // namespace cardhour::sql
