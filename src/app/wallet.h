// Wallet: balances, top-ups, and the bill, which anyone can recompute from its segments.
// Thread-safe.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/deps.h"
#include "domain/ledger.h"

namespace cardhour {

struct WalletView {
  Money balance;  // wallet and holds, as booked
  Money held;
  Money accrued;    // owed by open segments beyond what is booked
  Money available;  // balance - held - accrued
  Money burn_per_hour;
  std::optional<Duration> runway;  // nullopt: nothing burns
  Timestamp at;
};

// One line of a bill: a segment with what it cost within the asked time.
struct BillLine {
  Segment segment;
  std::string instance_name;
  Money amount;  // due within the asked time, as booked or accrued
  bool open = false;
  // Filled by explain:
  Money recomputed;    // from start, end, rate, quantity alone
  Money booked;        // sum of its postings in the ledger
  Duration charged;    // the time that was charged, after rounding
  bool agrees = true;  // recomputed equals amount, and the ledger has what is due
};

struct Bill {
  std::vector<BillLine> lines;  // by start
  Money total;
  bool explained = false;
  bool agrees = true;
  int64_t card_milliseconds = 0;  // time x cards, of the card meters
};

struct BillQuery {
  std::optional<Timestamp> from;  // segments that overlap [from, to)
  std::optional<Timestamp> to;
  std::optional<InstanceId> instance;
  bool explain = false;
};

class Wallet {
 public:
  explicit Wallet(const Deps& deps) : deps_(deps) {}

  Result<WalletView> view(const AccountId& account);
  // By an operator. Positive amounts only, at most a million.
  Result<LedgerTransaction> top_up(const Actor& by, const AccountId& account, Money amount,
                                   const std::string& note, const Idempotency& idempotency);
  struct TransactionView {
    LedgerTransaction transaction;
    Money wallet_change;
  };
  Result<std::vector<TransactionView>> transaction_views(const AccountId& account,
                                                         const Page& page);
  Result<Bill> bill(const AccountId& account, const BillQuery& query);

 private:
  Deps deps_;
};

}  // namespace cardhour
