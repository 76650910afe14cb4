// Connection: one connection to the database, with its prepared statements and its
// transaction. SOCI and its exceptions end here: what can go wrong comes back as an Error.
// Invariants: a statement that failed for another reason than a unique index dooms the
// transaction (commit rolls back and repeats that error), and nothing is written outside a
// write transaction. Used by SqlStore, migrations and the repositories. Not thread-safe: a
// connection is used by one thread at a time.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "adapters/sql/row.h"
#include "base/check.h"
#include "base/error.h"

namespace cardhour::sql {

// A prepared statement, kept until the connection closes.
class Statement;

struct ConnectionOptions {
  std::string path;  // a file, or ":memory:"
  // How long to wait for another process that writes.
  std::chrono::milliseconds busy_timeout{5000};
  bool durable = true;     // each commit is on the disk before it returns
  int cache_kib = 16'384;  // of pages, at most
};

// The error of a change to a row that is not there.
tl::unexpected<Error> no_such_row();

class Connection {
 public:
  // Opens or creates the database file, readable by its owner only.
  static Result<std::unique_ptr<Connection>> open(const ConnectionOptions& options);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  Status begin_write();
  Status begin_read();
  // Ends the transaction either way; an error means that nothing was written.
  Status commit();
  void rollback() noexcept;

  // Pages of the write-ahead log after this connection's last commit.
  int log_pages() const;
  // Moves what is committed from the log into the database file, beside whoever reads or writes
  // on other connections. Not inside a transaction.
  Status checkpoint();

  // Runs SQL without parameters and results, several statements too.
  Status execute(const std::string& sql);

  // Runs an insert, update or delete; the number of rows it touched. Parameters are columns
  // or described structs, in the order of the placeholders (each name used once).
  template <class... P>
  Result<int64_t> change(const std::string& sql, const P&... parameters);
  // The same, as a Status.
  template <class... P>
  Status run(const std::string& sql, const P&... parameters);
  // The same; not_found when it touched none.
  template <class... P>
  Status run_one(const std::string& sql, const P&... parameters);
  // All rows of a query; T is a column or a described struct.
  template <class T, class... P>
  Result<std::vector<T>> select(const std::string& sql, const P&... parameters);
  // The first row, if there is one.
  template <class T, class... P>
  Result<std::optional<T>> find(const std::string& sql, const P&... parameters);
  // The first row of a query that always has one, e.g. count(*).
  template <class T, class... P>
  Result<T> value(const std::string& sql, const P&... parameters);

 private:
  struct Native;
  explicit Connection(std::unique_ptr<Native> native);

  template <class F>
  auto attempt(const std::string& sql, F call) -> Result<decltype(call())>;
  void forget(const std::string& sql);
  Result<Statement*> prepare(const std::string& sql, const std::vector<ColumnType>& parameters,
                             const std::vector<ColumnType>& columns);
  static std::vector<Cell>& parameters_of(Statement& statement);
  static const std::vector<Cell>& columns_of(Statement& statement);
  Result<bool> first_row(Statement& statement);
  Result<bool> next_row(Statement& statement);
  Result<int64_t> execute_change(Statement& statement);
  void reset(Statement& statement) noexcept;
  tl::unexpected<Error> bad_row(Statement& statement, const RowError& error);
  tl::unexpected<Error> failed(int code, const std::string& message);

  template <class... P>
  Result<Statement*> prepare_with(const std::string& sql, const std::vector<ColumnType>& columns,
                                  const P&... parameters);

  std::unique_ptr<Native> native_;
  std::unordered_map<std::string, std::unique_ptr<Statement>> statements_;
  bool open_ = false;      // inside a transaction
  bool writable_ = false;  // inside a write transaction
  std::optional<Error> doomed_;
};

template <class... P>
Result<Statement*> Connection::prepare_with(const std::string& sql,
                                            const std::vector<ColumnType>& columns,
                                            const P&... parameters) {
  if (doomed_) return fail(*doomed_);
  TRY_ASSIGN(Statement * statement, prepare(sql, types_of<P...>(), columns));
  [[maybe_unused]] Cell* cell = parameters_of(*statement).data();
  (put_all(cell, parameters), ...);
  return statement;
}

template <class... P>
Result<int64_t> Connection::change(const std::string& sql, const P&... parameters) {
  CHECK(writable_, "a change outside a write transaction");
  TRY_ASSIGN(Statement * statement, prepare_with(sql, {}, parameters...));
  return execute_change(*statement);
}

template <class... P>
Status Connection::run(const std::string& sql, const P&... parameters) {
  TRY(change(sql, parameters...));
  return {};
}

template <class... P>
Status Connection::run_one(const std::string& sql, const P&... parameters) {
  TRY_ASSIGN(const int64_t touched, change(sql, parameters...));
  if (touched == 0) return no_such_row();
  return {};
}

template <class T, class... P>
Result<std::vector<T>> Connection::select(const std::string& sql, const P&... parameters) {
  TRY_ASSIGN(Statement * statement, prepare_with(sql, types_of<T>(), parameters...));
  std::vector<T> rows;
  TRY_ASSIGN(bool more, first_row(*statement));
  while (more) {
    try {
      rows.push_back(take_all<T>(columns_of(*statement)));
    } catch (const RowError& error) {
      return bad_row(*statement, error);
    }
    TRY_ASSIGN(more, next_row(*statement));
  }
  return rows;
}

template <class T, class... P>
Result<std::optional<T>> Connection::find(const std::string& sql, const P&... parameters) {
  TRY_ASSIGN(Statement * statement, prepare_with(sql, types_of<T>(), parameters...));
  TRY_ASSIGN(bool found, first_row(*statement));
  if (!found) return std::optional<T>{};
  try {
    std::optional<T> row = take_all<T>(columns_of(*statement));
    reset(*statement);
    return row;
  } catch (const RowError& error) {
    return bad_row(*statement, error);
  }
}

template <class T, class... P>
Result<T> Connection::value(const std::string& sql, const P&... parameters) {
  TRY_ASSIGN(std::optional<T> row, find<T>(sql, parameters...));
  CHECK(row.has_value(), "a query that always has a row");
  return std::move(*row);
}

}  // namespace cardhour::sql
