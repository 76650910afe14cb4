#include "adapters/sql/host_repository.h"

namespace cardhour::sql {

Status SqlHostRepository::upsert(const Host& host) {
  static const std::string sql = upsert_sql<Host>("hosts", "id");
  return connection_.run(sql, host);
}

Result<std::vector<Host>> SqlHostRepository::all() {
  static const std::string sql = select_sql<Host>("hosts", "order by id");
  return connection_.select<Host>(sql);
}

Status SqlHostRepository::upsert_card(const Card& card) {
  static const std::string sql = upsert_sql<Card>("cards", "uuid");
  return connection_.run(sql, card);
}

Result<std::vector<Card>> SqlHostRepository::cards() {
  static const std::string sql = select_sql<Card>("cards", "order by host_id, pci_address, uuid");
  return connection_.select<Card>(sql);
}

Status SqlHostRepository::insert_allocation(const Allocation& allocation) {
  static const std::string sql = insert_sql<Allocation>("allocations");
  return connection_.run(sql, allocation);
}

Result<std::vector<Allocation>> SqlHostRepository::active_allocations() {
  static const std::string sql =
      select_sql<Allocation>("allocations", "where released_at is null order by card_uuid");
  return connection_.select<Allocation>(sql);
}

Result<std::vector<Allocation>> SqlHostRepository::active_allocations_of(const InstanceId& id) {
  static const std::string sql = select_sql<Allocation>(
      "allocations", "where instance_id = :instance and released_at is null order by card_uuid");
  return connection_.select<Allocation>(sql, id);
}

Status SqlHostRepository::release_allocations(const InstanceId& id, Timestamp at) {
  static const std::string sql =
      "update allocations set released_at = :at"
      " where instance_id = :instance and released_at is null";
  return connection_.run(sql, at, id);
}

Status SqlHostRepository::insert_claim(const Claim& claim) {
  static const std::string sql = insert_sql<Claim>("claims");
  return connection_.run(sql, claim);
}

// The first number itself, or the one after a claimed one: the smallest of these that is
// not claimed. Walks the claims of the kind in order and stops at the first gap.
Result<std::optional<int64_t>> SqlHostRepository::free_number(const HostId& host, ClaimKind kind,
                                                              int64_t first, int64_t last) {
  static const std::string claimed =
      "select number from claims where host_id = :host and kind = :kind and number = :number";
  static const std::string next =
      "select c.number + 1 from claims c"
      " where c.host_id = :host and c.kind = :kind and c.number >= :first and c.number < :last"
      " and not exists (select 1 from claims d where d.host_id = c.host_id and d.kind = c.kind"
      " and d.number = c.number + 1)"
      " order by c.number limit 1";
  if (first > last) return std::nullopt;
  TRY_ASSIGN(const auto taken, connection_.find<int64_t>(claimed, host, kind, first));
  if (!taken) return first;
  return connection_.find<int64_t>(next, host, kind, first, last);
}

Status SqlHostRepository::delete_claims(const InstanceId& id) {
  static const std::string sql = "delete from claims where instance_id = :instance";
  return connection_.run(sql, id);
}

Result<std::vector<Claim>> SqlHostRepository::claims() {
  static const std::string sql = select_sql<Claim>("claims", "order by host_id, kind, number");
  return connection_.select<Claim>(sql);
}

Result<std::vector<Price>> SqlHostRepository::prices() {
  static const std::string sql = select_sql<Price>("prices", "order by model, mode");
  return connection_.select<Price>(sql);
}

Status SqlHostRepository::set_price(const Price& price) {
  static const std::string sql = upsert_sql<Price>("prices", "model, mode");
  return connection_.run(sql, price);
}

}  // namespace cardhour::sql
