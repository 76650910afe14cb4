#include "adapters/sql/connection.h"

#include <fcntl.h>
#include <soci/soci.h>
#include <soci/sqlite3/soci-sqlite3.h>
#include <unistd.h>

#include <string_view>
#include <utility>

namespace cardhour::sql {

namespace {

using sqlite_api::sqlite3;

constexpr std::string_view kMemory = ":memory:";

// SOCI's connection parameters are words; a quoted value may hold blanks, but no quote.
Result<std::string> soci_parameters(const std::string& path) {
  if (path.empty() || path.find_first_of("\"\n") != std::string::npos) {
    return fail(ErrorCode::invalid_argument,
                text("the database path \"{}\" is empty or has a quote or a line break",
                     "数据库路径“{}”为空，或含有引号或换行", path),
                text("Choose another path.", "请换一个路径。"));
  }
  return "db=\"" + path + "\"";
}

// Password hashes and sealed secrets are in it: nobody but the owner reads the file. SQLite
// gives the files beside it the same mode.
void create_private(const std::string& path) {
  const int file = ::open(path.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
  if (file >= 0) ::close(file);
}

// A connection belongs to one thread at a time, so SQLite needs no locks of its own, and its
// account of memory (one lock for all connections) is nobody's. Before the first connection.
void configure_sqlite() {
  static const bool done = [] {
    sqlite_api::sqlite3_config(SQLITE_CONFIG_MULTITHREAD);
    sqlite_api::sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    return true;
  }();
  static_cast<void>(done);
}

Error constraint_error(int code, const std::string& message) {
  const size_t colon = message.rfind(": ");
  const std::string what = colon == std::string::npos ? message : message.substr(colon + 2);
  if (code == SQLITE_CONSTRAINT_UNIQUE || code == SQLITE_CONSTRAINT_PRIMARYKEY) {
    return {ErrorCode::conflict, text("it exists already ({})", "已经存在（{}）", what), {}, {}};
  }
  return {ErrorCode::internal,
          text("the database refused a row: {}", "数据库拒绝了一行数据：{}", message),
          text("This is a bug in Cardhour; please report it with the log.",
               "这是卡时的缺陷，请附上日志反馈。"),
          {}};
}

Error unavailable(Text what, Text next) {
  return {ErrorCode::store_unavailable, std::move(what), std::move(next), {}};
}

// From SQLite's extended result code to our closed set.
Error error_of(int code, const std::string& message) {
  switch (code & 0xff) {
    case SQLITE_CONSTRAINT:
      return constraint_error(code, message);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return unavailable(
          text("another process holds the database", "数据库被另一个进程占用"),
          text("Try again; if it lasts, look for another cardhour process or an open shell on "
               "the database.",
               "请重试；若一直如此，请检查是否有其他 cardhour 进程或数据库命令行占用它。"));
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return unavailable(
          text("the database is read-only", "数据库只读"),
          text("Check the owner and mode of the file and its directory, and whether its file "
               "system is mounted read-only.",
               "请检查该文件及目录的属主与权限，以及文件系统是否被只读挂载。"));
    case SQLITE_FULL:
      return unavailable(text("the disk of the database is full", "数据库所在磁盘已满"),
                         text("Free some space; nothing of this change was written.",
                              "请腾出空间；本次修改没有写入任何内容。"));
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
      return unavailable(
          text("the database cannot be read or written: {}", "数据库无法读写：{}", message),
          text("Check the disk and the directory of the database.",
               "请检查数据库所在的磁盘和目录。"));
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return {ErrorCode::internal,
              text("the database file is damaged or not a database: {}",
                   "数据库文件已损坏，或不是数据库：{}", message),
              text("Stop Cardhour and restore the last backup.", "请停止卡时，并恢复最近的备份。"),
              {}};
    default:
      return {ErrorCode::internal,
              text("the database failed: {}", "数据库出错：{}", message),
              text("This is a bug in Cardhour; please report it with the log.",
                   "这是卡时的缺陷，请附上日志反馈。"),
              {}};
  }
}

}  // namespace

// Cells stay where they are: SOCI holds references to them.
class Statement {
 public:
  Statement(soci::session& session, const std::string& text,
            const std::vector<ColumnType>& parameter_types,
            const std::vector<ColumnType>& column_types)
      : sql(text),
        parameters(cells_of(parameter_types)),
        columns(cells_of(column_types)),
        parameter_marks(parameter_types.size(), soci::i_ok),
        column_marks(column_types.size(), soci::i_ok),
        native(session) {
    for (size_t i = 0; i < parameters.size(); ++i) {
      Cell& cell = parameters[i];
      if (cell.type == ColumnType::text) {
        native.exchange(soci::use(cell.text, parameter_marks[i]));
      } else {
        native.exchange(soci::use(cell.integer, parameter_marks[i]));
      }
    }
    for (size_t i = 0; i < columns.size(); ++i) {
      Cell& cell = columns[i];
      if (cell.type == ColumnType::text) {
        native.exchange(soci::into(cell.text, column_marks[i]));
      } else {
        native.exchange(soci::into(cell.integer, column_marks[i]));
      }
    }
    native.alloc();
    native.prepare(sql);
    native.define_and_bind();
  }

  // Both end by resetting when there is no (further) row.
  bool execute() {
    for (size_t i = 0; i < parameters.size(); ++i) {
      parameter_marks[i] = parameters[i].null ? soci::i_null : soci::i_ok;
    }
    return note_nulls(native.execute(true));
  }
  bool fetch() { return note_nulls(native.fetch()); }
  // As SOCI's own reset, which its library does not export.
  void reset() {
    auto* backend = static_cast<soci::sqlite3_statement_backend*>(native.get_backend());
    sqlite_api::sqlite3_reset(backend->stmt_);
    backend->databaseReady_ = true;
  }

  const std::string sql;
  std::vector<Cell> parameters;
  std::vector<Cell> columns;
  std::vector<soci::indicator> parameter_marks;
  std::vector<soci::indicator> column_marks;
  soci::statement native;

 private:
  static std::vector<Cell> cells_of(const std::vector<ColumnType>& types) {
    std::vector<Cell> cells;
    for (ColumnType type : types) cells.push_back(Cell{type, false, 0, {}});
    return cells;
  }
  bool note_nulls(bool got_row) {
    if (!got_row) reset();
    for (size_t i = 0; got_row && i < columns.size(); ++i) {
      columns[i].null = column_marks[i] == soci::i_null;
    }
    return got_row;
  }
};

struct Connection::Native {
  explicit Native(const std::string& parameters)
      : session(soci::sqlite3, parameters),
        handle(static_cast<soci::sqlite3_session_backend*>(session.get_backend())->conn_) {}

  int code() const { return sqlite_api::sqlite3_extended_errcode(handle); }
  bool in_transaction() const { return sqlite_api::sqlite3_get_autocommit(handle) == 0; }
  // Replaces SQLite's own checkpoints, which would hold up whoever commits.
  static int note_log_pages(void* self, sqlite3*, const char*, int pages) {
    static_cast<Native*>(self)->log_pages = pages;
    return SQLITE_OK;
  }
  int execute(const char* sql) {
    return sqlite_api::sqlite3_exec(handle, sql, nullptr, nullptr, nullptr);
  }

  soci::session session;
  sqlite3* handle;
  int log_pages = 0;
};

tl::unexpected<Error> no_such_row() {
  return fail(ErrorCode::not_found, text("the row to change is not there", "要修改的记录不存在"));
}

Connection::Connection(std::unique_ptr<Native> native) : native_(std::move(native)) {}

Connection::~Connection() {
  rollback();
  statements_.clear();
}

Result<std::unique_ptr<Connection>> Connection::open(const ConnectionOptions& options) {
  TRY_ASSIGN(const std::string parameters, soci_parameters(options.path));
  const bool in_memory = options.path == kMemory;
  configure_sqlite();
  if (!in_memory) create_private(options.path);
  std::unique_ptr<Connection> connection;
  try {
    connection.reset(new Connection(std::make_unique<Native>(parameters)));
  } catch (const soci::sqlite3_soci_error& error) {
    return fail(error_of(error.result(), error.get_error_message()));
  } catch (const soci::soci_error& error) {
    return fail(error_of(SQLITE_CANTOPEN, error.get_error_message()));
  }
  Native& native = *connection->native_;
  sqlite_api::sqlite3_extended_result_codes(native.handle, 1);
  sqlite_api::sqlite3_busy_timeout(native.handle, static_cast<int>(options.busy_timeout.count()));
  TRY(
      connection->execute(fmt::format("PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF;"
                                      "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -{};",
                                      options.cache_kib)));
  if (!in_memory) {
    // The write-ahead log is cut back to 64 MiB after a checkpoint.
    TRY(connection->execute("PRAGMA journal_mode = WAL; PRAGMA journal_size_limit = 67108864;"));
    sqlite_api::sqlite3_wal_hook(native.handle, Native::note_log_pages, &native);
    TRY(connection->execute(options.durable ? "PRAGMA synchronous = FULL"
                                            : "PRAGMA synchronous = OFF"));
  }
  return connection;
}

Status Connection::begin_write() {
  CHECK(!open_, "a transaction inside a transaction");
  TRY(execute("BEGIN IMMEDIATE"));
  open_ = writable_ = true;
  return {};
}

Status Connection::begin_read() {
  CHECK(!open_, "a transaction inside a transaction");
  TRY(execute("BEGIN"));
  open_ = true;
  return {};
}

Status Connection::commit() {
  CHECK(open_, "a commit without a transaction");
  Status status = execute("COMMIT");
  rollback();  // nothing to do after a commit that went well
  return status;
}

void Connection::rollback() noexcept {
  if (native_->in_transaction()) native_->execute("ROLLBACK");
  open_ = writable_ = false;
  doomed_.reset();
}

int Connection::log_pages() const { return native_->log_pages; }

Status Connection::checkpoint() {
  CHECK(!open_, "a checkpoint inside a transaction");
  return execute("PRAGMA wal_checkpoint(PASSIVE)");
}

Status Connection::execute(const std::string& sql) {
  if (doomed_) return fail(*doomed_);
  if (native_->execute(sql.c_str()) == SQLITE_OK) return {};
  return failed(native_->code(), sqlite_api::sqlite3_errmsg(native_->handle));
}

// Runs what may throw. A statement that threw is prepared anew the next time: SOCI may have
// let go of it.
template <class F>
auto Connection::attempt(const std::string& sql, F call) -> Result<decltype(call())> {
  int code = SQLITE_ERROR;
  std::string message;
  try {
    return call();
  } catch (const soci::sqlite3_soci_error& error) {
    code = error.result();
    message = error.get_error_message();
  } catch (const soci::soci_error& error) {
    message = error.get_error_message();
  }
  if ((code & 0xff) == (native_->code() & 0xff)) code = native_->code();
  forget(sql);
  return failed(code, message);
}

void Connection::forget(const std::string& sql) {
  const std::string key = sql;  // `sql` may be the statement's own
  statements_.erase(key);
}

Result<Statement*> Connection::prepare(const std::string& sql,
                                       const std::vector<ColumnType>& parameters,
                                       const std::vector<ColumnType>& columns) {
  auto found = statements_.find(sql);
  if (found != statements_.end()) return found->second.get();
  return attempt(sql, [&] {
    auto made = std::make_unique<Statement>(native_->session, sql, parameters, columns);
    return statements_.emplace(sql, std::move(made)).first->second.get();
  });
}

std::vector<Cell>& Connection::parameters_of(Statement& statement) { return statement.parameters; }
const std::vector<Cell>& Connection::columns_of(Statement& statement) { return statement.columns; }

Result<bool> Connection::first_row(Statement& statement) {
  return attempt(statement.sql, [&] { return statement.execute(); });
}

Result<bool> Connection::next_row(Statement& statement) {
  return attempt(statement.sql, [&] { return statement.fetch(); });
}

Result<int64_t> Connection::execute_change(Statement& statement) {
  return attempt(statement.sql, [&]() -> int64_t {
    statement.execute();
    const int64_t touched = sqlite_api::sqlite3_changes64(native_->handle);
    statement.reset();
    return touched;
  });
}

// A statement that is left in the middle of its rows would keep its snapshot open.
void Connection::reset(Statement& statement) noexcept { statement.reset(); }

tl::unexpected<Error> Connection::bad_row(Statement& statement, const RowError& error) {
  statement.reset();
  return fail(ErrorCode::internal,
              text("a row of the database does not fit: {}", "数据库中的一行数据不合规：{}",
                   std::string(error.what())),
              text("Was it changed by hand, or written by a newer Cardhour?",
                   "是否手工修改过，或由更新版本的卡时写入？"));
}

tl::unexpected<Error> Connection::failed(int code, const std::string& message) {
  Error error = error_of(code, message);
  if (open_ && error.code != ErrorCode::conflict) doomed_ = error;
  return fail(std::move(error));
}

}  // namespace cardhour::sql
