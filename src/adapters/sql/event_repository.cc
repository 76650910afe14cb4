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

Result<std::vector<Event>> SqlEventRepository::after(int64_t seq,
                                                     const std::optional<AccountId>& account,
                                                     const std::optional<InstanceId>& instance,
                                                     int limit) {
  return select(seq, account, instance, limit, "seq > :seq", "seq");
}

Result<std::vector<Event>> SqlEventRepository::latest(const std::optional<AccountId>& account,
                                                      const std::optional<InstanceId>& instance,
                                                      int limit) {
  auto events = select(INT64_MAX, account, instance, limit, "seq < :seq", "seq desc");
  if (events) std::reverse(events->begin(), events->end());
  return events;
}

Result<std::vector<Event>> SqlEventRepository::select(int64_t seq,
                                                      const std::optional<AccountId>& account,
                                                      const std::optional<InstanceId>& instance,
                                                      int limit, const std::string& comparison,
                                                      const std::string& order) {
  const std::string sql = select_sql<Event>(
      "events", fmt::format("where {}{}{} order by {} limit :limit", comparison,
                            account ? " and account_id = :account" : "",
                            instance ? " and instance_id = :instance" : "", order));
  if (account && instance) {
    return connection_.select<Event>(sql, seq, *account, *instance, limit);
  }
  if (account) return connection_.select<Event>(sql, seq, *account, limit);
  if (instance) return connection_.select<Event>(sql, seq, *instance, limit);
  return connection_.select<Event>(sql, seq, limit);
}

}  // namespace cardhour::sql
