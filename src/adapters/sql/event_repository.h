// The append-only history in SQL; see ports/store.h.
#pragma once

#include "adapters/sql/connection.h"
#include "ports/store.h"

namespace cardhour::sql {

class SqlEventRepository : public EventRepository {
 public:
  explicit SqlEventRepository(Connection& connection) : connection_(connection) {}

  Status append(Event event) override;
  Result<std::vector<Event>> after(int64_t seq, const EventFilter& filter, int limit) override;
  Result<std::vector<Event>> before(int64_t seq, const EventFilter& filter, int limit) override;

 private:
  // `comparison` is of seq with :seq.
  Result<std::vector<Event>> select(int64_t seq, const EventFilter& filter, int limit,
                                    const std::string& comparison, const std::string& order);

  Connection& connection_;
};

}  // namespace cardhour::sql
