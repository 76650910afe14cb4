// Migrations: brings a database to the schema of this binary (schema/README.md). Invariant:
// each step is one transaction that also writes its number to schema_version; a database that
// is newer, or not ours, is left alone. Called once when a store opens, on its writer.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "adapters/sql/connection.h"

namespace cardhour::sql {

struct Migration {
  int number = 0;         // 1, 2, ... without gaps
  std::string_view name;  // "0001_accounts"
  std::string_view sql;
};

// The files of schema/ as they were when the binary was built, in order.
std::span<const Migration> embedded_migrations();

// The highest step applied; 0 for an empty database. conflict: it is not Cardhour's.
Result<int> schema_version(Connection& connection);

// Applies what is missing. `backup_stem` is the path of the database: an older database is
// copied to "<backup_stem>.before-NNNN" first; empty (in memory): no copy. conflict: the
// database is newer than the binary, or not Cardhour's.
Status migrate(Connection& connection, std::span<const Migration> migrations,
               const std::string& backup_stem);

}  // namespace cardhour::sql
