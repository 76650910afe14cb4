// What can go wrong, as values. Error is a closed code, a sentence that says what
// happened and why, and a sentence that says what to do next, each in English and
// Chinese: whoever writes an error writes both languages side by side.
// A Result<T> is a T or an Error; Status carries no value. Nothing in Cardhour throws
// across a room's border. Thread-safe: plain values.
#pragma once

#include <fmt/core.h>

#include <boost/describe/enum.hpp>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace cardhour {

// Each code has one row in error_table(): HTTP status, CLI exit code, title.
enum class ErrorCode {
  invalid_argument,      // the request itself is wrong
  unauthenticated,       // nobody, or an expired or unknown token
  forbidden,             // somebody, but not allowed
  not_found,             // no such thing, or not yours
  conflict,              // the state does not allow it, or it exists already
  idempotency_mismatch,  // same Idempotency-Key, other body
  insufficient_balance,  // the wallet cannot carry it
  no_capacity,           // no card, port, disk or host is free
  quota_exceeded,        // the account's own limit
  too_large,             // body, header or page over its limit
  rate_limited,          // too many attempts
  overloaded,            // the worker queue is full
  engine_unavailable,    // Incus does not answer
  store_unavailable,     // the database is locked, full or read-only
  engine_failed,         // Incus answered with an error
  internal,              // a bug
};
BOOST_DESCRIBE_ENUM(ErrorCode, invalid_argument, unauthenticated, forbidden, not_found, conflict,
                    idempotency_mismatch, insufficient_balance, no_capacity, quota_exceeded,
                    too_large, rate_limited, overloaded, engine_unavailable, store_unavailable,
                    engine_failed, internal)

enum class Language { en, zh };
BOOST_DESCRIBE_ENUM(Language, en, zh)

// One sentence in both languages of the product.
struct Text {
  std::string en;
  std::string zh;

  const std::string& in(Language language) const { return language == Language::zh ? zh : en; }
  bool operator==(const Text&) const = default;
};

// Formats both languages with the same arguments, e.g.
// text("missing {}", "还差 {}", amount). The format strings are constants of ours.
template <class... Args>
Text text(std::string_view en, std::string_view zh, const Args&... args) {
  return Text{fmt::vformat(en, fmt::make_format_args(args...)),
              fmt::vformat(zh, fmt::make_format_args(args...))};
}

struct Error {
  ErrorCode code = ErrorCode::internal;
  Text what;          // what happened, and why
  Text next;          // what to do now; may be empty
  std::string field;  // the offending input field, if one is to blame

  bool operator==(const Error&) const = default;
};

struct ErrorRow {
  ErrorCode code;
  int http_status;
  int exit_code;  // of the CLI, see exit_codes in docs
  Text title;
};

// The one table from error to HTTP status (RFC 9457) and CLI exit code.
const ErrorRow& error_row(ErrorCode code);

template <class T>
using Result = tl::expected<T, Error>;
using Status = tl::expected<void, Error>;

inline tl::unexpected<Error> fail(ErrorCode code, Text what, Text next = {},
                                  std::string field = {}) {
  return tl::unexpected<Error>(Error{code, std::move(what), std::move(next), std::move(field)});
}
inline tl::unexpected<Error> fail(Error error) { return tl::unexpected<Error>(std::move(error)); }

// "field NAME: ..." for input that is wrong.
tl::unexpected<Error> invalid(std::string field, Text what, Text next = {});

}  // namespace cardhour

#define CARDHOUR_CONCAT_(a, b) a##b
#define CARDHOUR_CONCAT(a, b) CARDHOUR_CONCAT_(a, b)

#define TRY_(temporary, expression)                                      \
  do {                                                                   \
    auto temporary = (expression);                                       \
    if (!temporary) return tl::unexpected(std::move(temporary).error()); \
  } while (false)
// Returns the error of a Result<> or Status expression, if it has one.
#define TRY(expression) TRY_(CARDHOUR_CONCAT(try_status_, __COUNTER__), expression)

#define TRY_ASSIGN_(temporary, target, expression)                     \
  auto temporary = (expression);                                       \
  if (!temporary) return tl::unexpected(std::move(temporary).error()); \
  target = std::move(*temporary)
// TRY_ASSIGN(auto x, expression): x is the value, or the error is returned.
#define TRY_ASSIGN(target, expression) \
  TRY_ASSIGN_(CARDHOUR_CONCAT(try_result_, __COUNTER__), target, expression)
