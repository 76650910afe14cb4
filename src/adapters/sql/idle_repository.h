// Rules of idle instances in SQL; see ports/idle.h.
#pragma once

#include "adapters/sql/connection.h"
#include "ports/store.h"

namespace cardhour::sql {

class SqlIdleRepository : public IdleRepository {
 public:
  explicit SqlIdleRepository(Connection& connection) : connection_(connection) {}

  Result<std::vector<IdleRule>> rules() override;
  Result<std::optional<IdleRule>> find(const InstanceId& id) override;
  Status set(const IdleRule& rule) override;
  Result<bool> remove(const InstanceId& id) override;

 private:
  Connection& connection_;
};

}  // namespace cardhour::sql
