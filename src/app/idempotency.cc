#include "app/idempotency.h"

#include "base/limits.h"
#include "domain/access.h"

namespace cardhour {

Result<std::string> recall(Tx& tx, const AccountId& account, const Idempotency& idempotency) {
  if (idempotency.key.empty()) return std::string();
  if (idempotency.key.size() > limits::kIdempotencyKeyBytes ||
      !is_valid_utf8_text(idempotency.key)) {
    return invalid("Idempotency-Key", Text{"a key is at most 128 bytes of UTF-8 text",
                                           "幂等键最多 128 字节的 UTF-8 文本"});
  }
  TRY_ASSIGN(const auto answer, tx.keys().find_answer(account.text, idempotency.key));
  if (!answer) return std::string();
  if (answer->body_hash != idempotency.body_hash) {
    return fail(
        ErrorCode::idempotency_mismatch,
        Text{"this Idempotency-Key was used for another request", "该幂等键已用于另一个请求"},
        Text{"use a new key for a new request", "新的请求请使用新的键"});
  }
  return answer->result;
}

Status remember(Tx& tx, const AccountId& account, const Idempotency& idempotency,
                const std::string& result, Timestamp at) {
  if (idempotency.key.empty()) return {};
  return tx.keys().insert_answer(
      IdempotentAnswer{account.text, idempotency.key, idempotency.body_hash, result, at});
}

}  // namespace cardhour
