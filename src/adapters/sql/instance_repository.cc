#include "adapters/sql/instance_repository.h"

#include <unordered_map>

namespace cardhour::sql {
namespace {

struct BesideRow {
  InstanceId id;
  std::string owner;
  std::optional<Step> step;
  std::optional<std::string> last_error;
  std::optional<std::string> last_error_zh;
  Money closed_cost;
};
BOOST_DESCRIBE_STRUCT(BesideRow, (), (id, owner, step, last_error, last_error_zh, closed_cost))

struct GrantedRow {
  InstanceId instance_id;
  CardId card_uuid;
  bool simulated = false;
};
BOOST_DESCRIBE_STRUCT(GrantedRow, (), (instance_id, card_uuid, simulated))

// A page of instances: the condition and the order, and the parameters that go with it.
struct PageQuery {
  const InstanceFilter& filter;
  const Page& page;

  // "where ... limit :limit"
  std::string rest() const {
    if (filter.id) return "where id = :id";
    std::string where = "where true";
    if (filter.account) where += " and account_id = :account";
    if (!filter.with_purged) where += " and observed <> 'purged'";
    if (!page.after.empty()) {
      where += " and (created_at, id) < (select created_at, id from instances where id = :after)";
    }
    return where + " order by created_at desc, id desc limit :limit";
  }
  std::string ids() const { return "(select id, account_id from instances " + rest() + ") p"; }

  template <class T>
  Result<std::vector<T>> run(Connection& connection, const std::string& sql) const {
    if (filter.id) return connection.select<T>(sql, *filter.id);
    const std::string& after = page.after;
    if (filter.account) {
      return after.empty() ? connection.select<T>(sql, *filter.account, page.limit)
                           : connection.select<T>(sql, *filter.account, after, page.limit);
    }
    return after.empty() ? connection.select<T>(sql, page.limit)
                         : connection.select<T>(sql, after, page.limit);
  }
};

std::string beside_sql(const PageQuery& query) {
  return "select p.id, a.login, o.step, o.last_error, o.last_error_zh,"
         " (select coalesce(sum(s.posted), 0) from segments s"
         " where s.instance_id = p.id and s.closed_at is not null)"
         " from " +
         query.ids() +
         " join accounts a on a.id = p.account_id"
         " left join operations o on o.instance_id = p.id and o.state = 'pending'";
}

std::string open_sql(const PageQuery& query) {
  static const std::string columns = each_column<Segment>("s.{0}");
  return "select " + columns + " from " + query.ids() +
         " join segments s on s.instance_id = p.id and s.closed_at is null"
         " order by s.opened_at, s.id";
}

std::string granted_sql(const PageQuery& query) {
  return "select p.id, c.uuid, c.simulated from " + query.ids() +
         " join allocations l on l.instance_id = p.id and l.released_at is null"
         " join cards c on c.uuid = l.card_uuid order by c.uuid";
}

}  // namespace

Status SqlInstanceRepository::insert(const Instance& instance) {
  static const std::string sql = insert_sql<Instance>("instances");
  return connection_.run(sql, instance);
}

Status SqlInstanceRepository::update(Instance& instance) {
  static const std::string sql =
      update_sql<Instance>("instances", "id = :key and version = :stored_version");
  const int64_t stored_version = instance.version++;
  auto touched = connection_.change(sql, WithoutKey{instance}, instance.id, stored_version);
  if (touched && *touched == 1) return {};
  instance.version = stored_version;
  if (!touched) return fail(std::move(touched).error());
  TRY_ASSIGN(const auto stored, find(instance.id));
  if (!stored) return no_such_row();
  return fail(ErrorCode::conflict,
              text("instance {} was changed meanwhile", "实例 {} 已被同时修改", instance.id.text),
              text("Look at it again and repeat what is still wanted.",
                   "请重新查看，再决定是否重复操作。"));
}

Result<std::optional<Instance>> SqlInstanceRepository::find(const InstanceId& id) {
  static const std::string sql = select_sql<Instance>("instances", "where id = :id");
  return connection_.find<Instance>(sql, id);
}

// An id finds a purged instance too, so that its history can be told; a name does not.
Result<std::vector<Instance>> SqlInstanceRepository::find_named(const AccountId& account,
                                                                const std::string& name) {
  static const std::string by_id =
      select_sql<Instance>("instances", "where id = :id and account_id = :account");
  static const std::string by_name = select_sql<Instance>(
      "instances",
      "where account_id = :account and name = :name and observed <> 'purged' order by id");
  TRY_ASSIGN(auto found, connection_.select<Instance>(by_id, name, account));
  if (!found.empty()) return found;
  return connection_.select<Instance>(by_name, account, name);
}

Result<std::vector<Instance>> SqlInstanceRepository::page(const InstanceFilter& filter,
                                                          const Page& page) {
  const PageQuery query{filter, page};
  static const std::string select = select_sql<Instance>("instances", "");
  return query.run<Instance>(connection_, select + query.rest());
}

// Four queries whatever the page: the instances, and three that join what belongs to the same
// page of ids.
Result<std::vector<InstanceOverview>> SqlInstanceRepository::overviews(const InstanceFilter& filter,
                                                                       const Page& page) {
  const PageQuery query{filter, page};
  TRY_ASSIGN(auto rows, this->page(filter, page));
  std::vector<InstanceOverview> overviews(rows.size());
  std::unordered_map<std::string, InstanceOverview*> by_id;
  for (size_t i = 0; i < rows.size(); ++i) {
    overviews[i].instance = std::move(rows[i]);
    by_id[overviews[i].instance.id.text] = &overviews[i];
  }
  if (rows.empty()) return overviews;
  TRY_ASSIGN(auto beside, query.run<BesideRow>(connection_, beside_sql(query)));
  for (BesideRow& row : beside) {
    InstanceOverview& overview = *by_id.at(row.id.text);
    overview.owner = std::move(row.owner);
    if (row.step) overview.step = enum_text(*row.step);
    overview.last_error = std::move(row.last_error).value_or("");
    overview.last_error_zh = std::move(row.last_error_zh).value_or("");
    overview.closed_cost = row.closed_cost;
  }
  TRY_ASSIGN(auto open, query.run<Segment>(connection_, open_sql(query)));
  for (Segment& segment : open) {
    by_id.at(segment.instance_id.text)->open.push_back(std::move(segment));
  }
  TRY_ASSIGN(auto granted, query.run<GrantedRow>(connection_, granted_sql(query)));
  for (GrantedRow& row : granted) {
    InstanceOverview& overview = *by_id.at(row.instance_id.text);
    overview.cards.push_back(std::move(row.card_uuid));
    overview.simulated = row.simulated;
  }
  return overviews;
}

Result<std::vector<InstanceId>> SqlInstanceRepository::warned(const AccountId& account) {
  static const std::string sql =
      "select id from instances where account_id = :account and notice_reason <> '' order by id";
  return connection_.select<InstanceId>(sql, account);
}

Result<std::vector<Instance>> SqlInstanceRepository::of_account(const AccountId& account) {
  static const std::string sql = select_sql<Instance>(
      "instances", "where account_id = :account and observed <> 'purged' order by id");
  return connection_.select<Instance>(sql, account);
}

Result<std::vector<Instance>> SqlInstanceRepository::alive() {
  static const std::string sql =
      select_sql<Instance>("instances", "where observed <> 'purged' order by id");
  return connection_.select<Instance>(sql);
}

Result<std::vector<InstanceId>> SqlInstanceRepository::bin_expired(Timestamp now, int limit) {
  static const std::string sql =
      "select id from instances where observed = 'in_bin' and bin_until <= :now"
      " and desired <> 'purged' order by bin_until, id limit :limit";
  return connection_.select<InstanceId>(sql, now, limit);
}

// The condition is, word for word, the one of the index instances_moving.
Result<std::vector<InstanceId>> SqlInstanceRepository::forgotten() {
  static const std::string sql =
      "select id from instances"
      " where (observed IN ('creating', 'starting', 'stopping', 'releasing')"
      " OR (observed = 'in_bin' AND desired = 'purged')"
      " OR (observed = 'running' AND guest_current = 0))"
      " and not exists (select 1 from operations"
      " where operations.instance_id = instances.id and operations.state = 'pending')"
      " order by id";
  return connection_.select<InstanceId>(sql);
}

Result<int64_t> SqlInstanceRepository::disk_quota_sum(const HostId& host) {
  static const std::string sql =
      "select coalesce(sum(system_disk_bytes + data_disk_bytes), 0) from instances"
      " where host_id = :host and observed <> 'purged'";
  return connection_.value<int64_t>(sql, host);
}

Status SqlInstanceRepository::insert_operation(const Operation& operation) {
  static const std::string sql = insert_sql<Operation>("operations");
  return connection_.run(sql, operation);
}

Result<std::optional<Operation>> SqlInstanceRepository::pending_operation(const InstanceId& id) {
  static const std::string sql =
      select_sql<Operation>("operations", "where instance_id = :instance and state = 'pending'");
  return connection_.find<Operation>(sql, id);
}

Status SqlInstanceRepository::update_operation(const Operation& operation) {
  static const std::string sql = update_sql<Operation>("operations", "id = :key");
  return connection_.run_one(sql, WithoutKey{operation}, operation.id);
}

// Two statements, and still one worker only gets it: writers take turns.
Result<std::optional<Operation>> SqlInstanceRepository::claim_operation(
    Timestamp now, const std::string& lock_token, Timestamp lock_expires_at) {
  static const std::string next =
      select_sql<Operation>("operations",
                            "where state = 'pending' and not_before <= :now"
                            " and (lock_token = '' or lock_expires_at <= :still_now)"
                            " order by not_before, id limit 1");
  static const std::string lock =
      "update operations set lock_token = :token, lock_expires_at = :expires where id = :id";
  CHECK(!lock_token.empty(), "an empty lock token means unlocked");
  TRY_ASSIGN(auto operation, connection_.find<Operation>(next, now, now));
  if (!operation) return operation;
  operation->lock_token = lock_token;
  operation->lock_expires_at = lock_expires_at;
  TRY(connection_.run(lock, lock_token, lock_expires_at, operation->id));
  return operation;
}

Result<std::optional<Operation>> SqlInstanceRepository::find_operation(const OperationId& id) {
  static const std::string sql = select_sql<Operation>("operations", "where id = :id");
  return connection_.find<Operation>(sql, id);
}

Status SqlInstanceRepository::unlock_operations() {
  static const std::string sql =
      "update operations set lock_token = '', lock_expires_at = null"
      " where state = 'pending' and lock_token <> ''";
  return connection_.run(sql);
}

Result<std::optional<Timestamp>> SqlInstanceRepository::next_operation_at() {
  static const std::string sql =
      "select not_before from operations where state = 'pending' and lock_token = ''"
      " order by not_before limit 1";
  return connection_.find<Timestamp>(sql);
}

}  // namespace cardhour::sql
