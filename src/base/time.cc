#include "base/time.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>

namespace cardhour {
namespace {

constexpr int64_t kDayMs = days(1).ms;
constexpr Duration kLongestTyped = days(3653);  // ten years

// RFC 3339 has four-digit years; what lies outside is written as the nearest instant.
constexpr Timestamp kYear0{-62'167'219'200'000};
constexpr Timestamp kYear9999End{253'402'300'799'999};

// Reads text from the left; every step that fails leaves ok() false for good.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  bool ok() const { return ok_; }
  bool done() const { return ok_ && rest_.empty(); }
  char peek() const { return rest_.empty() ? '\0' : rest_[0]; }
  bool peek_digit() const { return peek() >= '0' && peek() <= '9'; }

  int digits(int count) {
    int value = 0;
    for (; count > 0; --count) value = value * 10 + digit();
    return value;
  }
  int digit() {
    if (!peek_digit()) return fail_with_zero();
    const int value = rest_[0] - '0';
    rest_.remove_prefix(1);
    return value;
  }
  char one_of(std::string_view allowed) {
    if (rest_.empty() || allowed.find(rest_[0]) == std::string_view::npos) {
      fail_with_zero();
      return '\0';
    }
    const char c = rest_[0];
    rest_.remove_prefix(1);
    return c;
  }

 private:
  int fail_with_zero() {
    ok_ = false;
    return 0;
  }

  std::string_view rest_;
  bool ok_ = true;
};

int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

std::optional<int64_t> read_date(Reader& in) {
  const int year = in.digits(4);
  in.one_of("-");
  const int month = in.digits(2);
  in.one_of("-");
  const int day = in.digits(2);
  const std::chrono::year_month_day date{std::chrono::year{year},
                                         std::chrono::month{static_cast<unsigned>(month)},
                                         std::chrono::day{static_cast<unsigned>(day)}};
  if (!in.ok() || !date.ok()) return std::nullopt;
  return std::chrono::sys_days{date}.time_since_epoch().count() * kDayMs;
}

int64_t read_fraction_ms(Reader& in) {
  if (in.peek() != '.') return 0;
  in.one_of(".");
  int64_t ms = 0;
  int64_t worth = 100;
  do {
    ms += in.digit() * worth;
    worth /= 10;
  } while (in.peek_digit());
  return ms;
}

std::optional<int64_t> read_clock(Reader& in) {
  const int hour = in.digits(2);
  in.one_of(":");
  const int minute = in.digits(2);
  in.one_of(":");
  const int second = in.digits(2);
  const int64_t fraction = read_fraction_ms(in);
  // A leap second (:60) is the first second of the next minute.
  if (!in.ok() || hour > 23 || minute > 59 || second > 60) return std::nullopt;
  return hours(hour).ms + minutes(minute).ms + seconds(second).ms + fraction;
}

std::optional<int64_t> read_offset(Reader& in) {
  const char sign = in.one_of("Zz+-");
  if (sign == 'Z' || sign == 'z') return 0;
  const int hour = in.digits(2);
  in.one_of(":");
  const int minute = in.digits(2);
  if (!in.ok() || hour > 23 || minute > 59) return std::nullopt;
  const int64_t offset = hours(hour).ms + minutes(minute).ms;
  return sign == '-' ? -offset : offset;
}

tl::unexpected<Error> bad_time() {
  return fail(ErrorCode::invalid_argument, Text{"not a point in time", "不是有效的时间"},
              Text{"write it like 2026-12-01T08:30:00Z or 2026-12-01T16:30:00+08:00",
                   "请写成 2026-12-01T08:30:00Z 或 2026-12-01T16:30:00+08:00"});
}

tl::unexpected<Error> bad_duration() {
  return fail(ErrorCode::invalid_argument, Text{"not a length of time", "不是有效的时长"},
              Text{"write it like 30m, 4h, 7d or 1h30m, at most ten years",
                   "请写成 30m、4h、7d 或 1h30m，最长十年"});
}

struct Unit {
  std::string_view typed;
  int64_t ms;
};
// In falling order, which is the order in which they may be typed.
constexpr std::array<Unit, 6> kTypedUnits = {{{"w", days(7).ms},
                                              {"d", days(1).ms},
                                              {"h", hours(1).ms},
                                              {"m", minutes(1).ms},
                                              {"s", seconds(1).ms},
                                              {"ms", 1}}};

struct ShownUnit {
  std::string_view en;
  std::string_view zh;
  int64_t ms;
};
constexpr std::array<ShownUnit, 5> kShownUnits = {{{"d", "天", days(1).ms},
                                                   {"h", "小时", hours(1).ms},
                                                   {"min", "分钟", minutes(1).ms},
                                                   {"s", "秒", seconds(1).ms},
                                                   {"ms", "毫秒", 1}}};

}  // namespace

std::string to_rfc3339(Timestamp t) {
  t = std::clamp(t, kYear0, kYear9999End);
  const int64_t day = floor_div(t.ms, kDayMs);
  const int64_t in_day = t.ms - day * kDayMs;
  const std::chrono::year_month_day date{
      std::chrono::sys_days{std::chrono::days{static_cast<int>(day)}}};
  // By hand: an answer of the API has dozens of them.
  std::string text = "0000-00-00T00:00:00.000Z";
  const auto put = [&text](size_t at, size_t digits, int64_t value) {
    for (size_t i = digits; i-- > 0; value /= 10)
      text[at + i] = static_cast<char>('0' + value % 10);
  };
  put(0, 4, static_cast<int>(date.year()));
  put(5, 2, static_cast<unsigned>(date.month()));
  put(8, 2, static_cast<unsigned>(date.day()));
  put(11, 2, in_day / hours(1).ms);
  put(14, 2, in_day / minutes(1).ms % 60);
  put(17, 2, in_day / seconds(1).ms % 60);
  put(20, 3, in_day % 1000);
  return text;
}

Result<Timestamp> parse_rfc3339(std::string_view text) {
  Reader in(text);
  const auto date = read_date(in);
  in.one_of("Tt ");
  const auto clock = read_clock(in);
  const auto offset = read_offset(in);
  if (!date || !clock || !offset || !in.done()) return bad_time();
  return Timestamp{*date + *clock - *offset};
}

Result<Duration> parse_duration(std::string_view text) {
  int64_t total = 0;
  size_t next_unit = 0;
  while (!text.empty()) {
    const size_t digits = text.find_first_not_of("0123456789");
    if (digits == 0 || digits == std::string_view::npos || digits > 15) return bad_duration();
    int64_t count = 0;
    for (char c : text.substr(0, digits)) count = count * 10 + (c - '0');
    text.remove_prefix(digits);

    const std::string_view name = text.substr(0, text.find_first_of("0123456789"));
    while (next_unit < kTypedUnits.size() && kTypedUnits[next_unit].typed != name) ++next_unit;
    if (next_unit == kTypedUnits.size()) return bad_duration();
    text.remove_prefix(name.size());

    const int64_t unit_ms = kTypedUnits[next_unit++].ms;
    if (count > (kLongestTyped.ms - total) / unit_ms) return bad_duration();
    total += count * unit_ms;
  }
  if (total < 1) return bad_duration();
  return Duration{total};
}

std::string for_people(Duration d, Language language) {
  const bool negative = d.ms < 0;
  // The unsigned magnitude exists for the smallest 64-bit value too.
  uint64_t rest = negative ? 0 - static_cast<uint64_t>(d.ms) : static_cast<uint64_t>(d.ms);
  const auto unit = [&](size_t i) { return static_cast<uint64_t>(kShownUnits[i].ms); };
  size_t first = 0;
  while (first + 1 < kShownUnits.size() && rest < unit(first)) ++first;
  if (rest == 0) first = 3;  // "0 s"

  const auto shown = [&](size_t i, uint64_t count) {
    return fmt::format("{} {}", count,
                       language == Language::zh ? kShownUnits[i].zh : kShownUnits[i].en);
  };
  std::string out = (negative ? "-" : "") + shown(first, rest / unit(first));
  rest %= unit(first);
  const size_t second = first + 1;
  // Milliseconds beside seconds are noise.
  if (second < 4 && rest >= unit(second)) out += " " + shown(second, rest / unit(second));
  return out;
}

}  // namespace cardhour
