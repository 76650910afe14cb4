#include "adapters/sql/host_repository.h"

namespace cardhour::sql {
namespace {

struct SpaceRow {
  HostId host_id;
  int cards_total = 0;
  int cards_busy = 0;
  int64_t disk_free = 0;
  int no_gpu_used = 0;
};
BOOST_DESCRIBE_STRUCT(SpaceRow, (), (host_id, cards_total, cards_busy, disk_free, no_gpu_used))

struct FreeCardRow {
  CardId uuid;
  std::string pci_address;
  std::optional<int> numa_node;
};
BOOST_DESCRIBE_STRUCT(FreeCardRow, (), (uuid, pci_address, numa_node))

struct ModelRow {
  std::string model;
  int cards_free = 0;
  bool simulated = false;
};
BOOST_DESCRIBE_STRUCT(ModelRow, (), (model, cards_free, simulated))

// Of the host h: its pool less what its instances may fill.
constexpr std::string_view kDiskFree =
    "h.pool_total_bytes - (select coalesce(sum(i.system_disk_bytes + i.data_disk_bytes), 0)"
    " from instances i where i.host_id = h.id and i.observed <> 'purged')";

// The card c can be granted now.
constexpr std::string_view kIsFree =
    "c.present = 1 and c.fault = ''"
    " and not exists (select 1 from allocations a"
    " where a.card_uuid = c.uuid and a.released_at is null)"
    " and not exists (select 1 from card_conditions k where k.card_uuid = c.uuid)";

HostSpace space_of(const SpaceRow& row, int no_gpu_slots) {
  return HostSpace{.host = row.host_id,
                   .cards_total = row.cards_total,
                   .cards_busy = row.cards_busy,
                   .disk_free_bytes = row.disk_free,
                   .no_gpu_slots_free = no_gpu_slots - row.no_gpu_used};
}

}  // namespace

Status count_free_cards(Connection& connection, const HostId& host) {
  static const std::string forget = "delete from host_models where host_id = :host";
  static const std::string count = fmt::format(
      "insert into host_models"
      " select c.host_id, c.model, sum(c.present), sum(case when {} then 1 else 0 end),"
      " (select count(*) from cards d where d.host_id = c.host_id),"
      " (select count(*) from cards d join allocations b on b.card_uuid = d.uuid"
      " where d.host_id = c.host_id and b.released_at is null)"
      " from cards c where c.host_id = :host group by c.host_id, c.model",
      kIsFree);
  TRY(connection.run(forget, host));
  return connection.run(count, host);
}

Status count_free_cards_beside(Connection& connection, const CardId& card) {
  static const std::string host_of = "select host_id from cards where uuid = :uuid";
  TRY_ASSIGN(const auto host, connection.find<HostId>(host_of, card));
  return host ? count_free_cards(connection, *host) : Status();
}

Status SqlHostRepository::upsert(const Host& host) {
  static const std::string sql = upsert_sql<Host>("hosts", "id");
  return connection_.run(sql, host);
}

Result<std::vector<Host>> SqlHostRepository::all() {
  static const std::string sql = select_sql<Host>("hosts", "order by id");
  return connection_.select<Host>(sql);
}

Result<std::optional<Host>> SqlHostRepository::find(const HostId& id) {
  static const std::string sql = select_sql<Host>("hosts", "where id = :id");
  return connection_.find<Host>(sql, id);
}

// A card that moved to another host leaves that one's numbers too.
Status SqlHostRepository::upsert_card(const Card& card) {
  static const std::string host_of = "select host_id from cards where uuid = :uuid";
  static const std::string sql = upsert_sql<Card>("cards", "uuid");
  TRY_ASSIGN(const auto before, connection_.find<HostId>(host_of, card.uuid));
  TRY(connection_.run(sql, card));
  if (before && *before != card.host_id) TRY(count_free_cards(connection_, *before));
  return count_free_cards(connection_, card.host_id);
}

Result<std::vector<Card>> SqlHostRepository::cards() {
  static const std::string sql = select_sql<Card>("cards", "order by host_id, pci_address, uuid");
  return connection_.select<Card>(sql);
}

Result<std::vector<Card>> SqlHostRepository::cards_of(const HostId& id) {
  static const std::string sql =
      select_sql<Card>("cards", "where host_id = :host order by pci_address, uuid");
  return connection_.select<Card>(sql, id);
}

Result<std::vector<Card>> SqlHostRepository::granted_to(const InstanceId& id) {
  static const std::string sql =
      select_sql<Card>("cards",
                       "where uuid in (select card_uuid from allocations"
                       " where instance_id = :instance and released_at is null) order by uuid");
  return connection_.select<Card>(sql, id);
}

Result<std::optional<HostSpace>> SqlHostRepository::best_space(const SpaceWanted& wanted) {
  return wanted.request.cards > 0 ? best_for_cards(wanted) : best_without_cards(wanted);
}

// The index host_models_best is in the order of preference: the first row that carries the
// request is the answer. The order is the one of domain/placement.cc, see store_conformance_test.
Result<std::optional<HostSpace>> SqlHostRepository::best_for_cards(const SpaceWanted& wanted) {
  static const auto sql = [](std::string_view host) {
    return fmt::format(
        "select m.host_id, m.host_cards, m.host_busy, {0}, 0"
        " from host_models m join hosts h on h.id = m.host_id"
        " where m.model = :model and m.cards_free >= :cards and h.reachable = 1{1}"
        " and {0} >= :disk order by m.cards_free, (m.host_busy = 0), m.host_id limit 1",
        kDiskFree, host);
  };
  static const std::string anywhere = sql("");
  static const std::string on_host = sql(" and m.host_id = :host");
  static const std::string free_cards = fmt::format(
      "select c.uuid, c.pci_address, c.numa_node from cards c"
      " where c.host_id = :host and c.model = :model and {} order by c.pci_address, c.uuid",
      kIsFree);
  const PlacementRequest& request = wanted.request;
  TRY_ASSIGN(const auto row,
             request.only_host ? connection_.find<SpaceRow>(on_host, wanted.model, request.cards,
                                                            *request.only_host, request.disk_bytes)
                               : connection_.find<SpaceRow>(anywhere, wanted.model, request.cards,
                                                            request.disk_bytes));
  if (!row) return std::nullopt;
  HostSpace space = space_of(*row, 0);
  TRY_ASSIGN(auto cards, connection_.select<FreeCardRow>(free_cards, row->host_id, wanted.model));
  for (FreeCardRow& card : cards) {
    space.free_cards.push_back(
        FreeCard{std::move(card.uuid), std::move(card.pci_address), card.numa_node});
  }
  return space;
}

// Hosts are looked at one by one: such runs are few, and spread over all.
Result<std::optional<HostSpace>> SqlHostRepository::best_without_cards(const SpaceWanted& wanted) {
  static const auto sql = [](std::string_view host) {
    return fmt::format(
        "select h.id, (select count(*) from cards c where c.host_id = h.id), 0, {0},"
        " coalesce(u.used, 0)"
        " from hosts h left join (select host_id, count(*) as used from instances"
        " where mode = 'no_gpu' and run_id is not null and observed <> 'purged'"
        " group by host_id) u on u.host_id = h.id"
        " where h.reachable = 1 and coalesce(u.used, 0) < :slots{1} and {0} >= :disk"
        " order by coalesce(u.used, 0), h.id limit 1",
        kDiskFree, host);
  };
  static const std::string anywhere = sql("");
  static const std::string on_host = sql(" and h.id = :host");
  const PlacementRequest& request = wanted.request;
  TRY_ASSIGN(const auto row,
             request.only_host
                 ? connection_.find<SpaceRow>(on_host, wanted.no_gpu_slots, *request.only_host,
                                              request.disk_bytes)
                 : connection_.find<SpaceRow>(anywhere, wanted.no_gpu_slots, request.disk_bytes));
  if (!row) return std::nullopt;
  return space_of(*row, wanted.no_gpu_slots);
}

Result<bool> SqlHostRepository::has_model(const std::string& model) {
  static const std::string sql =
      "select 1 from host_models where model = :model and cards_present > 0 limit 1";
  TRY_ASSIGN(const auto found, connection_.find<int64_t>(sql, model));
  return found.has_value();
}

Result<std::vector<ModelSpace>> SqlHostRepository::models() {
  static const std::string sql =
      "select g.model, g.cards_free, exists (select 1 from cards c"
      " where c.host_id = g.host_id and c.model = g.model and c.simulated = 1)"
      " from (select m.model, min(m.host_id) as host_id,"
      " max(case when h.reachable = 1 then m.cards_free else 0 end) as cards_free"
      " from host_models m join hosts h on h.id = m.host_id where m.cards_present > 0"
      " group by m.model) g order by g.model";
  TRY_ASSIGN(auto rows, connection_.select<ModelRow>(sql));
  std::vector<ModelSpace> spaces;
  for (ModelRow& row : rows) {
    spaces.push_back(ModelSpace{std::move(row.model), row.cards_free, row.simulated});
  }
  return spaces;
}

Status SqlHostRepository::insert_allocation(const Allocation& allocation) {
  static const std::string sql = insert_sql<Allocation>("allocations");
  TRY(connection_.run(sql, allocation));
  return count_free_cards_beside(connection_, allocation.card_uuid);
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
  static const std::string hosts_of =
      "select distinct c.host_id from allocations a join cards c on c.uuid = a.card_uuid"
      " where a.instance_id = :instance and a.released_at is null";
  TRY_ASSIGN(const auto hosts, connection_.select<HostId>(hosts_of, id));
  TRY(connection_.run(sql, at, id));
  for (const HostId& host : hosts) TRY(count_free_cards(connection_, host));
  return {};
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

Result<std::vector<int64_t>> SqlHostRepository::claimed_numbers(ClaimKind kind) {
  static const std::string sql = "select number from claims where kind = :kind";
  return connection_.select<int64_t>(sql, kind);
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
