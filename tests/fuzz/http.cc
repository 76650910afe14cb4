// The parts of HTTP that we take apart ourselves: request targets, heads, cookies, languages, and
// the head of an answer. The first line is a target, then come header fields.
#include "adapters/http/http.h"

#include <fmt/format.h>

#include "adapters/http/browser.h"
#include "adapters/http/json_codec.h"
#include "adapters/http/wire.h"
#include "base/check.h"
#include "domain/access.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/input.h"

namespace cardhour::fuzz {
namespace {

using namespace cardhour::http;

void check_target(std::string_view text) {
  const auto target = parse_target(text);
  if (!target) return;
  const std::string& path = target->path;
  CHECK(path.starts_with('/') && is_valid_utf8_text(path), "a path is text and begins with /");
  CHECK(path.find("//") == std::string::npos, "no empty segments");
  CHECK((path + "/").find("/../") == std::string::npos, "nothing goes up");
  for (const auto& [name, value] : target->query) {
    CHECK(is_valid_utf8_text(name) && is_valid_utf8_text(value), "a query is text");
  }
}

Request request_of(std::string_view rest) {
  Request request;
  while (!rest.empty()) {
    const std::string_view line = take_line(rest);
    const size_t colon = std::min(line.find(':'), line.size());
    std::string_view value = line.substr(std::min(colon + 1, line.size()));
    if (value.starts_with(' ')) value.remove_prefix(1);
    request.headers.add(line.substr(0, colon), std::string(value));
  }
  return request;
}

void check_heads(Request request) {
  for (const int minor : {0, 1}) static_cast<void>(check_head(request.headers, minor));
  const bool smuggles =
      request.headers.count("Content-Length") > 0 && request.headers.count("Transfer-Encoding") > 0;
  if (smuggles) CHECK(!check_head(request.headers, 1), "two lengths are refused");
  static_cast<void>(language_of(request.header("Accept-Language").value_or("")));
  for (const auto transport : {Request::Transport::plain, Request::Transport::tls}) {
    request.transport = transport;
    const std::string cookie = session_cookie(request);
    CHECK(cookie.find(';') == std::string::npos, "a cookie ends where the next begins");
    static_cast<void>(check_origin(request));
  }
  for (const char* name : {"limit", "wait"}) {
    request.query[name] = std::string(request.header(name).value_or(""));
  }
  const auto limit = page_limit(request);
  if (limit) CHECK(*limit >= 1 && *limit <= limits::kPageMax, "a page has a limit");
  const auto wait = wait_asked(request);
  if (wait) CHECK(wait->ms >= 0 && *wait <= seconds(limits::kWaitSecondsMax), "a wait is bounded");
  Response response;
  response.headers = request.headers;
  const auto head = response_head(response, Connection::close, BodyLength::declared);
  if (!head) return;
  CHECK(head->ends_with("\r\n\r\n") && head->find("\r\n\r\n") == head->size() - 4,
        "a head ends once");
}

void run(std::string_view input) {
  check_target(take_line(input));
  check_heads(request_of(input));
  const auto value = parse_json(input);
  if (!value) return;
  const auto again = parse_json(json_text(*value));
  CHECK(again.has_value(), "JSON is read as it is written");
}

}  // namespace

Target http_target() {
  return {"http",
          run,
          {"%2e%2e",
           "%00",
           "%2f",
           "/../",
           "//",
           "?a=1&a=2",
           "Content-Length: 1",
           "Transfer-Encoding: chunked",
           "Host: a",
           "Cookie: cardhour_session=",
           "; ",
           "__Host-cardhour_session=",
           "Origin: https://",
           "Sec-Fetch-Site: cross-site",
           "Accept-Language: zh;q=0.5,",
           "limit: 101",
           "wait: 61s",
           "\r",
           "{\"a\":[",
           "\\u0000"}};
}

}  // namespace cardhour::fuzz
