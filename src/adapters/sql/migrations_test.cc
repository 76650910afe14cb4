#include "adapters/sql/migrations.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "adapters/sql/sql_store.h"
#include "adapters/sql/store_test_rows.h"

namespace cardhour {
namespace {

using namespace store_test;

class Migrations : public testing::Test {
 protected:
  std::unique_ptr<sql::Connection> connect() {
    return must(sql::Connection::open({.path = path_, .durable = false}));
  }
  std::string copy(int number) const { return fmt::format("{}.before-{:04}", path_, number); }
  static int version(sql::Connection& connection) {
    return must(connection.value<int>("select max(version) from schema_version"));
  }

  TemporaryDirectory directory_;
  const std::string path_ = directory_.file("db");
  const std::span<const sql::Migration> all_ = sql::embedded_migrations();
};

TEST_F(Migrations, AreNumberedAsTheirFiles) {
  ASSERT_FALSE(all_.empty());
  for (size_t i = 0; i < all_.size(); ++i) {
    EXPECT_EQ(static_cast<int>(i) + 1, all_[i].number);
    EXPECT_EQ(fmt::format("{:04}_", i + 1), all_[i].name.substr(0, 5));
  }
}

TEST_F(Migrations, AnOlderDatabaseIsCopiedFirst) {
  {
    auto connection = connect();
    must(sql::migrate(*connection, all_.first(3), path_));
    must(connection->begin_write());
    must(connection->run(sql::insert_sql<Account>("accounts"), account("a1")));
    must(connection->commit());
  }
  auto store = must(open_sqlite(path_));
  EXPECT_EQ(1, read(*store, [](Tx& tx) { return must(tx.accounts().count()); }));
  ASSERT_TRUE(std::filesystem::exists(copy(4)));
  auto before = must(sql::Connection::open({.path = copy(4)}));
  EXPECT_EQ(3, version(*before));
  EXPECT_EQ(1, must(before->value<int>("select count(*) from accounts")));
}

TEST_F(Migrations, RowsOfBeforeTheBrowserAndTheReasonsInChineseAreKept) {
  {
    auto connection = connect();
    must(sql::migrate(*connection, all_.first(7), path_));
    must(connection->execute(
        "insert into accounts values ('a1', 'l', 'h', 'renter', 'active', 1, null, 0)"));
    must(
        connection->execute("insert into tokens values ('k1', 'a1', 'session', null, 'login', "
                            "'hash', 'read', 1, null)"));
  }
  auto store = must(open_sqlite(path_));
  const auto token =
      read(*store, [](Tx& tx) { return must(tx.accounts().find_token(TokenId{"k1"})); });
  ASSERT_TRUE(token);
  EXPECT_EQ("hash", token->secret_hash);
  EXPECT_FALSE(token->cookie_hash);
  EXPECT_TRUE(std::filesystem::exists(copy(8)));
}

// tests/data/schema: a database as each release left it, with rows. A dump never changes; who adds
// a migration adds the dump of the schema before it (scripts/schema_dump.py).
class EveryRelease : public Migrations, public testing::WithParamInterface<int> {
 protected:
  static std::string dump(int number) {
    const auto path = fmt::format("{}/tests/data/schema/{:04}.sql", CARDHOUR_SOURCE_DIR, number);
    std::ifstream file(path);
    EXPECT_TRUE(file.good()) << "a released schema without its dump: " << path;
    return {std::istreambuf_iterator<char>(file), {}};
  }
  // A dump has its tables in the order of their names, not of what refers to what.
  static void load(sql::Connection& connection) {
    must(connection.execute("pragma foreign_keys = off"));
    must(connection.execute(dump(GetParam())));
  }
  // How many rows each of the tables has that are there.
  static std::vector<std::string> counts(sql::Connection& connection,
                                         const std::vector<std::string>& tables) {
    std::vector<std::string> out;
    for (const std::string& table : tables) {
      const auto rows = must(connection.value<int>("select count(*) from " + table));
      out.push_back(fmt::format("{} {}", table, rows));
    }
    return out;
  }
};

TEST_P(EveryRelease, IsOpenedWithAllItsRows) {
  std::vector<std::string> tables;
  std::vector<std::string> before;
  {
    auto connection = connect();
    load(*connection);
    ASSERT_EQ(GetParam(), version(*connection));
    tables = must(connection->select<std::string>(
        "select name from sqlite_master where type = 'table' and name <> 'schema_version'"
        " and name not like 'sqlite_%' order by name"));
    before = counts(*connection, tables);
  }
  ASSERT_FALSE(tables.empty());
  for (const std::string& line : before) EXPECT_FALSE(line.ends_with(" 0")) << line << ": no rows";
  auto store = must(open_sqlite(path_, SqliteOptions{.durable = false}));
  must(store->check_integrity());
  EXPECT_EQ(static_cast<int>(all_.size()), version(*connect()));
  EXPECT_EQ(before, counts(*connect(), tables));
  if (GetParam() < static_cast<int>(all_.size())) {
    EXPECT_TRUE(std::filesystem::exists(copy(GetParam() + 1))) << "copied before it was changed";
  }
}

// The rows mean what they meant: read by the repositories of today.
TEST_P(EveryRelease, ReadsAsItDid) {
  {
    auto connection = connect();
    load(*connection);
  }
  auto store = must(open_sqlite(path_, SqliteOptions{.durable = false}));
  EXPECT_TRUE(read(*store, [](Tx& tx) { return must(tx.ledger().unproven_balances()); }).empty());
  const auto renter =
      read(*store, [](Tx& tx) { return must(tx.accounts().find_login("renter1")); });
  ASSERT_TRUE(renter);
  EXPECT_EQ(renter->version, 3);
  if (GetParam() < 3) return;
  const auto alive = read(*store, [](Tx& tx) { return must(tx.instances().alive()); });
  ASSERT_EQ(alive.size(), 2u);
  EXPECT_EQ(alive[0].observed, Observed::running);
  EXPECT_EQ(alive[1].name, "盒子");
  EXPECT_EQ(alive[1].fault_what_zh, "余额已用完");
  if (GetParam() < 5) return;
  const auto open =
      read(*store, [&](Tx& tx) { return must(tx.ledger().open_segments_of(alive[0].id)); });
  ASSERT_EQ(open.size(), 1u);
  EXPECT_EQ(open[0].posted, Money{1'980'000});
  EXPECT_EQ(read(*store, [&](Tx& tx) { return must(tx.ledger().posted_for(open[0].id)); }),
            open[0].posted);
}

INSTANTIATE_TEST_SUITE_P(Schema, EveryRelease,
                         testing::Range(1, static_cast<int>(sql::embedded_migrations().size())),
                         [](const auto& release) { return fmt::format("{:04}", release.param); });

TEST_F(Migrations, ANewerDatabaseIsRefusedUntouched) {
  must(sql::migrate(*connect(), all_, path_));
  const Status refused = sql::migrate(*connect(), all_.first(3), path_);
  EXPECT_EQ(ErrorCode::conflict, code_of(refused));
  EXPECT_EQ(
      fmt::format("the database is at schema {}, this Cardhour knows schemas up to 3", all_.size()),
      refused.error().what.en);
  EXPECT_FALSE(refused.error().next.zh.empty());
  EXPECT_EQ(static_cast<int>(all_.size()), version(*connect()));
}

TEST_F(Migrations, AForeignDatabaseIsRefused) {
  must(connect()->execute("create table accounts (id text)"));
  EXPECT_EQ(ErrorCode::conflict, code_of(sql::migrate(*connect(), all_, path_)));
}

TEST_F(Migrations, AFailedStepLeavesTheStepBefore) {
  const sql::Migration steps[] = {{1, "0001_one", "create table one (n integer);"},
                                  {2, "0002_two", "create table two (n integer); oops;"}};
  const Status failed = sql::migrate(*connect(), steps, path_);
  EXPECT_EQ(ErrorCode::internal, code_of(failed));
  EXPECT_EQ(0u, failed.error().what.en.find("migration 0002_two: "));
  EXPECT_EQ(1, version(*connect()));
  const sql::Migration mended[] = {steps[0], {2, "0002_two", "create table two (n integer);"}};
  must(sql::migrate(*connect(), mended, path_));
  EXPECT_EQ(2, version(*connect()));
  EXPECT_TRUE(std::filesystem::exists(copy(2)));
}

// "id INTEGER NOT NULL, ..." as the struct wants it, and as the table has it.
template <class T>
std::string wanted_columns() {
  std::string out;
  boost::mp11::mp_for_each<sql::Members<T>>([&](auto member) {
    using Member = std::remove_cvref_t<decltype(std::declval<T>().*member.pointer)>;
    const bool text = sql::column_type<Member>() == sql::ColumnType::text;
    out += fmt::format("{} {}{}, ", member.name, text ? "TEXT" : "INTEGER",
                       sql::OptionalColumn<Member> ? "" : " NOT NULL");
  });
  return out;
}
std::string stored_columns(sql::Connection& connection, const std::string& table) {
  std::string out;
  for (const std::string& column : must(connection.select<std::string>(
           "select name || ' ' || type || case \"notnull\" when 1 then ' NOT NULL' else '' end"
           " from pragma_table_info(:name) order by cid",
           table))) {
    out += column + ", ";
  }
  return out;
}

TEST_F(Migrations, TablesHoldTheDescribedStructs) {
  auto connection = connect();
  must(sql::migrate(*connection, all_, path_));
  EXPECT_EQ(wanted_columns<Account>(), stored_columns(*connection, "accounts"));
  EXPECT_EQ(wanted_columns<Token>(), stored_columns(*connection, "tokens"));
  EXPECT_EQ(wanted_columns<SshKey>(), stored_columns(*connection, "ssh_keys"));
  EXPECT_EQ(wanted_columns<Invitation>(), stored_columns(*connection, "invitations"));
  EXPECT_EQ(wanted_columns<Host>(), stored_columns(*connection, "hosts"));
  EXPECT_EQ(wanted_columns<Card>(), stored_columns(*connection, "cards"));
  EXPECT_EQ(wanted_columns<Price>(), stored_columns(*connection, "prices"));
  EXPECT_EQ(wanted_columns<Instance>(), stored_columns(*connection, "instances"));
  EXPECT_EQ(wanted_columns<Operation>(), stored_columns(*connection, "operations"));
  EXPECT_EQ(wanted_columns<Allocation>(), stored_columns(*connection, "allocations"));
  EXPECT_EQ(wanted_columns<Claim>(), stored_columns(*connection, "claims"));
  EXPECT_EQ(wanted_columns<LedgerTransaction>(),
            stored_columns(*connection, "ledger_transactions"));
  EXPECT_EQ(wanted_columns<Posting>(), stored_columns(*connection, "postings"));
  EXPECT_EQ(wanted_columns<Segment>(), stored_columns(*connection, "segments"));
  EXPECT_EQ(wanted_columns<Event>(), stored_columns(*connection, "events"));
  EXPECT_EQ(wanted_columns<CardCondition>(), stored_columns(*connection, "card_conditions"));
  EXPECT_EQ(wanted_columns<CardXid>(), stored_columns(*connection, "card_xids"));
  EXPECT_EQ(wanted_columns<IdleRule>(), stored_columns(*connection, "idle_rules"));
  EXPECT_EQ(wanted_columns<IdempotentAnswer>(), stored_columns(*connection, "idempotent_answers"));
  EXPECT_EQ(wanted_columns<Adoption>(), stored_columns(*connection, "adoptions"));
  EXPECT_EQ(wanted_columns<Restore>(), stored_columns(*connection, "restores"));
}

// What SQLite says about one step of a query.
struct PlanRow {
  int id = 0;
  int parent = 0;
  int unused = 0;
  std::string detail;
};
BOOST_DESCRIBE_STRUCT(PlanRow, (), (id, parent, unused, detail))

// Every query for what is due reads an index, and sorts nothing.
TEST_F(Migrations, DueQueriesUseTheirIndexes) {
  auto connection = connect();
  must(sql::migrate(*connection, all_, path_));
  struct Row {
    const char* index;
    const char* query;
  };
  const Row rows[] = {
      {"accounts_due",
       "select id from accounts where next_settlement_at <= 1"
       " order by next_settlement_at, id limit 9"},
      {"operations_due",
       "select id from operations where state = 'pending' and not_before <= 1"
       " and (lock_token = '' or lock_expires_at <= 1) order by not_before, id limit 1"},
      {"instances_bin",
       "select id from instances where observed = 'in_bin' and bin_until <= 1"
       " and desired <> 'purged' order by bin_until, id limit 9"},
      {"instances_moving",
       "select id from instances"
       " where (observed IN ('creating', 'starting', 'stopping', 'releasing')"
       " OR (observed = 'in_bin' AND desired = 'purged')"
       " OR (observed = 'running' AND guest_current = 0)) order by id"},
      {"segments_open_of_account",
       "select id from segments where account_id = 'a' and closed_at is null"},
      {"segments_open_of_instance",
       "select id from segments where instance_id = 'i' and closed_at is null"},
      {"segments_of_run", "select id from segments where run_id = 'r'"},
      {"events_of_account", "select * from events where seq > 1 and account_id = 'a' order by seq"},
      {"events_of_instance",
       "select * from events where seq > 1 and instance_id = 'i' order by seq"},
      {"ledger_transactions_of_account",
       "select * from ledger_transactions where account_id = 'a' order by at desc, id desc"},
      {"segments_closed_of_instance",
       "select sum(posted) from segments where instance_id = 'i' and closed_at is not null"},
      {"instances_warned",
       "select id from instances where account_id = 'a' and notice_reason <> '' order by id"},
      {"host_models_best",
       "select host_id from host_models where model = 'm' and cards_free >= 2"
       " order by cards_free, (host_busy = 0), host_id limit 1"},
      {"instances_of_account",
       "select * from instances where account_id = 'a' order by created_at desc, id desc"},
  };
  for (const Row& row : rows) {
    std::string plan;
    for (const PlanRow& step :
         must(connection->select<PlanRow>(std::string("explain query plan ") + row.query))) {
      plan += step.detail + "; ";
    }
    EXPECT_NE(std::string::npos, plan.find(std::string("INDEX ") + row.index)) << plan;
    EXPECT_EQ(std::string::npos, plan.find("TEMP B-TREE")) << plan;
  }
}

}  // namespace
}  // namespace cardhour
