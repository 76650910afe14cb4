#include "bin/restore.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <vector>

#include "adapters/sql/backup.h"
#include "adapters/system/clock.h"
#include "adapters/system/entropy.h"
#include "base/crypto.h"
#include "bin/data_dir.h"

namespace cardhour {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kBeside = {"-wal", "-shm"};

tl::unexpected<Error> unusable(const std::string& path, const std::string& why) {
  return fail(ErrorCode::store_unavailable, text("cannot use {}: {}", "无法使用 {}：{}", path, why),
              Text{"nothing was changed; check the file, its owner and the free space",
                   "未作任何更改；请检查文件、属主与剩余空间"});
}

Status flush(const std::string& path, int flags) {
  const int file = ::open(path.c_str(), flags | O_CLOEXEC);
  if (file < 0) return unusable(path, std::strerror(errno));
  const bool flushed = ::fsync(file) == 0;
  const int why = errno;
  ::close(file);
  return flushed ? Status() : Status(unusable(path, std::strerror(why)));
}

// Whoever restores, it is the directory's owner who runs the server. Only root can give away.
void give_to_owner_of(const std::string& directory, const std::string& file) {
  struct stat owner {};
  if (::stat(directory.c_str(), &owner) != 0) return;
  static_cast<void>(!::chown(file.c_str(), owner.st_uid, owner.st_gid));
}

void remove_with_log(const std::string& database) {
  ::unlink(database.c_str());
  for (const std::string& ending : kBeside) ::unlink((database + ending).c_str());
}

// A copy for its owner alone, on the disk.
Status copy_file(const std::string& from, const std::string& to, fs::copy_options how) {
  std::error_code error;
  if (!fs::copy_file(from, to, how, error) || error) {
    return unusable(error ? from : to, error ? error.message() : "it exists");
  }
  if (::chmod(to.c_str(), 0600) != 0) return unusable(to, std::strerror(errno));
  give_to_owner_of(fs::path(to).parent_path().string(), to);
  return flush(to, O_RDWR);
}

// "cardhour.db.before-restore-20261201T031500Z", which is not there yet.
std::string free_name(const std::string& database, Timestamp now) {
  std::string stamp = to_rfc3339(now).substr(0, 19);
  std::erase_if(stamp, [](char c) { return c == '-' || c == ':'; });
  const std::string name = database + ".before-restore-" + stamp + "Z";
  std::string free = name;
  for (int n = 2; fs::exists(free); ++n) free = name + "-" + std::to_string(n);
  return free;
}

// The present database with what its log holds, as the files are: it may be damaged.
Result<std::string> copy_aside(const std::string& database, Timestamp now) {
  const std::string aside = free_name(database, now);
  TRY(copy_file(database, aside, fs::copy_options::none));
  for (const std::string& ending : kBeside) {
    if (!fs::exists(database + ending)) continue;
    TRY(copy_file(database + ending, aside + ending, fs::copy_options::none));
  }
  return aside;
}

// A key that does not open what is sealed in the backup would lose every instance's secrets.
Status check_key(const std::string& database, const SealKey& key) {
  TRY_ASSIGN(const auto connection, sql::Connection::open({.path = database}));
  TRY_ASSIGN(const auto sealed,
             connection->select<std::string>("select secrets_sealed from instances"
                                             " where secrets_sealed <> '' limit 1"));
  if (sealed.empty() || unseal(key, sealed.front())) return {};
  return fail(ErrorCode::conflict,
              Text{"secret.key of the data directory is not the one that sealed this backup",
                   "数据目录中的 secret.key 与该备份加密时所用的不一致"},
              Text{"put the secret.key back that belongs to the backup, then restore again",
                   "请放回与该备份对应的 secret.key，再重新恢复"});
}

Result<SealKey> present_key(DataDir& data) {
  if (fs::exists(data.path() + "/secret.key")) {
    SystemEntropy entropy;
    return data.secret_key(entropy);
  }
  return fail(ErrorCode::not_found,
              text("{} has no secret.key", "{} 中没有 secret.key", data.path()),
              Text{"put the copy there that was kept apart from the backups, then restore again",
                   "请先放入与备份分开保存的 secret.key，再重新恢复"});
}

Status put_in_place(const std::string& prepared, const std::string& database) {
  for (const std::string& ending : kBeside) {
    if (fs::exists(prepared + ending)) return unusable(prepared + ending, "it is in use");
  }
  for (const std::string& ending : kBeside) ::unlink((database + ending).c_str());
  if (std::rename(prepared.c_str(), database.c_str()) != 0) {
    return unusable(prepared, std::strerror(errno));
  }
  return flush(fs::path(database).parent_path().string(), O_RDONLY | O_DIRECTORY);
}

Status prepare(const std::string& file, const std::string& prepared, const SealKey& key,
               Timestamp now) {
  remove_with_log(prepared);  // of a restore that was cut off
  TRY(copy_file(file, prepared, fs::copy_options::none));
  TRY(sql::prepare_restored(
      prepared, Restore{now, fs::path(file).filename().string(), std::nullopt, std::nullopt}));
  return check_key(prepared, key);
}

}  // namespace

Result<Text> restore_database(const std::string& data_dir, const std::string& file) {
  crypto_init();
  if (!fs::is_regular_file(file)) {
    return fail(ErrorCode::not_found, text("no file {}", "没有文件 {}", file));
  }
  TRY_ASSIGN(DataDir data, DataDir::open(data_dir.empty() ? default_data_dir() : data_dir));
  TRY_ASSIGN(const SealKey key, present_key(data));
  const std::string database = data.database();
  std::error_code error;
  if (fs::equivalent(file, database, error)) {
    return fail(ErrorCode::conflict, Text{"that is the present database", "这就是当前的数据库"});
  }
  SystemClock clock;
  const Timestamp now = clock.now();
  const std::string prepared = database + ".restoring";
  const Status ready = prepare(file, prepared, key, now);
  if (!ready) {
    remove_with_log(prepared);
    return fail(ready.error());
  }
  std::string aside;
  if (fs::exists(database)) {
    TRY_ASSIGN(aside, copy_aside(database, now));
  }
  TRY(put_in_place(prepared, database));
  if (aside.empty()) return text("{} is in place.", "{} 已就位。", file);
  return text("{} is in place; the database that was there is kept as {}",
              "{} 已就位；原数据库保留为 {}", file, aside);
}

}  // namespace cardhour
