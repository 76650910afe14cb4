// WatchedTx: a transaction that is looked at while it runs, so that a crash point knows what
// it was about. Passes everything on. Belongs to the thread that runs it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ports/store.h"

namespace cardhour {

struct TxSight {
  std::optional<Operation> claimed;    // a worker locked it
  std::optional<OperationKind> asked;  // a pending operation was put in place
};

class WatchedInstances final : public InstanceRepository {
 public:
  WatchedInstances(InstanceRepository& inner, TxSight& sight) : inner_(inner), sight_(sight) {}

  Status insert(const Instance& instance) override { return inner_.insert(instance); }
  Status update(Instance& instance) override { return inner_.update(instance); }
  Result<std::optional<Instance>> find(const InstanceId& id) override { return inner_.find(id); }
  Result<std::vector<Instance>> find_named(const AccountId& account,
                                           const std::string& name) override {
    return inner_.find_named(account, name);
  }
  Result<std::vector<Instance>> page(const InstanceFilter& filter, const Page& page) override {
    return inner_.page(filter, page);
  }
  Result<std::vector<InstanceOverview>> overviews(const InstanceFilter& filter,
                                                  const Page& page) override {
    return inner_.overviews(filter, page);
  }
  Result<std::vector<Instance>> of_account(const AccountId& account) override {
    return inner_.of_account(account);
  }
  Result<std::vector<InstanceId>> warned(const AccountId& account) override {
    return inner_.warned(account);
  }
  Result<std::vector<Instance>> alive() override { return inner_.alive(); }
  Result<std::vector<InstanceId>> bin_expired(Timestamp now, int limit) override {
    return inner_.bin_expired(now, limit);
  }
  Result<std::vector<InstanceId>> forgotten() override { return inner_.forgotten(); }
  Result<int64_t> disk_quota_sum(const HostId& host) override {
    return inner_.disk_quota_sum(host);
  }
  Status insert_operation(const Operation& operation) override {
    sight_.asked = operation.kind;
    return inner_.insert_operation(operation);
  }
  Result<std::optional<Operation>> pending_operation(const InstanceId& id) override {
    return inner_.pending_operation(id);
  }
  Status update_operation(const Operation& operation) override {
    sight_.asked = operation.kind;
    return inner_.update_operation(operation);
  }
  Result<std::optional<Operation>> claim_operation(Timestamp now, const std::string& lock_token,
                                                   Timestamp lock_expires_at) override {
    auto claimed = inner_.claim_operation(now, lock_token, lock_expires_at);
    if (claimed) sight_.claimed = *claimed;
    return claimed;
  }
  Result<std::optional<Operation>> find_operation(const OperationId& id) override {
    return inner_.find_operation(id);
  }
  Status unlock_operations() override { return inner_.unlock_operations(); }
  Result<std::optional<Timestamp>> next_operation_at() override {
    return inner_.next_operation_at();
  }

 private:
  InstanceRepository& inner_;
  TxSight& sight_;
};

class WatchedTx final : public Tx {
 public:
  WatchedTx(Tx& inner, TxSight& sight) : inner_(inner), instances_(inner.instances(), sight) {}

  AccountRepository& accounts() override { return inner_.accounts(); }
  HostRepository& hosts() override { return inner_.hosts(); }
  InstanceRepository& instances() override { return instances_; }
  LedgerRepository& ledger() override { return inner_.ledger(); }
  EventRepository& events() override { return inner_.events(); }
  KeyRepository& keys() override { return inner_.keys(); }
  CardHealthRepository& card_health() override { return inner_.card_health(); }
  IdleRepository& idle() override { return inner_.idle(); }
  RestoreRepository& restores() override { return inner_.restores(); }

 private:
  Tx& inner_;
  WatchedInstances instances_;
};

}  // namespace cardhour
