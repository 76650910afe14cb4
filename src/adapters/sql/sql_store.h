// SqlStore: the Store on SQLite. One writer connection behind a fair mutex, a small pool of reader
// connections; ":memory:" has one connection for both. Invariants: a transaction is either
// committed as a whole and on the disk, or leaves no trace, whatever its body returns or
// throws; there is no transaction inside a transaction of the same thread (CHECK).
// Thread-safe; blocks, so call it from worker threads only.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "ports/store.h"

namespace cardhour {

struct SqliteOptions {
  // How long a writer waits for another process (a backup, a shell).
  std::chrono::milliseconds busy_timeout{5000};
  int readers = 4;  // as many as worker threads (limits::kWorkerThreads)
  // False gives up durability for speed; for tests.
  bool durable = true;
};

namespace sql {
class Connection;
struct Session;  // a connection and the repositories on it
}  // namespace sql

// A lock that is handed over in the order of arrival: a loop that takes it again and again lets
// everybody else in between. For std::lock_guard.
class FairMutex {
 public:
  void lock();
  void unlock();
  size_t waiting();  // how many are in lock()

 private:
  std::mutex mutex_;
  std::condition_variable moved_;
  uint64_t next_ticket_ = 0;
  uint64_t served_ = 0;
};

class SqlStore : public Store {
 public:
  ~SqlStore() override;

  Status write(const std::function<Status(Tx&)>& body) override;
  Status read(const std::function<Status(Tx&)>& body) override;

  // Copies the database, as of now, to `path` while it is in use; what was at `path` stays
  // until the copy is whole and on the disk.
  Status backup_to(const std::string& path);
  // Reads every page: damage, and rows that point nowhere, are `internal`.
  Status check_integrity();

 private:
  friend Result<std::unique_ptr<SqlStore>> open_sqlite(const std::string& path,
                                                       const SqliteOptions& options);
  explicit SqlStore(std::unique_ptr<sql::Session> writer);
  Status add_reader(const std::string& path, const SqliteOptions& options);
  void keep_log_short(int pages);
  Status read_on(sql::Session& session, const std::function<Status(Tx&)>& body);
  Status with_reader(const std::function<Status(sql::Session&)>& body);
  sql::Session& borrow_reader();
  void return_reader(sql::Session& reader);

  FairMutex writer_mutex_;
  std::unique_ptr<sql::Session> writer_;
  std::mutex checkpoint_mutex_;
  std::unique_ptr<sql::Connection> checkpointer_;  // none for ":memory:"
  int tried_at_pages_ = 0;                         // of the log, at the last checkpoint
  std::mutex readers_mutex_;
  std::condition_variable reader_returned_;
  std::vector<std::unique_ptr<sql::Session>> readers_;  // empty for ":memory:"
  std::vector<sql::Session*> idle_readers_;
};

// Opens or creates the database at `path` (or ":memory:") and migrates it; see migrations.h.
// store_unavailable: it cannot be opened or written; conflict: it is newer than the binary.
Result<std::unique_ptr<SqlStore>> open_sqlite(const std::string& path,
                                              const SqliteOptions& options = {});

}  // namespace cardhour
