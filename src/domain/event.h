// Events: the append-only history, written in the transaction of the change. Audit log, SSE
// feed and the answer to "why" in one. Pure data.
#pragma once

#include <boost/describe/class.hpp>
#include <optional>
#include <string>

#include "base/id.h"
#include "base/time.h"

namespace cardhour {

struct Event {
  int64_t seq = 0;  // rises by commit order; the SSE id
  Timestamp at;
  std::optional<AccountId> account_id;  // whose history it belongs to; absent: operators only
  std::optional<InstanceId> instance_id;
  std::string kind;    // "instance.running", "wallet.topup", ...
  std::string actor;   // who: a login, an instance, or "system:settle"
  std::string reason;  // why: a Cause word, or an error
  std::string detail;  // "key=value key=value", for people
};
BOOST_DESCRIBE_STRUCT(Event, (), (seq, at, account_id, instance_id, kind, actor, reason, detail))

}  // namespace cardhour
