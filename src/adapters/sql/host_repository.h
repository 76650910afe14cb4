// Hosts, cards, what is granted of them, and prices in SQL; see ports/store.h.
#pragma once

#include "adapters/sql/connection.h"
#include "ports/store.h"

namespace cardhour::sql {

// The rows of the host in host_models, anew from its cards, what is granted of them and what is
// out of the market: called by whatever changes one of these.
Status count_free_cards(Connection& connection, const HostId& host);
// The same for the host of a card; a card that is not there counts nowhere.
Status count_free_cards_beside(Connection& connection, const CardId& card);

class SqlHostRepository : public HostRepository {
 public:
  explicit SqlHostRepository(Connection& connection) : connection_(connection) {}

  Status upsert(const Host& host) override;
  Result<std::vector<Host>> all() override;
  Result<std::optional<Host>> find(const HostId& id) override;
  Status upsert_card(const Card& card) override;
  Result<std::vector<Card>> cards() override;
  Result<std::vector<Card>> cards_of(const HostId& id) override;
  Result<std::vector<Card>> granted_to(const InstanceId& id) override;

  Result<std::optional<HostSpace>> best_space(const SpaceWanted& wanted) override;
  Result<bool> has_model(const std::string& model) override;
  Result<std::vector<ModelSpace>> models() override;

  Status insert_allocation(const Allocation& allocation) override;
  Result<std::vector<Allocation>> active_allocations() override;
  Result<std::vector<Allocation>> active_allocations_of(const InstanceId& id) override;
  Status release_allocations(const InstanceId& id, Timestamp at) override;

  Status insert_claim(const Claim& claim) override;
  Result<std::optional<int64_t>> free_number(const HostId& host, ClaimKind kind, int64_t first,
                                             int64_t last) override;
  Result<std::vector<int64_t>> claimed_numbers(ClaimKind kind) override;
  Status delete_claims(const InstanceId& id) override;
  Result<std::vector<Claim>> claims() override;

  Result<std::vector<Price>> prices() override;
  Status set_price(const Price& price) override;

 private:
  Result<std::optional<HostSpace>> best_for_cards(const SpaceWanted& wanted);
  Result<std::optional<HostSpace>> best_without_cards(const SpaceWanted& wanted);

  Connection& connection_;
};

}  // namespace cardhour::sql
