#include "domain/ledger.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

namespace cardhour {
namespace {

const AccountId kAnn{"aann"};

LedgerTransaction head() { return {.id = {"t1"}, .account_id = kAnn, .actor = "ann"}; }

std::map<std::string, int64_t> by_account(const LedgerEntry& entry) {
  std::map<std::string, int64_t> sums;
  for (const Posting& posting : entry.postings)
    sums[posting.ledger_account] += posting.amount.micro;
  return sums;
}
using Sums = std::map<std::string, int64_t>;

TEST(Ledger, NamesItsAccounts) {
  EXPECT_EQ(wallet_of(kAnn), "wallet:aann");
  EXPECT_EQ(hold_of(kAnn), "hold:aann");
  EXPECT_EQ(revenue_of(Meter::no_gpu), "revenue:no_gpu");
}

TEST(Ledger, MovesMoneyBetweenTwoAccounts) {
  const Money ten{10'000'000};
  EXPECT_EQ(by_account(topup_entry(head(), ten)),
            (Sums{{"clearing", -10'000'000}, {"wallet:aann", 10'000'000}}));
  EXPECT_EQ(by_account(hold_entry(head(), ten)),
            (Sums{{"wallet:aann", -10'000'000}, {"hold:aann", 10'000'000}}));
  EXPECT_EQ(by_account(hold_release_entry(head(), ten)),
            (Sums{{"hold:aann", -10'000'000}, {"wallet:aann", 10'000'000}}));
  EXPECT_EQ(by_account(adjustment_entry(head(), -ten)),
            (Sums{{"adjustment", 10'000'000}, {"wallet:aann", -10'000'000}}));
}

TEST(Ledger, NumbersAndNamesItsPostings) {
  const LedgerEntry entry = topup_entry(head(), Money{1});
  EXPECT_EQ(entry.transaction.kind, TransactionKind::topup);
  ASSERT_EQ(entry.postings.size(), 2u);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(entry.postings[i].position, i);
    EXPECT_EQ(entry.postings[i].transaction_id, TransactionId{"t1"});
  }
  EXPECT_EQ(hold_entry(head(), Money{1}).transaction.kind, TransactionKind::hold);
  EXPECT_EQ(usage_entry(head(), {}, Money{}).transaction.kind, TransactionKind::usage);
}

TEST(LedgerDeathTest, ATransferMovesAPositiveAmount) {
  EXPECT_DEATH(topup_entry(head(), Money{}), "positive");
  EXPECT_DEATH(hold_entry(head(), Money{-1}), "positive");
  EXPECT_DEATH(usage_entry(head(), {}, Money{-1}), "below zero");
}

TEST(Usage, ChargesSeveralSegmentsAtOnce) {
  const LedgerEntry entry = usage_entry(head(),
                                        {{{"s1"}, Meter::on_demand, Money{1'980'000}},
                                         {{"s2"}, Meter::no_gpu, Money{833}},
                                         {{"s3"}, Meter::no_gpu, Money{}},
                                         {{"s4"}, Meter::minimum, Money{9'167}}},
                                        Money{5'000'000});
  EXPECT_EQ(by_account(entry), (Sums{{"revenue:on_demand", 1'980'000},
                                     {"revenue:no_gpu", 833},
                                     {"revenue:minimum", 9'167},
                                     {"wallet:aann", -1'990'000}}));
  EXPECT_EQ(entry.postings[0].segment_id, SegmentId{"s1"});
  EXPECT_EQ(entry.postings.back().segment_id, std::nullopt);
}

TEST(Usage, WritesOffWhatPassesZero) {
  EXPECT_EQ(by_account(usage_entry(head(), {{{"s1"}, Meter::on_demand, Money{500}}}, Money{300})),
            (Sums{{"revenue:on_demand", 500}, {"wallet:aann", -300}, {"write_off", -200}}));
  EXPECT_EQ(by_account(usage_entry(head(), {{{"s1"}, Meter::on_demand, Money{500}}}, Money{})),
            (Sums{{"revenue:on_demand", 500}, {"write_off", -500}}));
}

TEST(Usage, GivesBackTheTailOfAUnit) {
  EXPECT_EQ(by_account(usage_entry(head(), {{{"s1"}, Meter::on_demand, Money{-700}}}, Money{})),
            (Sums{{"revenue:on_demand", -700}, {"wallet:aann", 700}}));
}

RC_GTEST_PROP(Usage, SumsToZeroAndNeverTakesTheWalletBelowIt, ()) {
  const auto amounts =
      *rc::gen::container<std::vector<int64_t>>(rc::gen::inRange<int64_t>(-1'000, 5'000));
  const Money wallet{*rc::gen::inRange<int64_t>(0, 20'000)};
  std::vector<Charge> charges;
  Money total;
  for (int64_t amount : amounts) {
    charges.push_back({{"s"}, Meter::on_demand, Money{amount}});
    total += Money{amount};
  }
  const LedgerEntry entry = usage_entry(head(), charges, wallet);
  RC_ASSERT(sum(entry.postings) == Money{});
  Sums sums = by_account(entry);
  RC_ASSERT(sums["revenue:on_demand"] == total.micro);
  RC_ASSERT(wallet.micro + sums["wallet:aann"] >= 0);
  RC_ASSERT(-sums["write_off"] == std::max(int64_t{0}, total.micro - wallet.micro));
}

}  // namespace
}  // namespace cardhour
