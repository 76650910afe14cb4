#include "app/events.h"

#include <algorithm>

namespace cardhour {
namespace {

Result<EventFilter> filter_of(const Actor& actor, const Events::Query& query) {
  if (!query.everybody) return EventFilter{actor.account, query.instance, {}};
  TRY(authorize(&actor, Permission::admin));
  return EventFilter{query.account, query.instance, query.actor_name};
}

}  // namespace

Status record(Tx& tx, const Instance& instance, Timestamp at, const std::string& kind,
              const std::string& actor, const std::string& reason, const std::string& detail) {
  return tx.events().append(
      Event{0, at, instance.account_id, instance.id, kind, actor, reason, detail});
}

Status record(Tx& tx, const AccountId& account, Timestamp at, const std::string& kind,
              const std::string& actor, const std::string& reason, const std::string& detail) {
  return tx.events().append(Event{0, at, account, std::nullopt, kind, actor, reason, detail});
}

Result<Timestamp> newest_instant(Tx& tx) {
  Timestamp newest;
  TRY_ASSIGN(const auto events, tx.events().before(INT64_MAX, {}, 1));
  for (const Event& event : events) newest = std::max(newest, event.at);
  TRY_ASSIGN(const auto hosts, tx.hosts().all());
  for (const Host& host : hosts) newest = std::max(newest, host.last_seen_at);
  return newest;
}

Result<std::vector<Event>> Events::after(const Actor& actor, const Query& query, int64_t seq,
                                         int limit) {
  TRY_ASSIGN(const EventFilter filter, filter_of(actor, query));
  std::vector<Event> events;
  TRY(deps_.store.read([&](Tx& tx) -> Status {
    TRY_ASSIGN(events, tx.events().after(seq, filter, limit));
    return {};
  }));
  return events;
}

Result<std::vector<Event>> Events::before(const Actor& actor, const Query& query, int64_t seq,
                                          int limit) {
  TRY_ASSIGN(const EventFilter filter, filter_of(actor, query));
  std::vector<Event> events;
  TRY(deps_.store.read([&](Tx& tx) -> Status {
    TRY_ASSIGN(events, tx.events().before(seq, filter, limit));
    return {};
  }));
  return events;
}

}  // namespace cardhour
