#include "adapters/sql/ledger_repository.h"

#include <map>

namespace cardhour::sql {

Status SqlLedgerRepository::append(const LedgerEntry& entry) {
  static const std::string insert_head = insert_sql<LedgerTransaction>("ledger_transactions");
  static const std::string insert_posting = insert_sql<Posting>("postings");
  static const std::string add_to_balance =
      "insert into ledger_balances (ledger_account, balance) values (:ledger_account, :amount)"
      " on conflict (ledger_account)"
      " do update set balance = ledger_balances.balance + excluded.balance";
  CHECK(sum(entry.postings) == Money{}, "the postings of a transaction sum to zero");
  TRY(connection_.run(insert_head, entry.transaction));
  std::map<std::string_view, Money> changes;  // a settlement has many postings of one account
  for (const Posting& posting : entry.postings) {
    CHECK(posting.transaction_id == entry.transaction.id, "a posting of another transaction");
    TRY(connection_.run(insert_posting, posting));
    changes[posting.ledger_account] += posting.amount;
  }
  for (const auto& [name, amount] : changes) {
    TRY(connection_.run(add_to_balance, std::string(name), amount));
  }
  return {};
}

Result<Money> SqlLedgerRepository::balance(const std::string& ledger_account) {
  static const std::string sql = "select balance from ledger_balances where ledger_account = :name";
  TRY_ASSIGN(const auto balance, connection_.find<Money>(sql, ledger_account));
  return balance.value_or(Money{});
}

Result<std::vector<std::string>> SqlLedgerRepository::unproven_balances() {
  static const std::string sql =
      "select ledger_account from"
      " (select ledger_account, amount from postings"
      " union all select ledger_account, -balance from ledger_balances) as both_sides"
      " group by ledger_account having sum(amount) <> 0 order by ledger_account";
  return connection_.select<std::string>(sql);
}

Result<std::vector<LedgerTransaction>> SqlLedgerRepository::transactions(const AccountId& account,
                                                                         const Page& page) {
  static const std::string first = select_sql<LedgerTransaction>(
      "ledger_transactions", "where account_id = :account order by at desc, id desc limit :limit");
  static const std::string further = select_sql<LedgerTransaction>(
      "ledger_transactions",
      "where account_id = :account"
      " and (at, id) < (select at, id from ledger_transactions where id = :after)"
      " order by at desc, id desc limit :limit");
  if (page.after.empty()) return connection_.select<LedgerTransaction>(first, account, page.limit);
  return connection_.select<LedgerTransaction>(further, account, page.after, page.limit);
}

Result<std::vector<Posting>> SqlLedgerRepository::postings(const TransactionId& id) {
  static const std::string sql =
      select_sql<Posting>("postings", "where transaction_id = :transaction order by position");
  return connection_.select<Posting>(sql, id);
}

Result<Money> SqlLedgerRepository::posted_for(const SegmentId& id) {
  static const std::string sql =
      "select coalesce(sum(amount), 0) from postings"
      " where segment_id = :segment and substr(ledger_account, 1, 8) = 'revenue:'";
  return connection_.value<Money>(sql, id);
}

Status SqlLedgerRepository::insert_segment(const Segment& segment) {
  static const std::string sql = insert_sql<Segment>("segments");
  return connection_.run(sql, segment);
}

Status SqlLedgerRepository::update_segment(const Segment& segment) {
  static const std::string sql = update_sql<Segment>("segments", "id = :key");
  return connection_.run_one(sql, WithoutKey{segment}, segment.id);
}

Status SqlLedgerRepository::book_segment(const Segment& segment) {
  static const std::string sql =
      "update segments set posted = :posted, booked_until = :booked_until where id = :key";
  return connection_.run_one(sql, segment.posted, segment.booked_until, segment.id);
}

Result<std::vector<Segment>> SqlLedgerRepository::open_segments(const AccountId& account) {
  static const std::string sql = select_sql<Segment>(
      "segments", "where account_id = :account and closed_at is null order by opened_at, id");
  return connection_.select<Segment>(sql, account);
}

Result<std::vector<Segment>> SqlLedgerRepository::open_segments_of(const InstanceId& id) {
  static const std::string sql = select_sql<Segment>(
      "segments", "where instance_id = :instance and closed_at is null order by opened_at, id");
  return connection_.select<Segment>(sql, id);
}

Result<std::vector<Segment>> SqlLedgerRepository::segments_of_run(const RunId& id) {
  static const std::string sql =
      select_sql<Segment>("segments", "where run_id = :run order by opened_at, id");
  return connection_.select<Segment>(sql, id);
}

// A segment without length (a minimum charge) belongs where it begins.
Result<std::vector<Segment>> SqlLedgerRepository::segments(const SegmentFilter& filter) {
  static const std::string of_account = select_sql<Segment>(
      "segments",
      "where account_id = :account and opened_at < :to"
      " and (closed_at is null or closed_at > :from or opened_at >= :still_from)"
      " order by opened_at, id");
  static const std::string of_instance = select_sql<Segment>(
      "segments",
      "where account_id = :account and opened_at < :to"
      " and (closed_at is null or closed_at > :from or opened_at >= :still_from)"
      " and instance_id = :instance order by opened_at, id");
  const Timestamp from = filter.from.value_or(Timestamp{INT64_MIN});
  const Timestamp to = filter.to.value_or(Timestamp{INT64_MAX});
  if (!filter.instance) {
    return connection_.select<Segment>(of_account, filter.account, to, from, from);
  }
  return connection_.select<Segment>(of_instance, filter.account, to, from, from, *filter.instance);
}

}  // namespace cardhour::sql
