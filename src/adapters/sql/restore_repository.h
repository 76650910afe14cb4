// Restores and adoptions in SQL; see ports/store.h.
#pragma once

#include "adapters/sql/connection.h"
#include "ports/store.h"

namespace cardhour::sql {

class SqlRestoreRepository : public RestoreRepository {
 public:
  explicit SqlRestoreRepository(Connection& connection) : connection_(connection) {}

  Status put(const Restore& restore) override;
  Result<std::optional<Restore>> latest() override;
  Status put_adoption(const Adoption& adoption) override;
  Result<std::optional<Adoption>> find_adoption(const InstanceId& id) override;
  Result<std::vector<Adoption>> adoptions() override;
  Status delete_adoption(const InstanceId& id) override;

 private:
  Connection& connection_;
};

}  // namespace cardhour::sql
