// Events: the history, for the stream and the audit log. Writing one is part of the
// transaction of the change (record). Thread-safe.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/deps.h"
#include "domain/event.h"

namespace cardhour {

// Appends an event of an instance.
Status record(Tx& tx, const Instance& instance, Timestamp at, const std::string& kind,
              const std::string& actor, const std::string& reason, const std::string& detail = {});
// Appends an event of an account.
Status record(Tx& tx, const AccountId& account, Timestamp at, const std::string& kind,
              const std::string& actor, const std::string& reason, const std::string& detail = {});

// The latest instant that the database knows of: a process never begins before it, whatever
// the wall clock says, so that nothing is used twice and what is due stays due.
Result<Timestamp> newest_instant(Tx& tx);

class Events {
 public:
  explicit Events(const Deps& deps) : deps_(deps) {}

  // Renters see their own; operators see all with `everybody`, or those of one `account`.
  struct Query {
    bool everybody = false;
    std::optional<InstanceId> instance;
    std::optional<AccountId> account;       // with `everybody`
    std::optional<std::string> actor_name;  // with `everybody`: who did it
  };
  // Both oldest first.
  Result<std::vector<Event>> after(const Actor& actor, const Query& query, int64_t seq, int limit);
  Result<std::vector<Event>> before(const Actor& actor, const Query& query, int64_t seq, int limit);
  Result<std::vector<Event>> latest(const Actor& actor, const Query& query, int limit) {
    return before(actor, query, INT64_MAX, limit);
  }

 private:
  Deps deps_;
};

}  // namespace cardhour
