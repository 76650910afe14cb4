#include "adapters/sql/sql_store.h"

#include "adapters/sql/account_repository.h"
#include "adapters/sql/backup.h"
#include "adapters/sql/card_health_repository.h"
#include "adapters/sql/connection.h"
#include "adapters/sql/event_repository.h"
#include "adapters/sql/host_repository.h"
#include "adapters/sql/idle_repository.h"
#include "adapters/sql/instance_repository.h"
#include "adapters/sql/key_repository.h"
#include "adapters/sql/ledger_repository.h"
#include "adapters/sql/migrations.h"
#include "adapters/sql/restore_repository.h"
#include "base/check.h"

namespace cardhour {

namespace sql {

struct Session : public Tx {
  explicit Session(std::unique_ptr<Connection> opened)
      : connection(std::move(opened)),
        account_repository(*connection),
        host_repository(*connection),
        instance_repository(*connection),
        ledger_repository(*connection),
        event_repository(*connection),
        key_repository(*connection),
        card_health_repository(*connection),
        idle_repository(*connection),
        restore_repository(*connection) {}

  AccountRepository& accounts() override { return account_repository; }
  HostRepository& hosts() override { return host_repository; }
  InstanceRepository& instances() override { return instance_repository; }
  LedgerRepository& ledger() override { return ledger_repository; }
  EventRepository& events() override { return event_repository; }
  KeyRepository& keys() override { return key_repository; }
  CardHealthRepository& card_health() override { return card_health_repository; }
  IdleRepository& idle() override { return idle_repository; }
  RestoreRepository& restores() override { return restore_repository; }

  std::unique_ptr<Connection> connection;
  SqlAccountRepository account_repository;
  SqlHostRepository host_repository;
  SqlInstanceRepository instance_repository;
  SqlLedgerRepository ledger_repository;
  SqlEventRepository event_repository;
  SqlKeyRepository key_repository;
  SqlCardHealthRepository card_health_repository;
  SqlIdleRepository idle_repository;
  SqlRestoreRepository restore_repository;
};

}  // namespace sql

namespace {

constexpr std::string_view kMemory = ":memory:";

// 8 MiB: a checkpoint writes each page that changed once, so that a longer log saves work.
constexpr int kLogPages = 2'048;
// 128 MiB: writers so busy that no checkpoint beside them comes to an end wait for one.
constexpr int kLogPagesMax = 32'768;
// The writer's indexes are large where there is much; readers look at few rows.
constexpr int kWriterCacheKib = 64 * 1024;
constexpr int kReaderCacheKib = 8 * 1024;

// A transaction waits for others; one that waits for its own thread would wait forever.
thread_local bool inside_transaction = false;

class Turn {
 public:
  Turn() {
    CHECK(!inside_transaction, "a store transaction inside a store transaction of this thread");
    inside_transaction = true;
  }
  ~Turn() { inside_transaction = false; }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
};

// Rolls back on every way out but a commit, exceptions of the body included.
class Rollback {
 public:
  explicit Rollback(sql::Connection& connection) : connection_(connection) {}
  ~Rollback() { connection_.rollback(); }
  Rollback(const Rollback&) = delete;
  Rollback& operator=(const Rollback&) = delete;

 private:
  sql::Connection& connection_;
};

sql::ConnectionOptions connection_options(const std::string& path, const SqliteOptions& options,
                                          int cache_kib) {
  return {.path = path,
          .busy_timeout = options.busy_timeout,
          .durable = options.durable,
          .cache_kib = cache_kib};
}

}  // namespace

void FairMutex::lock() {
  std::unique_lock lock(mutex_);
  const uint64_t ticket = next_ticket_++;
  moved_.wait(lock, [&] { return served_ == ticket; });
}

void FairMutex::unlock() {
  {
    const std::lock_guard lock(mutex_);
    ++served_;
  }
  moved_.notify_all();
}

size_t FairMutex::waiting() {
  const std::lock_guard lock(mutex_);
  const uint64_t inside = next_ticket_ - served_;  // with the one who has it
  return inside > 0 ? inside - 1 : 0;
}

SqlStore::SqlStore(std::unique_ptr<sql::Session> writer) : writer_(std::move(writer)) {}
SqlStore::~SqlStore() = default;

Status SqlStore::write(const std::function<Status(Tx&)>& body) {
  Turn turn;
  int log_pages = 0;
  {
    const std::lock_guard lock(writer_mutex_);
    sql::Connection& connection = *writer_->connection;
    TRY(connection.begin_write());
    Rollback rollback(connection);
    TRY(body(*writer_));
    TRY(connection.commit());
    log_pages = connection.log_pages();
    if (log_pages > kLogPagesMax) static_cast<void>(connection.checkpoint());
  }
  keep_log_short(log_pages);
  return {};
}

// By whoever committed, when others can write again. What fails is done after the next commit.
void SqlStore::keep_log_short(int pages) {
  if (checkpointer_ == nullptr) return;
  const std::unique_lock lock(checkpoint_mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return;
  if (pages < tried_at_pages_) tried_at_pages_ = 0;  // the log began anew
  if (pages - tried_at_pages_ < kLogPages) return;
  tried_at_pages_ = pages;  // while somebody reads an old snapshot, it helps only in part
  static_cast<void>(checkpointer_->checkpoint());
}

Status SqlStore::read(const std::function<Status(Tx&)>& body) {
  Turn turn;
  return with_reader([&](sql::Session& session) { return read_on(session, body); });
}

Status SqlStore::read_on(sql::Session& session, const std::function<Status(Tx&)>& body) {
  TRY(session.connection->begin_read());
  Rollback rollback(*session.connection);
  return body(session);
}

Status SqlStore::with_reader(const std::function<Status(sql::Session&)>& body) {
  if (readers_.empty()) {
    const std::lock_guard lock(writer_mutex_);
    return body(*writer_);
  }
  struct Loan {
    SqlStore& store;
    sql::Session& session = store.borrow_reader();
    ~Loan() { store.return_reader(session); }
  } loan{*this};
  return body(loan.session);
}

sql::Session& SqlStore::borrow_reader() {
  std::unique_lock lock(readers_mutex_);
  reader_returned_.wait(lock, [&] { return !idle_readers_.empty(); });
  sql::Session* reader = idle_readers_.back();
  idle_readers_.pop_back();
  return *reader;
}

void SqlStore::return_reader(sql::Session& reader) {
  {
    std::lock_guard lock(readers_mutex_);
    idle_readers_.push_back(&reader);
  }
  reader_returned_.notify_one();
}

Status SqlStore::backup_to(const std::string& path) {
  Turn turn;
  return with_reader(
      [&](sql::Session& session) { return sql::copy_database(*session.connection, path); });
}

Status SqlStore::check_integrity() {
  Turn turn;
  return with_reader(
      [](sql::Session& session) { return sql::check_integrity(*session.connection); });
}

Status SqlStore::add_reader(const std::string& path, const SqliteOptions& options) {
  TRY_ASSIGN(auto connection,
             sql::Connection::open(connection_options(path, options, kReaderCacheKib)));
  readers_.push_back(std::make_unique<sql::Session>(std::move(connection)));
  idle_readers_.push_back(readers_.back().get());
  return {};
}

Result<std::unique_ptr<SqlStore>> open_sqlite(const std::string& path,
                                              const SqliteOptions& options) {
  const bool in_memory = path == kMemory;
  TRY_ASSIGN(auto connection,
             sql::Connection::open(connection_options(path, options, kWriterCacheKib)));
  TRY(sql::migrate(*connection, sql::embedded_migrations(), in_memory ? "" : path));
  std::unique_ptr<SqlStore> store(
      new SqlStore(std::make_unique<sql::Session>(std::move(connection))));
  if (in_memory) return store;
  for (int i = 0; i < options.readers; ++i) TRY(store->add_reader(path, options));
  TRY_ASSIGN(store->checkpointer_,
             sql::Connection::open(connection_options(path, options, kReaderCacheKib)));
  return store;
}

}  // namespace cardhour
