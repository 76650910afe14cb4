#include "adapters/http/wire.h"

#include <fmt/core.h>

#include <algorithm>
#include <ctime>

namespace cardhour::http {
namespace {

std::string_view reason_of(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    case 204:
      return "No Content";
    case 206:
      return "Partial Content";
    case 301:
      return "Moved Permanently";
    case 302:
      return "Found";
    case 303:
      return "See Other";
    case 304:
      return "Not Modified";
    case 307:
      return "Temporary Redirect";
    case 308:
      return "Permanent Redirect";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 402:
      return "Payment Required";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 413:
      return "Content Too Large";
    case 417:
      return "Expectation Failed";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 502:
      return "Bad Gateway";
    case 503:
      return "Service Unavailable";
    default:
      return "";
  }
}

bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  });
}

bool is_value(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\t') || byte == 0x7f;
  });
}

bool is_host(std::string_view host) {
  return !host.empty() && host.size() <= 255 && std::all_of(host.begin(), host.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           std::string_view(".-_:[]").find(c) != std::string_view::npos;
  });
}

// "Tue, 01 Dec 2026 08:30:00 GMT", independent of the locale.
std::string http_date() {
  static constexpr const char* kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                            "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  return fmt::format("{}, {:02} {} {} {:02}:{:02}:{:02} GMT", kDays[utc.tm_wday], utc.tm_mday,
                     kMonths[utc.tm_mon], utc.tm_year + 1900, utc.tm_hour, utc.tm_min, utc.tm_sec);
}

void add_field(std::string& head, std::string_view name, std::string_view value) {
  head += fmt::format("{}: {}\r\n", name, value);
}

tl::unexpected<Error> bad_head(Text why) {
  return fail(ErrorCode::invalid_argument, std::move(why));
}

}  // namespace

Status check_head(const Headers& headers, int minor) {
  const size_t codings = headers.count("Transfer-Encoding");
  const size_t lengths = headers.count("Content-Length");
  if (codings > 0 && lengths > 0) {
    return bad_head({"both Content-Length and Transfer-Encoding",
                     "同时含有 Content-Length 和 Transfer-Encoding"});
  }
  if (codings > 1 || lengths > 1) {
    return bad_head({"Content-Length or Transfer-Encoding more than once",
                     "Content-Length 或 Transfer-Encoding 重复出现"});
  }
  if (codings == 1 && (minor < 1 || lowered(*headers.find("Transfer-Encoding")) != "chunked")) {
    return bad_head({"the only transfer coding understood is chunked, in HTTP/1.1",
                     "传输编码只支持 HTTP/1.1 的 chunked"});
  }
  const size_t hosts = headers.count("Host");
  if (hosts > 1 || (hosts == 0 && minor >= 1)) {
    return bad_head({"exactly one Host header is needed", "需要且只能有一个 Host 请求头"});
  }
  if (hosts == 1 && !is_host(*headers.find("Host"))) {
    return bad_head({"the Host header is malformed", "Host 请求头格式有误"});
  }
  return {};
}

std::optional<std::string> response_head(const Response& response, Connection connection,
                                         BodyLength length) {
  if (response.status < 200 || response.status > 599) return std::nullopt;
  std::string head = fmt::format("HTTP/1.1 {} {}\r\n", response.status, reason_of(response.status));
  for (const auto& [name, value] : response.headers.fields) {
    if (!is_token(name) || !is_value(value)) return std::nullopt;
    const std::string lower = lowered(name);
    if (lower == "content-length" || lower == "connection" || lower == "transfer-encoding") {
      continue;  // ours to say
    }
    add_field(head, name, value);
  }
  add_field(head, "Date", http_date());
  if (!response.headers.find("Cache-Control")) add_field(head, "Cache-Control", "no-store");
  if (!response.headers.find("X-Content-Type-Options")) {
    add_field(head, "X-Content-Type-Options", "nosniff");
  }
  // No answer is a page of its own, or part of another site's, unless it says so.
  if (!response.headers.find("Content-Security-Policy")) {
    add_field(head, "Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
  }
  if (!response.headers.find("Cross-Origin-Resource-Policy")) {
    add_field(head, "Cross-Origin-Resource-Policy", "same-origin");
  }
  const bool bodiless = response.status == 204 || response.status == 304;
  if (length == BodyLength::declared && !bodiless) {
    const std::string& body = response.file != nullptr ? *response.file : response.body;
    add_field(head, "Content-Length", std::to_string(body.size()));
  }
  add_field(head, "Connection", connection == Connection::close ? "close" : "keep-alive");
  head += "\r\n";
  return head;
}

std::string sse_frame(const SseEvent& event) {
  const auto one_line = [](const std::string& text) {
    std::string out = text;
    std::erase_if(out, [](char c) { return c == '\n' || c == '\r' || c == '\0'; });
    return out;
  };
  std::string frame;
  if (!event.id.empty()) frame += "id: " + one_line(event.id) + "\n";
  if (!event.event.empty()) frame += "event: " + one_line(event.event) + "\n";
  frame += "data: ";
  for (size_t i = 0; i < event.data.size(); ++i) {
    const char c = event.data[i];
    if (c == '\r' && i + 1 < event.data.size() && event.data[i + 1] == '\n') continue;
    if (c == '\n' || c == '\r') {
      frame += "\ndata: ";
    } else {
      frame.push_back(c);
    }
  }
  frame += "\n\n";
  return frame;
}

}  // namespace cardhour::http
