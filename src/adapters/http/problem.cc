#include "adapters/http/problem.h"

#include "adapters/http/json_codec.h"
#include "base/enum_text.h"

namespace cardhour::http {
namespace {

// Seconds after which another try is worth it; 0 where waiting does not help.
int retry_after_seconds(int status, ErrorCode code) {
  if (code == ErrorCode::overloaded) return 1;
  if (code == ErrorCode::rate_limited) return 30;
  return status == 503 ? 5 : 0;
}

}  // namespace

Problem problem_of(const Error& error, Language language) {
  const ErrorRow& row = error_row(error.code);
  Problem problem;
  problem.type = "urn:cardhour:problem:" + std::string(enum_text(error.code));
  problem.title = row.title.in(language);
  problem.status = row.http_status;
  problem.detail = error.what.in(language);
  if (!error.next.in(language).empty()) problem.next = error.next.in(language);
  problem.code = error.code;
  if (!error.field.empty()) problem.field = error.field;
  problem.exit_code = row.exit_code;
  return problem;
}

Response problem_response(const Problem& problem) {
  Response response = json_response(problem.status, to_json_text(problem));
  response.headers.set("Content-Type", "application/problem+json");
  if (const int after = retry_after_seconds(problem.status, problem.code)) {
    response.headers.set("Retry-After", std::to_string(after));
  }
  if (problem.status == 401) response.headers.set("WWW-Authenticate", "Bearer");
  return response;
}

Response problem_response(const Error& error, Language language) {
  Response response = problem_response(problem_of(error, language));
  if (response.status >= 500) response.failure = error.what.en;
  return response;
}

Response http_problem(int status, Text title, Text detail, Language language) {
  Problem problem =
      problem_of(Error{ErrorCode::invalid_argument, std::move(detail), {}, {}}, language);
  problem.type = "about:blank";  // RFC 9457: no more than the status says
  problem.title = title.in(language);
  problem.status = status;
  return problem_response(problem);
}

}  // namespace cardhour::http
