#include "adapters/sql/migrations.h"

#include "adapters/sql/backup.h"

namespace cardhour::sql {

namespace {

constexpr const char* kVersionTable =
    "CREATE TABLE schema_version (version INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL) STRICT";

Status refuse_newer(int stored, int known) {
  if (stored <= known) return {};
  return fail(ErrorCode::conflict,
              text("the database is at schema {}, this Cardhour knows schemas up to {}",
                   "数据库的结构版本为 {}，本程序只认识到 {}", stored, known),
              text("Install the newer Cardhour again, or restore the copy that it made before "
                   "it changed the database (<database>.before-NNNN).",
                   "请重新安装较新的卡时，或恢复它在修改数据库之前留下的副本"
                   "（<数据库>.before-NNNN）。"));
}

Status apply(Connection& connection, const Migration& migration) {
  TRY(connection.begin_write());
  const auto body = [&]() -> Status {
    TRY_ASSIGN(const int stored, schema_version(connection));
    if (stored >= migration.number) return {};  // another process was faster
    if (stored == 0) TRY(connection.execute(kVersionTable));
    TRY(connection.execute(std::string(migration.sql)));
    return connection.run("insert into schema_version (version, name) values (:version, :name)",
                          migration.number, std::string(migration.name));
  };
  Status status = body();
  if (status) return connection.commit();
  connection.rollback();
  Error error = std::move(status).error();
  error.what.en = fmt::format("migration {}: {}", migration.name, error.what.en);
  error.what.zh = fmt::format("数据库升级 {}：{}", migration.name, error.what.zh);
  return fail(std::move(error));
}

}  // namespace

Result<int> schema_version(Connection& connection) {
  static const std::string count_tables =
      "select count(*) from sqlite_master where type = 'table' and name not like 'sqlite_%'";
  static const std::string count_ours = count_tables + " and name = 'schema_version'";
  TRY_ASSIGN(const int64_t tables, connection.value<int64_t>(count_tables));
  if (tables == 0) return 0;
  TRY_ASSIGN(const int64_t ours, connection.value<int64_t>(count_ours));
  if (ours == 0) {
    return fail(
        ErrorCode::conflict,
        text("the database has tables, but not Cardhour's", "该数据库中已有表，但不是卡时的数据库"),
        text("Choose another path for the database.", "请为数据库换一个路径。"));
  }
  return connection.value<int>("select coalesce(max(version), 0) from schema_version");
}

Status migrate(Connection& connection, std::span<const Migration> migrations,
               const std::string& backup_stem) {
  TRY_ASSIGN(const int stored, schema_version(connection));
  TRY(refuse_newer(stored, static_cast<int>(migrations.size())));
  const auto missing = migrations.subspan(static_cast<size_t>(stored));
  if (missing.empty()) return {};
  if (stored > 0 && !backup_stem.empty()) {
    TRY(copy_database(connection,
                      fmt::format("{}.before-{:04}", backup_stem, missing.front().number)));
  }
  for (const Migration& migration : missing) TRY(apply(connection, migration));
  return {};
}

}  // namespace cardhour::sql
