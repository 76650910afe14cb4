#include "adapters/sql/instance_repository.h"

namespace cardhour::sql {

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
  std::string where = "where true";
  if (filter.account) where += " and account_id = :account";
  if (!filter.with_purged) where += " and observed <> 'purged'";
  if (!page.after.empty()) {
    where += " and (created_at, id) < (select created_at, id from instances where id = :after)";
  }
  const std::string sql =
      select_sql<Instance>("instances", where + " order by created_at desc, id desc limit :limit");
  const std::string& after = page.after;
  if (filter.account) {
    return after.empty() ? connection_.select<Instance>(sql, *filter.account, page.limit)
                         : connection_.select<Instance>(sql, *filter.account, after, page.limit);
  }
  return after.empty() ? connection_.select<Instance>(sql, page.limit)
                       : connection_.select<Instance>(sql, after, page.limit);
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
      " OR (desired = 'purged' AND observed <> 'purged')"
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
