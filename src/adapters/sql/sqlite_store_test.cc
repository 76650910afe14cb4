// What is SQLite's own: snapshots, files, disks that fail.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "adapters/sql/connection.h"
#include "adapters/sql/sql_store.h"
#include "adapters/sql/store_test_rows.h"

namespace cardhour {
namespace {

using namespace store_test;

TEST(SqliteStore, AReaderSeesOneSnapshotAndIsNotBlocked) {
  TemporaryDirectory directory;
  auto store = must(open_sqlite(directory.file("db"), {.durable = false}));
  write(*store, [](Tx& tx) { must(tx.keys().set_setting("n", "1")); });
  const auto n = [](Tx& tx) { return must(tx.keys().find_setting("n")).value_or(""); };
  const auto in_thread = [](auto body) { std::thread(body).join(); };
  must(store->write([&](Tx& tx) -> Status {
    must(tx.keys().set_setting("n", "2"));
    in_thread([&] { EXPECT_EQ("1", read(*store, n)); });  // while the writer is at work
    return {};
  }));
  must(store->read([&](Tx& tx) -> Status {
    EXPECT_EQ("2", n(tx));
    in_thread([&] { write(*store, [](Tx& w) { must(w.keys().set_setting("n", "3")); }); });
    EXPECT_EQ("2", n(tx));
    return {};
  }));
  EXPECT_EQ("3", read(*store, n));
}

TEST(SqliteStore, AReaderLetsGoOfItsSnapshot) {
  TemporaryDirectory directory;
  auto store = must(open_sqlite(directory.file("db"), {.readers = 1, .durable = false}));
  write(*store, [](Tx& tx) { must(tx.accounts().insert(account("a1"))); });
  EXPECT_TRUE(read(*store, [](Tx& tx) { return must(tx.accounts().find({"a1"})); }));
  write(*store, [](Tx& tx) { must(tx.accounts().insert(account("a2"))); });
  EXPECT_EQ(2, read(*store, [](Tx& tx) { return must(tx.accounts().count()); }));
}

TEST(SqliteStore, MoreReadersThanConnectionsWait) {
  TemporaryDirectory directory;
  auto store = must(open_sqlite(directory.file("db"), {.readers = 1, .durable = false}));
  std::atomic<int> reads = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int n = 0; n < 50; ++n)
        reads += read(*store, [](Tx& tx) { return must(tx.accounts().count()) == 0 ? 1 : 0; });
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(200, reads);
}

TEST(SqliteStore, ReopenedItHasWhatWasCommitted) {
  TemporaryDirectory directory;
  const std::string path = directory.file("db");
  write(*must(open_sqlite(path)), [](Tx& tx) { must(tx.accounts().insert(account("a1"))); });
  struct stat info {};
  ASSERT_EQ(0, ::stat(path.c_str(), &info));
  EXPECT_EQ(0600u, info.st_mode & 0777u);
  auto store = must(open_sqlite(path));
  EXPECT_EQ(1, read(*store, [](Tx& tx) { return must(tx.accounts().count()); }));
  EXPECT_FALSE(std::filesystem::exists(path + ".before-0001"));
}

TEST(SqliteStore, AnotherProcessThatHoldsItIsUnavailable) {
  TemporaryDirectory directory;
  const std::string path = directory.file("db");
  auto store = must(open_sqlite(path, {.busy_timeout = std::chrono::milliseconds(10)}));
  auto other = must(sql::Connection::open({.path = path}));
  must(other->begin_write());
  const auto insert = [](Tx& tx) { return tx.accounts().insert(account("a1")); };
  EXPECT_EQ(ErrorCode::store_unavailable, code_of(store->write(insert)));
  other->rollback();
  must(store->write(insert));
}

TEST(SqliteStore, APathThatCannotBeOpenedIsUnavailable) {
  TemporaryDirectory directory;
  const auto none = open_sqlite(directory.file("no/such/directory/db"));
  ASSERT_FALSE(none);
  EXPECT_EQ(ErrorCode::store_unavailable, none.error().code);
  const auto quoted = open_sqlite("a\"b");
  ASSERT_FALSE(quoted);
  EXPECT_EQ(ErrorCode::invalid_argument, quoted.error().code);
}

TEST(SqliteStore, AFileThatIsNoDatabaseIsRefused) {
  TemporaryDirectory directory;
  std::ofstream(directory.file("db")) << std::string(4096, 'x');
  const auto store = open_sqlite(directory.file("db"));
  ASSERT_FALSE(store);
  EXPECT_EQ(ErrorCode::internal, store.error().code);
}

// Grows the database until it is refused; the error it was refused with.
std::optional<Error> fill(Store& store) {
  const std::string ballast(50'000, 'x');
  for (int n = 0; n < 200; ++n) {
    const Status status = store.write(
        [&](Tx& tx) { return tx.keys().set_setting(fmt::format("ballast{}", n), ballast); });
    if (!status) return status.error();
  }
  return std::nullopt;
}

// No file of the process may grow beyond this while it lives.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    old_handler_ = ::signal(SIGXFSZ, SIG_IGN);
    rlimit lower{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &lower);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, old_handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
  void (*old_handler_)(int) = nullptr;
};

TEST(SqliteStore, AFileThatCannotGrowIsUnavailableAndRecovers) {
  TemporaryDirectory directory;
  auto store = must(open_sqlite(directory.file("db"), {.durable = false}));
  {
    FileSizeLimit limit(1'000'000);
    const auto error = fill(*store);
    ASSERT_TRUE(error);
    EXPECT_EQ(ErrorCode::store_unavailable, error->code);
    EXPECT_EQ(0, read(*store, [](Tx& tx) { return must(tx.accounts().count()); }));
  }
  write(*store, [](Tx& tx) { must(tx.accounts().insert(account("a1"))); });
  must(store->check_integrity());
}

// A file system of its own, in memory; needs the right to mount.
class SmallDisk {
 public:
  SmallDisk() { mounted_ = ::mount("tmpfs", directory_.path.c_str(), "tmpfs", 0, "size=1m") == 0; }
  ~SmallDisk() {
    if (mounted_) ::umount2(directory_.path.c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  bool mounted() const { return mounted_; }
  bool remount(unsigned long flags, const char* data) {
    return ::mount("tmpfs", directory_.path.c_str(), "tmpfs", MS_REMOUNT | flags, data) == 0;
  }
  std::string file(const std::string& name) const { return directory_.file(name); }

 private:
  TemporaryDirectory directory_;
  bool mounted_ = false;
};

TEST(SqliteStore, AFullDiskIsUnavailableAndRecovers) {
  SmallDisk disk;
  if (!disk.mounted()) GTEST_SKIP() << "mounting a tmpfs needs root";
  auto store = must(open_sqlite(disk.file("db")));
  const auto error = fill(*store);
  ASSERT_TRUE(error);
  EXPECT_EQ(ErrorCode::store_unavailable, error->code);
  EXPECT_EQ("数据库所在磁盘已满", error->what.zh);
  EXPECT_EQ(ErrorCode::store_unavailable, code_of(store->backup_to(disk.file("copy.db"))));
  EXPECT_FALSE(std::filesystem::exists(disk.file("copy.db.partial")));
  ASSERT_TRUE(disk.remount(0, "size=8m"));
  write(*store, [](Tx& tx) { must(tx.accounts().insert(account("a1"))); });
  must(store->backup_to(disk.file("copy.db")));
  must(store->check_integrity());
}

TEST(SqliteStore, AReadOnlyDiskIsUnavailableAndRecovers) {
  SmallDisk disk;
  if (!disk.mounted()) GTEST_SKIP() << "mounting a tmpfs needs root";
  // A file system with a file open for writing cannot become read-only; so it is a database
  // that is opened on it.
  must(open_sqlite(disk.file("db")));
  ASSERT_TRUE(disk.remount(MS_RDONLY, "size=1m"));
  const auto refused = open_sqlite(disk.file("db"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(ErrorCode::store_unavailable, refused.error().code);
  ASSERT_TRUE(disk.remount(0, "size=1m"));
  write(*must(open_sqlite(disk.file("db"))),
        [](Tx& tx) { must(tx.accounts().insert(account("a1"))); });
}

TEST(SqliteConnection, AReadOnlyDatabaseIsUnavailableAndRecovers) {
  auto connection = must(sql::Connection::open({.path = ":memory:"}));
  must(connection->execute("create table t (n integer)"));
  const auto insert = [&]() -> Status {
    TRY(connection->begin_write());
    Status status = connection->run("insert into t (n) values (:n)", 1);
    return status ? connection->commit() : (connection->rollback(), status);
  };
  must(connection->execute("pragma query_only = on"));
  EXPECT_EQ(ErrorCode::store_unavailable, code_of(insert()));
  must(connection->execute("pragma query_only = off"));
  must(insert());
}

TEST(SqliteConnection, ARowThatDoesNotFitIsNamed) {
  auto connection = must(sql::Connection::open({.path = ":memory:"}));
  must(
      connection->execute("create table prices (model text, mode text, per_hour integer);"
                          "insert into prices values ('x', 'free', 1)"));
  const auto select = [&] {
    return connection->select<Price>(sql::select_sql<Price>("prices", "order by per_hour"));
  };
  const auto strange = select();
  ASSERT_FALSE(strange);
  EXPECT_EQ("a row of the database does not fit: column mode: unknown word \"free\"",
            strange.error().what.en);
  must(connection->execute("update prices set mode = null"));
  EXPECT_FALSE(select());
  must(connection->execute("update prices set mode = 'no_gpu'"));
  EXPECT_EQ(1u, must(select()).size());
  EXPECT_FALSE(connection->value<int>("select 3000000000"));
  EXPECT_FALSE(connection->select<int>("select no_such_column from prices"));
}

}  // namespace
}  // namespace cardhour
