#include "adapters/sql/backup.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "adapters/sql/migrations.h"
#include "adapters/sql/restore_repository.h"

namespace cardhour::sql {

namespace {

tl::unexpected<Error> file_error(const std::string& path) {
  return fail(
      ErrorCode::store_unavailable,
      text("the backup {} cannot be written: {}", "备份 {} 无法写入：{}", path,
           std::string(std::strerror(errno))),
      text("Check the directory, its owner and the free space.", "请检查目录、属主与剩余空间。"));
}

Status create_empty(const std::string& path) {
  ::unlink(path.c_str());
  const int file = ::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
  if (file < 0) return file_error(path);
  ::close(file);
  return {};
}

Status flush(const std::string& path, int flags) {
  const int file = ::open(path.c_str(), flags | O_CLOEXEC);
  if (file < 0) return file_error(path);
  const bool flushed = ::fsync(file) == 0;
  auto error = flushed ? Status{} : Status(file_error(path));
  ::close(file);
  return error;
}

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (char c : text) out += c == '\'' ? std::string("''") : std::string(1, c);
  return out + "'";
}

Status write_copy(Connection& connection, const std::string& partial, const std::string& path) {
  TRY(create_empty(partial));
  TRY(connection.execute("VACUUM INTO " + quoted(partial)));
  TRY(flush(partial, O_RDWR));
  if (std::rename(partial.c_str(), path.c_str()) != 0) return file_error(path);
  const auto directory = std::filesystem::path(path).parent_path();
  return flush(directory.empty() ? "." : directory.string(), O_RDONLY | O_DIRECTORY);
}

}  // namespace

Status copy_database(Connection& connection, const std::string& path) {
  const std::string partial = path + ".partial";
  Status status = write_copy(connection, partial, path);
  if (!status) ::unlink(partial.c_str());
  return status;
}

Status check_integrity(Connection& connection) {
  TRY_ASSIGN(const auto lines, connection.select<std::string>("pragma integrity_check(10)"));
  TRY_ASSIGN(const auto orphans, connection.select<std::string>(
                                     "select distinct \"table\" from pragma_foreign_key_check"));
  std::string damage;
  for (const std::string& line : lines) damage += line == "ok" ? "" : "; " + line;
  for (const std::string& table : orphans) damage += "; a row of " + table + " points nowhere";
  if (damage.empty()) return {};
  return fail(ErrorCode::internal, text("the database is damaged{}", "数据库已损坏{}", damage),
              text("Stop Cardhour and restore the last backup.", "请停止卡时，并恢复最近的备份。"));
}

Status prepare_restored(const std::string& path, const Restore& restore) {
  TRY_ASSIGN(const auto connection, Connection::open({.path = path}));
  TRY_ASSIGN(const int version, schema_version(*connection));
  if (version == 0) {
    return fail(ErrorCode::conflict, Text{"the file is empty", "该文件为空"},
                Text{"Choose a backup that Cardhour made.", "请选择由卡时制作的备份。"});
  }
  TRY(check_integrity(*connection));
  TRY(migrate(*connection, embedded_migrations(), ""));
  TRY(connection->begin_write());
  SqlRestoreRepository restores(*connection);
  if (const Status put = restores.put(restore); !put) {
    connection->rollback();
    return put;
  }
  return connection->commit();
}

}  // namespace cardhour::sql
