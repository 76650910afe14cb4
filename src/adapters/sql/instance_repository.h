// Instances and operations in SQL; see ports/store.h.
#pragma once

#include "adapters/sql/connection.h"
#include "ports/store.h"

namespace cardhour::sql {

class SqlInstanceRepository : public InstanceRepository {
 public:
  explicit SqlInstanceRepository(Connection& connection) : connection_(connection) {}

  Status insert(const Instance& instance) override;
  Status update(Instance& instance) override;
  Result<std::optional<Instance>> find(const InstanceId& id) override;
  Result<std::vector<Instance>> find_named(const AccountId& account,
                                           const std::string& name) override;
  Result<std::vector<Instance>> page(const InstanceFilter& filter, const Page& page) override;
  Result<std::vector<InstanceOverview>> overviews(const InstanceFilter& filter,
                                                  const Page& page) override;
  Result<std::vector<Instance>> of_account(const AccountId& account) override;
  Result<std::vector<InstanceId>> warned(const AccountId& account) override;
  Result<std::vector<Instance>> alive() override;
  Result<std::vector<InstanceId>> bin_expired(Timestamp now, int limit) override;
  Result<std::vector<InstanceId>> forgotten() override;
  Result<int64_t> disk_quota_sum(const HostId& host) override;

  Status insert_operation(const Operation& operation) override;
  Result<std::optional<Operation>> pending_operation(const InstanceId& id) override;
  Status update_operation(const Operation& operation) override;
  Result<std::optional<Operation>> claim_operation(Timestamp now, const std::string& lock_token,
                                                   Timestamp lock_expires_at) override;
  Result<std::optional<Operation>> find_operation(const OperationId& id) override;
  Status unlock_operations() override;
  Result<std::optional<Timestamp>> next_operation_at() override;

 private:
  Connection& connection_;
};

}  // namespace cardhour::sql
