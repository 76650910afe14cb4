#include "adapters/sql/key_repository.h"

namespace cardhour::sql {

Result<std::optional<IdempotentAnswer>> SqlKeyRepository::find_answer(const std::string& account,
                                                                      const std::string& key) {
  static const std::string sql = select_sql<IdempotentAnswer>(
      "idempotent_answers", "where account = :account and idempotency_key = :key");
  return connection_.find<IdempotentAnswer>(sql, account, key);
}

Status SqlKeyRepository::insert_answer(const IdempotentAnswer& answer) {
  static const std::string sql = insert_sql<IdempotentAnswer>("idempotent_answers");
  return connection_.run(sql, answer);
}

Status SqlKeyRepository::delete_answers_before(Timestamp at) {
  static const std::string sql = "delete from idempotent_answers where at < :at";
  return connection_.run(sql, at);
}

Result<std::optional<std::string>> SqlKeyRepository::find_setting(const std::string& name) {
  static const std::string sql = "select value from settings where name = :name";
  return connection_.find<std::string>(sql, name);
}

Status SqlKeyRepository::set_setting(const std::string& name, const std::string& value) {
  static const std::string sql =
      "insert into settings (name, value) values (:name, :value)"
      " on conflict (name) do update set value = excluded.value";
  return connection_.run(sql, name, value);
}

}  // namespace cardhour::sql
