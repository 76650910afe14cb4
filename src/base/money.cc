#include "base/money.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

#include "base/check.h"

namespace cardhour {
namespace {

using Wide = __int128;

constexpr int64_t kMicroPerUnit = 1'000'000;

Money narrow(Wide value) {
  CHECK(value >= INT64_MIN && value <= INT64_MAX, "money overflow");
  return Money{static_cast<int64_t>(value)};
}

int64_t power_of_ten(int exponent) {
  int64_t value = 1;
  while (exponent-- > 0) value *= 10;
  return value;
}

}  // namespace

Money Money::operator-() const { return narrow(-Wide{micro}); }
Money& Money::operator+=(Money other) { return *this = *this + other; }
Money& Money::operator-=(Money other) { return *this = *this - other; }
Money operator+(Money a, Money b) { return narrow(Wide{a.micro} + b.micro); }
Money operator-(Money a, Money b) { return narrow(Wide{a.micro} - b.micro); }
Money operator*(Money a, int64_t count) { return narrow(Wide{a.micro} * count); }

Money due(const Rate& rate, int64_t quantity, Duration elapsed) {
  CHECK(quantity >= 0 && elapsed.ms >= 0 && rate.per_period.micro >= 0, "due() of a negative");
  CHECK(rate.period.ms > 0, "a rate has a period");
  // The rate times the quantity fits 64 bits (limits.h), so the product fits 127.
  const Money per_period = rate.per_period * quantity;
  return narrow(Wide{per_period.micro} * elapsed.ms / rate.period.ms);
}

Duration affordable(Money per_hour, Money funds) {
  CHECK(funds.micro >= 0 && per_hour.micro >= 0, "affordable() of a negative");
  if (per_hour.micro == 0) return kForever;
  // The largest t with floor(p * t / H) <= f is the largest t with p * t < (f + 1) * H.
  const Wide limit = (Wide{funds.micro} + 1) * hours(1).ms - 1;
  const Wide t = limit / per_hour.micro;
  return t > kForever.ms ? kForever : Duration{static_cast<int64_t>(t)};
}

Money discounted(Money price, int64_t basis_points) {
  CHECK(price.micro >= 0 && basis_points >= 0, "discount of a negative");
  return narrow((Wide{price.micro} * basis_points + 5'000) / 10'000);
}

std::string format(const Currency& currency, Money money) {
  CHECK(currency.decimals >= 0 && currency.decimals <= 3, "currency decimals");
  const int64_t step = kMicroPerUnit / power_of_ten(currency.decimals);
  const bool negative = money.micro < 0;
  const Wide magnitude = negative ? -Wide{money.micro} : Wide{money.micro};
  const auto rounded = static_cast<int64_t>((magnitude + step / 2) / step);
  const int64_t scale = power_of_ten(currency.decimals);
  const char* sign = negative && rounded != 0 ? "-" : "";
  if (currency.decimals == 0) return fmt::format("{}{}{}", sign, currency.symbol, rounded);
  return fmt::format("{}{}{}.{:0{}}", sign, currency.symbol, rounded / scale, rounded % scale,
                     currency.decimals);
}

std::string to_decimal(Money money) {
  const bool negative = money.micro < 0;
  const auto magnitude =
      static_cast<unsigned long long>(negative ? -Wide{money.micro} : Wide{money.micro});
  // By hand: an answer of the API has hundreds of them.
  std::array<char, 32> text;
  char* at = text.data();
  if (negative) *at++ = '-';
  at = std::to_chars(at, text.data() + text.size(), magnitude / kMicroPerUnit).ptr;
  *at++ = '.';
  auto part = static_cast<unsigned>(magnitude % kMicroPerUnit);
  for (int i = 5; i >= 0; --i, part /= 10) at[i] = static_cast<char>('0' + part % 10);
  return std::string(text.data(), at + 6);
}

Result<Money> parse_money(std::string_view text) {
  const auto bad = [&] {
    return fail(ErrorCode::invalid_argument, Text{"not an amount of money", "不是有效的金额"},
                Text{"write it like 12 or 12.50, with at most six decimals",
                     "请写成 12 或 12.50，最多六位小数"});
  };
  const bool negative = !text.empty() && text[0] == '-';
  if (negative) text.remove_prefix(1);
  const size_t dot = text.find('.');
  const std::string_view whole = text.substr(0, dot);
  const std::string_view part = dot == std::string_view::npos ? "" : text.substr(dot + 1);
  if (whole.empty() || whole.size() > 12 || part.size() > 6) return bad();
  if (dot != std::string_view::npos && part.empty()) return bad();
  int64_t value = 0;
  for (char c : whole) {
    if (c < '0' || c > '9') return bad();
    value = value * 10 + (c - '0');
  }
  for (size_t i = 0; i < 6; ++i) {
    const char c = i < part.size() ? part[i] : '0';
    if (c < '0' || c > '9') return bad();
    value = value * 10 + (c - '0');
  }
  return Money{negative ? -value : value};
}

}  // namespace cardhour
