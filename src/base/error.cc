#include "base/error.h"

#include <array>

#include "base/check.h"

namespace cardhour {
namespace {

// Exit codes: 1 failed, 2 usage, 3 not logged in or not allowed, 4 not found, 5 conflict,
// 6 no capacity, 7 not enough balance, 8 limit or quota, 9 server unreachable.
const std::array<ErrorRow, 16>& table() {
  static const std::array<ErrorRow, 16> rows = {{
      {ErrorCode::invalid_argument, 400, 2, {"Invalid request", "请求有误"}},
      {ErrorCode::unauthenticated, 401, 3, {"Not logged in", "未登录"}},
      {ErrorCode::forbidden, 403, 3, {"Not allowed", "没有权限"}},
      {ErrorCode::not_found, 404, 4, {"Not found", "不存在"}},
      {ErrorCode::conflict, 409, 5, {"Conflict", "冲突"}},
      {ErrorCode::idempotency_mismatch, 409, 5, {"Key reused", "幂等键被重复使用"}},
      {ErrorCode::insufficient_balance, 402, 7, {"Balance too low", "余额不足"}},
      {ErrorCode::no_capacity, 409, 6, {"No capacity", "没有空闲资源"}},
      {ErrorCode::quota_exceeded, 403, 8, {"Quota reached", "已达配额"}},
      {ErrorCode::too_large, 413, 8, {"Too large", "内容过大"}},
      {ErrorCode::rate_limited, 429, 8, {"Too many attempts", "尝试过于频繁"}},
      {ErrorCode::overloaded, 503, 9, {"Server busy", "服务器繁忙"}},
      {ErrorCode::engine_unavailable, 503, 9, {"Engine unavailable", "引擎不可用"}},
      {ErrorCode::store_unavailable, 503, 9, {"Database unavailable", "数据库不可用"}},
      {ErrorCode::engine_failed, 502, 1, {"Engine failed", "引擎出错"}},
      {ErrorCode::internal, 500, 1, {"Internal error", "内部错误"}},
  }};
  return rows;
}

}  // namespace

const ErrorRow& error_row(ErrorCode code) {
  const ErrorRow& row = table().at(static_cast<size_t>(code));
  CHECK(row.code == code, "the error table is in the order of the enum");
  return row;
}

tl::unexpected<Error> invalid(std::string field, Text what, Text next) {
  return fail(ErrorCode::invalid_argument, std::move(what), std::move(next), std::move(field));
}

}  // namespace cardhour
