// Idempotent answers and settings in SQL; see ports/store.h.
#pragma once

#include "adapters/sql/connection.h"
#include "ports/store.h"

namespace cardhour::sql {

class SqlKeyRepository : public KeyRepository {
 public:
  explicit SqlKeyRepository(Connection& connection) : connection_(connection) {}

  Result<std::optional<IdempotentAnswer>> find_answer(const std::string& account,
                                                      const std::string& key) override;
  Status insert_answer(const IdempotentAnswer& answer) override;
  Status delete_answers_before(Timestamp at) override;
  Result<std::optional<std::string>> find_setting(const std::string& name) override;
  Status set_setting(const std::string& name, const std::string& value) override;

 private:
  Connection& connection_;
};

}  // namespace cardhour::sql
