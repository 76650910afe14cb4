#include "adapters/http/browser.h"

#include <fmt/core.h>

#include <algorithm>

namespace cardhour::http {
namespace {

constexpr std::string_view kPlainName = "cardhour_session";
constexpr std::string_view kSecureName = "__Host-cardhour_session";

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::string cookie_text(const Request& request, std::string_view value, Duration age) {
  const bool secure = is_secure(request);
  return fmt::format("{}={}; Path=/; HttpOnly; SameSite=Strict; Max-Age={}{}",
                     secure ? kSecureName : kPlainName, value, age.ms / 1000,
                     secure ? "; Secure" : "");
}

// "https://name:port" against Host. Over TLS of our own, a page of plain HTTP is another origin;
// behind a proxy the scheme is not ours to know.
bool is_origin_of(std::string_view origin, const Request& request) {
  const size_t scheme_end = origin.find("://");
  if (scheme_end == std::string_view::npos) return false;  // "null", among others
  const std::string scheme = lowered(origin.substr(0, scheme_end));
  if (scheme != "https" && (scheme != "http" || is_secure(request))) return false;
  return lowered(origin.substr(scheme_end + 3)) == lowered(request.header("Host").value_or(""));
}

}  // namespace

bool is_secure(const Request& request) {
  return request.transport == Request::Transport::tls ||
         lowered(request.header("X-Forwarded-Proto").value_or("")) == "https";
}

std::string session_cookie(const Request& request) {
  const std::string_view name = is_secure(request) ? kSecureName : kPlainName;
  for (const auto& [field, value] : request.headers.fields) {
    if (lowered(field) != "cookie") continue;
    std::string_view rest = value;
    while (!rest.empty()) {
      const size_t end = std::min(rest.find(';'), rest.size());
      const std::string_view pair = trimmed(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
      const size_t equals = pair.find('=');
      if (equals != std::string_view::npos && pair.substr(0, equals) == name) {
        return std::string(pair.substr(equals + 1));
      }
    }
  }
  return {};
}

std::string set_session_cookie(const Request& request, const std::string& secret, Duration age) {
  return cookie_text(request, secret, age);
}

std::string clear_session_cookie(const Request& request) {
  return cookie_text(request, "", Duration{});
}

Status check_origin(const Request& request) {
  const auto site = request.header("Sec-Fetch-Site");
  const auto origin = request.header("Origin");
  const bool own_site = !site || *site == "same-origin";
  const bool own_origin = !origin || is_origin_of(*origin, request);
  if (own_site && own_origin) return {};
  return fail(ErrorCode::forbidden,
              {"this request was made by a page of another site", "该请求来自其他站点的页面"},
              {"Use the console at its own address; a proxy in front must pass Host on unchanged.",
               "请使用控制台自己的地址；若前面有代理，须原样传递 Host。"});
}

}  // namespace cardhour::http
