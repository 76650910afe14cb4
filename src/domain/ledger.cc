#include "domain/ledger.h"

#include <algorithm>

#include "base/check.h"
#include "base/enum_text.h"

namespace cardhour {
namespace {

LedgerEntry entry_of(LedgerTransaction head, std::vector<Posting> postings) {
  for (size_t i = 0; i < postings.size(); ++i) {
    postings[i].transaction_id = head.id;
    postings[i].position = static_cast<int>(i);
  }
  CHECK(sum(postings) == Money{}, "postings sum to zero");
  return LedgerEntry{std::move(head), std::move(postings)};
}

Posting posting(std::string account, Money amount) {
  return Posting{.ledger_account = std::move(account), .amount = amount};
}

LedgerEntry transfer(LedgerTransaction head, TransactionKind kind, std::string from, std::string to,
                     Money amount) {
  CHECK(amount.micro > 0, "a transfer moves a positive amount");
  head.kind = kind;
  return entry_of(std::move(head),
                  {posting(std::move(from), -amount), posting(std::move(to), amount)});
}

}  // namespace

std::string wallet_of(const AccountId& account) { return "wallet:" + account.text; }
std::string hold_of(const AccountId& account) { return "hold:" + account.text; }
std::string revenue_of(Meter meter) { return "revenue:" + std::string(enum_text(meter)); }

Money sum(const std::vector<Posting>& postings) {
  Money total;
  for (const Posting& posting : postings) total += posting.amount;
  return total;
}

LedgerEntry topup_entry(LedgerTransaction head, Money amount) {
  const std::string wallet = wallet_of(head.account_id);
  return transfer(std::move(head), TransactionKind::topup, std::string(kClearing), wallet, amount);
}

LedgerEntry adjustment_entry(LedgerTransaction head, Money amount) {
  head.kind = TransactionKind::adjustment;
  const std::string wallet = wallet_of(head.account_id);
  return entry_of(std::move(head),
                  {posting(std::string(kAdjustment), -amount), posting(wallet, amount)});
}

LedgerEntry hold_entry(LedgerTransaction head, Money amount) {
  const AccountId account = head.account_id;
  return transfer(std::move(head), TransactionKind::hold, wallet_of(account), hold_of(account),
                  amount);
}

LedgerEntry hold_release_entry(LedgerTransaction head, Money amount) {
  const AccountId account = head.account_id;
  return transfer(std::move(head), TransactionKind::hold_release, hold_of(account),
                  wallet_of(account), amount);
}

LedgerEntry usage_entry(LedgerTransaction head, const std::vector<Charge>& charges, Money wallet) {
  CHECK(wallet.micro >= 0, "compute never takes a wallet below zero");
  head.kind = TransactionKind::usage;
  std::vector<Posting> postings;
  Money total;
  for (const Charge& charge : charges) {
    if (charge.amount == Money{}) continue;
    total += charge.amount;
    Posting row = posting(revenue_of(charge.meter), charge.amount);
    row.segment_id = charge.segment_id;
    postings.push_back(std::move(row));
  }
  const Money paid = std::min(total, wallet);
  if (paid != Money{}) postings.push_back(posting(wallet_of(head.account_id), -paid));
  if (paid != total) postings.push_back(posting(std::string(kWriteOff), paid - total));
  return entry_of(std::move(head), std::move(postings));
}

}  // namespace cardhour
