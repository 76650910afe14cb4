// Money: a signed 64-bit count of micro-units (10^-6) of the deployment's currency.
// Products use 128-bit integers; overflow is a CHECK. No floating point touches money.
// What people see is rounded once, half-up, at the total. Thread-safe: plain values.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/time.h"

namespace cardhour {

struct Money {
  int64_t micro = 0;

  auto operator<=>(const Money&) const = default;
  Money operator-() const;
  Money& operator+=(Money other);
  Money& operator-=(Money other);
};
Money operator+(Money a, Money b);
Money operator-(Money a, Money b);
// Exact product with a count; CHECKs on overflow.
Money operator*(Money a, int64_t count);

// A price: micro-units per unit of quantity per period (an hour or a day).
struct Rate {
  Money per_period;
  Duration period = hours(1);

  bool operator==(const Rate&) const = default;
};

// floor(rate x quantity x elapsed / period): the one formula of every charge
// (billing rules, "Money and time"). Requires non-negative quantity and elapsed.
Money due(const Rate& rate, int64_t quantity, Duration elapsed);

// The longest elapsed time (whole ms) for which due() is at most `funds`; nullopt-like
// kForever when the rate is zero. Requires funds >= 0.
Duration affordable(Money per_hour, Money funds);
inline constexpr Duration kForever{INT64_MAX / 4};

// price x basis_points / 10000, rounded half-up; used once, when a price is frozen.
Money discounted(Money price, int64_t basis_points);

// How the deployment writes money.
struct Currency {
  std::string code = "CNY";
  std::string symbol = "¥";
  int decimals = 2;  // 0 to 3

  bool operator==(const Currency&) const = default;
};

// "¥1.98": rounded half-up (away from zero) to the currency's decimals.
std::string format(const Currency& currency, Money money);
// "1.980000": all six decimals, without symbol; what API and CSV carry.
std::string to_decimal(Money money);
// Reads "12", "12.5", "-0.000001": at most six decimals, at most 12 integer digits.
Result<Money> parse_money(std::string_view text);

}  // namespace cardhour
