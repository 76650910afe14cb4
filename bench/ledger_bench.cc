// Postings a second through the ledger's repository, beside rows a second of bare SQLite: the
// same settings, and one table with the same columns and no index but its key.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <sqlite3.h>

#include "bench/fixture.h"

namespace cardhour::bench {
namespace {

constexpr int kPostingsPerBatch = 1'020;  // what holds the writer for some milliseconds
constexpr int kBatches = 20;

LedgerTransaction head_of(Fixture& fixture, size_t account) {
  LedgerTransaction head;
  head.id = fixture.entropy.id<TransactionId>();
  head.account_id = fixture.population.accounts[account].id;
  head.at = fixture.clock.now();
  head.actor = "system:settle";
  head.note = "usage";
  return head;
}

// What a settlement writes: a charge for each segment, and the wallet.
LedgerEntry settlement(Fixture& fixture, size_t account, int postings) {
  std::vector<Charge> charges;
  for (int i = 1; i < postings; ++i) {
    charges.push_back(Charge{fixture.entropy.id<SegmentId>(), Meter::on_demand, Money{1'000 + i}});
  }
  return usage_entry(head_of(fixture, account), charges, Money{1'000'000'000'000});
}

void postings(benchmark::State& state) {
  PopulationOptions options;
  options.accounts = 2'000;
  Fixture fixture(options);
  const auto per_entry = static_cast<int>(state.range(0));
  double best = 0;
  for (auto _ : state) {
    std::vector<LedgerEntry> entries;
    for (int i = 0; i < kBatches * kPostingsPerBatch / per_entry; ++i) {
      entries.push_back(settlement(fixture, static_cast<size_t>(i) % 2'000, per_entry));
    }
    const Stopwatch stopwatch;
    const size_t per_batch = kPostingsPerBatch / per_entry;
    for (size_t begin = 0; begin < entries.size(); begin += per_batch) {
      must(fixture.file->write([&](Tx& tx) -> Status {
        for (size_t i = begin; i < begin + per_batch; ++i) TRY(tx.ledger().append(entries[i]));
        return {};
      }));
    }
    best = std::max(best, kBatches * kPostingsPerBatch / stopwatch.seconds());
  }
  state.counters["best_per_s"] = best;
}
BENCHMARK(postings)
    ->ArgName("per_entry")
    ->Arg(51)
    ->Arg(2)
    ->Unit(benchmark::kMillisecond)
    ->Iterations(8)
    ->UseRealTime();

// One entry a transaction, each on the disk before the next begins: for comparison with others.
void topups(benchmark::State& state) {
  PopulationOptions options;
  options.accounts = 2'000;
  Fixture fixture(options);
  constexpr int kTopups = 500;
  double best = 0;
  for (auto _ : state) {
    const Stopwatch stopwatch;
    for (int i = 0; i < kTopups; ++i) {
      const LedgerEntry entry =
          topup_entry(head_of(fixture, static_cast<size_t>(i)), Money{1'000'000});
      must(fixture.file->write([&](Tx& tx) { return tx.ledger().append(entry); }));
    }
    best = std::max(best, kTopups / stopwatch.seconds());
  }
  state.counters["best_per_s"] = best;
}
BENCHMARK(topups)->Unit(benchmark::kMillisecond)->Iterations(4)->UseRealTime();

void bare_sqlite(benchmark::State& state) {
  const Scratch scratch;
  sqlite3* database = nullptr;
  CHECK(sqlite3_open(scratch.file("bare.db").c_str(), &database) == SQLITE_OK, "open");
  const auto run = [&](const char* sql) {
    CHECK(sqlite3_exec(database, sql, nullptr, nullptr, nullptr) == SQLITE_OK, sql);
  };
  run("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
      "CREATE TABLE postings (transaction_id TEXT NOT NULL, position INTEGER NOT NULL,"
      " ledger_account TEXT NOT NULL, amount INTEGER NOT NULL, segment_id TEXT,"
      " PRIMARY KEY (transaction_id, position)) STRICT;");
  sqlite3_stmt* insert = nullptr;
  CHECK(sqlite3_prepare_v2(database, "insert into postings values (?, ?, ?, ?, ?)", -1, &insert,
                           nullptr) == SQLITE_OK,
        "prepare");
  SimEntropy entropy(2);
  double best = 0;
  for (auto _ : state) {
    const Stopwatch stopwatch;
    for (int i = 0; i < kBatches * kPostingsPerBatch; ++i) {
      if (i % kPostingsPerBatch == 0) run("BEGIN IMMEDIATE");
      static const std::string kAccount = "revenue:on_demand";
      static std::string transaction;
      if (i % 51 == 0) transaction = entropy.id<TransactionId>().text;
      const std::string segment = entropy.id<SegmentId>().text;
      const auto bind = [&](int at, const std::string& text) {
        sqlite3_bind_text(insert, at, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
      };
      bind(1, transaction);
      sqlite3_bind_int(insert, 2, i % 51);
      bind(3, kAccount);
      sqlite3_bind_int64(insert, 4, 1'000);
      bind(5, segment);
      CHECK(sqlite3_step(insert) == SQLITE_DONE, sqlite3_errmsg(database));
      sqlite3_reset(insert);
      if ((i + 1) % kPostingsPerBatch == 0) run("COMMIT");
    }
    best = std::max(best, kBatches * kPostingsPerBatch / stopwatch.seconds());
  }
  sqlite3_finalize(insert);
  sqlite3_close(database);
  state.counters["best_per_s"] = best;
}
BENCHMARK(bare_sqlite)->Unit(benchmark::kMillisecond)->Iterations(8)->UseRealTime();

}  // namespace
}  // namespace cardhour::bench
