#include "adapters/sql/event_repository.h"

#include <algorithm>

namespace cardhour::sql {

// Writers take turns, so that seq rises in the order of commits.
Status SqlEventRepository::append(Event event) {
  static const std::string highest = "select seq from events order by seq desc limit 1";
  static const std::string insert = insert_sql<Event>("events");
  TRY_ASSIGN(const auto seq, connection_.find<int64_t>(highest));
  event.seq = seq.value_or(0) + 1;
  return connection_.run(insert, event);
}

Result<std::vector<Event>> SqlEventRepository::after(int64_t seq, const EventFilter& filter,
                                                     int limit) {
  return select(seq, filter, limit, "seq > :seq", "seq");
}

Result<std::vector<Event>> SqlEventRepository::before(int64_t seq, const EventFilter& filter,
                                                      int limit) {
  auto events = select(seq, filter, limit, "seq < :seq", "seq desc");
  if (events) std::reverse(events->begin(), events->end());
  return events;
}

// What is not filtered by binds an empty text to itself, so that every query has the same
// parameters and those that filter find their index.
Result<std::vector<Event>> SqlEventRepository::select(int64_t seq, const EventFilter& filter,
                                                      int limit, const std::string& comparison,
                                                      const std::string& order) {
  const std::string sql = select_sql<Event>(
      "events",
      fmt::format("where {} and {} = :account and {} = :instance and {} = :actor order by {} "
                  "limit :limit",
                  comparison, filter.account ? "account_id" : "''",
                  filter.instance ? "instance_id" : "''", filter.actor ? "actor" : "''", order));
  return connection_.select<Event>(sql, seq, filter.account.value_or(AccountId{}),
                                   filter.instance.value_or(InstanceId{}),
                                   filter.actor.value_or(""), limit);
}

}  // namespace cardhour::sql
