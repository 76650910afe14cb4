// The append-only history in SQL; see ports/store.h.
#pragma once

#include "adapters/sql/connection.h"
#include "ports/store.h"

namespace cardhour::sql {

class SqlEventRepository : public EventRepository {
 public:
  explicit SqlEventRepository(Connection& connection) : connection_(connection) {}

  Status append(Event event) override;
  Result<std::vector<Event>> after(int64_t seq, const std::optional<AccountId>& account,
                                   const std::optional<InstanceId>& instance, int limit) override;
  Result<std::vector<Event>> latest(const std::optional<AccountId>& account,
                                    const std::optional<InstanceId>& instance, int limit) override;

 private:
  // `rest` compares seq with a first parameter and has a limit as its last.
  Result<std::vector<Event>> select(int64_t seq, const std::optional<AccountId>& account,
                                    const std::optional<InstanceId>& instance, int limit,
                                    const std::string& comparison, const std::string& order);

  Connection& connection_;
};

}  // namespace cardhour::sql
