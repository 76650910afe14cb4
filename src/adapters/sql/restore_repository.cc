#include "adapters/sql/restore_repository.h"

namespace cardhour::sql {

Status SqlRestoreRepository::put(const Restore& restore) {
  static const std::string sql = upsert_sql<Restore>("restores", "restored_at");
  return connection_.run(sql, restore);
}

Result<std::optional<Restore>> SqlRestoreRepository::latest() {
  static const std::string sql =
      select_sql<Restore>("restores", "order by restored_at desc limit 1");
  return connection_.find<Restore>(sql);
}

Status SqlRestoreRepository::put_adoption(const Adoption& adoption) {
  static const std::string sql = upsert_sql<Adoption>("adoptions", "instance_id");
  return connection_.run(sql, adoption);
}

Result<std::optional<Adoption>> SqlRestoreRepository::find_adoption(const InstanceId& id) {
  static const std::string sql = select_sql<Adoption>("adoptions", "where instance_id = :instance");
  return connection_.find<Adoption>(sql, id);
}

Result<std::vector<Adoption>> SqlRestoreRepository::adoptions() {
  static const std::string sql =
      select_sql<Adoption>("adoptions", "order by found_at, instance_id");
  return connection_.select<Adoption>(sql);
}

Status SqlRestoreRepository::delete_adoption(const InstanceId& id) {
  static const std::string sql = "delete from adoptions where instance_id = :instance";
  return connection_.run(sql, id);
}

}  // namespace cardhour::sql
