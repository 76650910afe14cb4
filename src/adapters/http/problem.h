// The one function from Error to HTTP: RFC 9457 problem documents in the language of the
// request. Thread-safe.
#pragma once

#include <boost/describe/class.hpp>
#include <optional>
#include <string>

#include "adapters/http/http.h"
#include "base/error.h"

namespace cardhour::http {

struct Problem {
  std::string type;   // "urn:cardhour:problem:no_capacity"
  std::string title;  // of the code, the same for every occurrence
  int status = 500;
  std::string detail;               // what happened, and why
  std::optional<std::string> next;  // what to do now
  ErrorCode code = ErrorCode::internal;
  std::optional<std::string> field;  // the input field to blame
  int exit_code = 1;                 // of the CLI
};
BOOST_DESCRIBE_STRUCT(Problem, (), (type, title, status, detail, next, code, field, exit_code))

Problem problem_of(const Error& error, Language language);

// application/problem+json, with Retry-After on what passes (429, 503) and
// WWW-Authenticate on 401.
Response problem_response(const Error& error, Language language);
Response problem_response(const Problem& problem);

// A status of HTTP itself that no ErrorCode has: 405, 408, 431, 501.
Response http_problem(int status, Text title, Text detail, Language language);

}  // namespace cardhour::http
