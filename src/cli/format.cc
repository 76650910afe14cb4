#include "cli/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>

#include "base/size.h"

namespace cardhour::cli {
namespace {

std::string local(Timestamp at, const char* pattern) {
  const std::time_t second = static_cast<std::time_t>(at.ms >= 0 ? at.ms / 1000 : 0);
  std::tm parts{};
  ::localtime_r(&second, &parts);
  char text[64];
  const size_t size = std::strftime(text, sizeof text, pattern, &parts);
  return std::string(text, size);
}

struct LocalParts {
  int year = 0;
  int month = 1;  // 13 is January of the next year
  int day = 1;
  int hour = 0;
  int minute = 0;
};

Timestamp from_local(const LocalParts& local_parts) {
  std::tm parts{};
  parts.tm_year = local_parts.year - 1900;
  parts.tm_mon = local_parts.month - 1;
  parts.tm_mday = local_parts.day;
  parts.tm_hour = local_parts.hour;
  parts.tm_min = local_parts.minute;
  parts.tm_isdst = -1;
  return Timestamp{static_cast<int64_t>(std::mktime(&parts)) * 1000};
}

// Digits of fixed width at the front of `text`, which are taken off; -1 when there are none.
int take_number(std::string_view& text, size_t digits) {
  if (text.size() < digits) return -1;
  int number = 0;
  for (const char c : text.substr(0, digits)) {
    if (c < '0' || c > '9') return -1;
    number = number * 10 + (c - '0');
  }
  text.remove_prefix(digits);
  return number;
}

bool take(std::string_view& text, char c) {
  if (text.empty() || text[0] != c) return false;
  text.remove_prefix(1);
  return true;
}

int days_in(int year, int month) {
  constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return month == 2 && leap ? 29 : kDays[month - 1];
}

// "2026-11"; nullopt when it is no month.
std::optional<LocalParts> take_month(std::string_view& text) {
  LocalParts parts;
  parts.year = take_number(text, 4);
  if (parts.year < 1970 || !take(text, '-')) return std::nullopt;
  parts.month = take_number(text, 2);
  if (parts.month < 1 || parts.month > 12) return std::nullopt;
  return parts;
}

std::optional<LocalParts> take_moment(std::string_view text) {
  auto parts = take_month(text);
  if (!parts || !take(text, '-')) return std::nullopt;
  parts->day = take_number(text, 2);
  if (parts->day < 1 || parts->day > days_in(parts->year, parts->month)) return std::nullopt;
  if (text.empty()) return parts;
  if (!take(text, ' ') && !take(text, 'T')) return std::nullopt;
  parts->hour = take_number(text, 2);
  if (parts->hour < 0 || parts->hour > 23 || !take(text, ':')) return std::nullopt;
  parts->minute = take_number(text, 2);
  if (parts->minute < 0 || parts->minute > 59 || !text.empty()) return std::nullopt;
  return parts;
}

}  // namespace

std::string local_time(Timestamp at) { return local(at, "%Y-%m-%d %H:%M"); }
std::string local_clock(Timestamp at) { return local(at, "%H:%M:%S"); }
std::string local_time(const std::optional<Timestamp>& at) { return at ? local_time(*at) : ""; }

Timestamp present() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return Timestamp{std::chrono::duration_cast<std::chrono::milliseconds>(now).count()};
}

Result<TimeRange> parse_month(std::string_view text) {
  std::string_view rest = text;
  auto parts = take_month(rest);
  if (!parts || !rest.empty()) {
    return invalid("month", cardhour::text("not a month: {}", "不是有效的月份：{}", text),
                   Text{"Write it like 2026-11.", "请写成 2026-11 这样的形式。"});
  }
  TimeRange range;
  range.from = from_local(*parts);
  ++parts->month;
  range.to = from_local(*parts);
  return range;
}

Result<Timestamp> parse_moment(const std::string& field, std::string_view text) {
  if (const auto parts = take_moment(text)) return from_local(*parts);
  if (const auto at = parse_rfc3339(text)) return *at;
  return invalid(field, cardhour::text("not a time: {}", "不是有效的时间：{}", text),
                 Text{"Write it like 2026-11-03, \"2026-11-03 10:30\" or 2026-11-03T10:30:00Z.",
                      "请写成 2026-11-03、\"2026-11-03 10:30\" 或 2026-11-03T10:30:00Z。"});
}

Result<int64_t> parse_gib(const std::string& field, std::string_view text) {
  const bool bare = !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
  Result<int64_t> bytes = parse_size(bare ? std::string(text) + "G" : std::string(text));
  if (!bytes) bytes.error().field = field;
  return bytes;
}

std::string price(const Currency& currency, Money money) {
  std::string digits = to_decimal(money);  // six decimals
  const size_t kept = digits.size() - 6 + static_cast<size_t>(currency.decimals);
  while (digits.size() > kept && digits.back() == '0') digits.pop_back();
  if (digits.back() == '.') digits.pop_back();
  const bool negative = digits[0] == '-';
  return (negative ? "-" : "") + currency.symbol + digits.substr(negative ? 1 : 0);
}

std::string per_hour(const Currency& currency, Money money) {
  return price(currency, money) + "/h";
}

std::string csv_field(std::string_view text, CsvField kind) {
  const bool formula = kind == CsvField::people && !text.empty() &&
                       std::string_view("=+-@\t\r").find(text[0]) != std::string_view::npos;
  std::string plain = (formula ? "'" : "") + std::string(text);
  if (plain.find_first_of(",\"\r\n") == std::string::npos) return plain;
  std::string out = "\"";
  for (const char c : plain) {
    if (c == '"') out.push_back('"');
    out.push_back(c);
  }
  return out + "\"";
}

std::string cores(int millicores) {
  if (millicores % 1000 == 0) return std::to_string(millicores / 1000);
  return fmt::format("{}.{}", millicores / 1000, millicores % 1000 / 100);
}

std::string shell_quoted(std::string_view text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._/:=@%+,";
  const bool plain = !text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos;
  if (plain) return std::string(text);
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace cardhour::cli
