// Double entry. A transaction's postings sum to zero; rows are never updated or deleted; a
// correction is a new transaction naming the old one. Positive in a wallet is the renter's
// money; revenue is positive when earned. Pure.
#pragma once

#include <boost/describe/class.hpp>
#include <boost/describe/enum.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/id.h"
#include "base/money.h"
#include "base/time.h"
#include "domain/metering.h"

namespace cardhour {

// Ledger accounts are named by text: "wallet:<account>", "hold:<account>", "clearing",
// "adjustment", "write_off", "revenue:<meter>".
std::string wallet_of(const AccountId& account);
std::string hold_of(const AccountId& account);
std::string revenue_of(Meter meter);
inline constexpr std::string_view kClearing = "clearing";
inline constexpr std::string_view kAdjustment = "adjustment";
inline constexpr std::string_view kWriteOff = "write_off";

enum class TransactionKind { topup, usage, hold, hold_release, adjustment };
BOOST_DESCRIBE_ENUM(TransactionKind, topup, usage, hold, hold_release, adjustment)

struct Posting {
  TransactionId transaction_id;
  int position = 0;  // 0, 1, ... within the transaction
  std::string ledger_account;
  Money amount;
  std::optional<SegmentId> segment_id;  // of usage
};
BOOST_DESCRIBE_STRUCT(Posting, (), (transaction_id, position, ledger_account, amount, segment_id))

struct LedgerTransaction {
  TransactionId id;
  TransactionKind kind = TransactionKind::topup;
  AccountId account_id;
  Timestamp at;
  std::string actor;
  std::string note;
  std::optional<InstanceId> instance_id;
  std::optional<TransactionId> corrects;
};
BOOST_DESCRIBE_STRUCT(LedgerTransaction, (),
                      (id, kind, account_id, at, actor, note, instance_id, corrects))

struct LedgerEntry {
  LedgerTransaction transaction;
  std::vector<Posting> postings;
};

// Each returns an entry whose postings sum to zero (CHECKed).
LedgerEntry topup_entry(LedgerTransaction head, Money amount);
LedgerEntry adjustment_entry(LedgerTransaction head, Money amount);
LedgerEntry hold_entry(LedgerTransaction head, Money amount);
LedgerEntry hold_release_entry(LedgerTransaction head, Money amount);

struct Charge {
  SegmentId segment_id;
  Meter meter = Meter::on_demand;
  Money amount;  // negative gives back the tail of a unit after an involuntary stop
};
// Charges the wallet for several segments at once. What would take the wallet below zero is
// written off. `wallet` is its balance before, >= 0.
LedgerEntry usage_entry(LedgerTransaction head, const std::vector<Charge>& charges, Money wallet);

Money sum(const std::vector<Posting>& postings);

}  // namespace cardhour
