// Idempotency keys: the effect of a request that creates or pays is stored with its key in
// one transaction. Same key and body: the first answer. Same key, other body: refused.
// Internal to app/.
#pragma once

#include <string>

#include "app/deps.h"

namespace cardhour {

// What the key made before; empty when it is new (or none was sent).
Result<std::string> recall(Tx& tx, const AccountId& account, const Idempotency& idempotency);
Status remember(Tx& tx, const AccountId& account, const Idempotency& idempotency,
                const std::string& result, Timestamp at);

}  // namespace cardhour
