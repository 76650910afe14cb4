#include "adapters/sql/backup_directory.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "adapters/sql/backup.h"
#include "adapters/sql/store_test_rows.h"

namespace cardhour {
namespace {

using namespace store_test;

class BackupDirectoryTest : public testing::Test {
 protected:
  BackupDirectoryTest() {
    write(*store_, [](Tx& tx) { must(tx.accounts().insert(account("a1"))); });
  }
  static unsigned mode_of(const std::string& path) {
    struct stat info {};
    EXPECT_EQ(0, ::stat(path.c_str(), &info)) << path;
    return info.st_mode & 0777u;
  }

  TemporaryDirectory directory_;
  std::unique_ptr<SqlStore> store_ = must(open_sqlite(directory_.file("db"), {.durable = false}));
  const std::string path_ = directory_.file("deep/backups");
  BackupDirectory shelf_{*store_, path_};
};

TEST_F(BackupDirectoryTest, MakesCopiesThatCanBeOpened) {
  EXPECT_TRUE(must(shelf_.list()).empty());
  const Timestamp noon = must(parse_rfc3339("2026-12-01T12:00:00.750Z"));
  const BackupFile made = must(shelf_.make(noon));
  EXPECT_EQ("cardhour-20261201T120000Z.db", made.name);
  EXPECT_GT(made.bytes, 0);
  const BackupFile later = must(shelf_.make(noon + hours(13)));
  EXPECT_EQ((std::vector<BackupFile>{later, made}), must(shelf_.list()));
  EXPECT_EQ(0700u, mode_of(path_));
  EXPECT_EQ(0600u, mode_of(path_ + "/" + made.name));
  auto copy = must(open_sqlite(path_ + "/" + made.name));
  EXPECT_EQ(1, read(*copy, [](Tx& tx) { return must(tx.accounts().count()); }));
}

TEST_F(BackupDirectoryTest, LeavesWhatIsNotItsOwn) {
  must(shelf_.make(kNow));
  const char* others[] = {"notes.txt", "cardhour-.db", "cardhour-20261301T120000Z.db",
                          "cardhour-20261201T120000Z.db.partial", "cardhour-yesterday.db"};
  for (const char* name : others) std::ofstream(path_ + "/" + name) << "mine";
  EXPECT_EQ(1u, must(shelf_.list()).size());
  for (const char* name : others) must(shelf_.remove({name, kNow, 1}));
  for (const char* name : others) EXPECT_TRUE(std::filesystem::exists(path_ + "/" + name)) << name;
  const auto files = must(shelf_.list());
  must(shelf_.remove(files[0]));
  must(shelf_.remove(files[0]));
  EXPECT_TRUE(must(shelf_.list()).empty());
}

TEST_F(BackupDirectoryTest, SaysWhereItCannotWrite) {
  std::ofstream(directory_.file("file")) << "in the way";
  BackupDirectory blocked(*store_, directory_.file("file/backups"));
  const auto made = blocked.make(kNow);
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(ErrorCode::store_unavailable, made.error().code);
  EXPECT_FALSE(made.error().next.zh.empty());
}

TEST_F(BackupDirectoryTest, PreparesWhatIsToBeStartedOn) {
  const std::string copy = directory_.file("copy");
  must(store_->backup_to(copy));
  must(sql::prepare_restored(copy, Restore{kNow, "a file", std::nullopt, std::nullopt}));
  EXPECT_FALSE(std::filesystem::exists(copy + "-wal"));
  auto restored = must(open_sqlite(copy));
  const auto restore = read(*restored, [](Tx& tx) { return must(tx.restores().latest()); });
  ASSERT_TRUE(restore);
  EXPECT_EQ("a file", restore->file);
  EXPECT_EQ(std::nullopt, restore->reconciled_at);
}

TEST_F(BackupDirectoryTest, RefusesWhatIsNoBackup) {
  const Restore restore{kNow, "", std::nullopt, std::nullopt};
  std::ofstream(directory_.file("empty")) << "";
  EXPECT_EQ(ErrorCode::conflict, code_of(sql::prepare_restored(directory_.file("empty"), restore)));
  std::ofstream(directory_.file("text")) << std::string(9000, 'x');
  EXPECT_FALSE(sql::prepare_restored(directory_.file("text"), restore).has_value());
  const std::string newer = directory_.file("newer");
  must(store_->backup_to(newer));
  must(must(sql::Connection::open({.path = newer}))
           ->execute("insert into schema_version values (999, '0999_future')"));
  EXPECT_EQ(ErrorCode::conflict, code_of(sql::prepare_restored(newer, restore)));
  // A damaged one: a page in the middle is overwritten.
  const std::string damaged = directory_.file("damaged");
  must(store_->backup_to(damaged));
  {
    std::fstream file(damaged, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(4096 * 5);
    file << std::string(4096 * 3, '\x5a');
  }
  EXPECT_FALSE(sql::prepare_restored(damaged, restore).has_value());
}

}  // namespace
}  // namespace cardhour
