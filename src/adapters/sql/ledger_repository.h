// Ledger and metering segments in SQL; see ports/store.h.
#pragma once

#include "adapters/sql/connection.h"
#include "ports/store.h"

namespace cardhour::sql {

class SqlLedgerRepository : public LedgerRepository {
 public:
  explicit SqlLedgerRepository(Connection& connection) : connection_(connection) {}

  Status append(const LedgerEntry& entry) override;
  Result<Money> balance(const std::string& ledger_account) override;
  Result<std::vector<std::string>> unproven_balances() override;
  Result<std::vector<LedgerTransaction>> transactions(const AccountId& account,
                                                      const Page& page) override;
  Result<std::vector<Posting>> postings(const TransactionId& id) override;
  Result<Money> posted_for(const SegmentId& id) override;

  Status insert_segment(const Segment& segment) override;
  Status update_segment(const Segment& segment) override;
  Status book_segment(const Segment& segment) override;
  Result<std::vector<Segment>> open_segments(const AccountId& account) override;
  Result<std::vector<Segment>> open_segments_of(const InstanceId& id) override;
  Result<std::vector<Segment>> segments_of_run(const RunId& id) override;
  Result<std::vector<Segment>> segments(const SegmentFilter& filter) override;

 private:
  Connection& connection_;
};

}  // namespace cardhour::sql
