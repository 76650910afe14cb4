// Instants and lengths of time, in whole milliseconds of UTC. A Timestamp minus a
// Timestamp is a Duration. Nothing here reads a clock: the present comes through
// ports/clock.h. Thread-safe: plain values.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace cardhour {

struct Duration {
  int64_t ms = 0;

  auto operator<=>(const Duration&) const = default;
  constexpr Duration operator+(Duration other) const { return {ms + other.ms}; }
  constexpr Duration operator-(Duration other) const { return {ms - other.ms}; }
  constexpr Duration operator*(int64_t count) const { return {ms * count}; }
};
constexpr Duration milliseconds(int64_t n) { return {n}; }
constexpr Duration seconds(int64_t n) { return {n * 1000}; }
constexpr Duration minutes(int64_t n) { return {n * 60'000}; }
constexpr Duration hours(int64_t n) { return {n * 3'600'000}; }
constexpr Duration days(int64_t n) { return {n * 86'400'000}; }

struct Timestamp {
  int64_t ms = 0;  // since 1970-01-01T00:00:00Z

  auto operator<=>(const Timestamp&) const = default;
  constexpr Timestamp operator+(Duration d) const { return {ms + d.ms}; }
  constexpr Timestamp operator-(Duration d) const { return {ms - d.ms}; }
  constexpr Duration operator-(Timestamp other) const { return {ms - other.ms}; }
};

// "2026-12-01T08:30:00.123Z" (RFC 3339, always UTC, milliseconds).
std::string to_rfc3339(Timestamp t);
// Accepts RFC 3339 with Z or an offset, with or without a fraction (truncated to ms).
Result<Timestamp> parse_rfc3339(std::string_view text);

// "4h", "30m", "90s", "7d", "1h30m"; at least 1 ms, at most 10 years.
Result<Duration> parse_duration(std::string_view text);
// "3 h 20 min", "45 s", "2 d 4 h": the two largest units, for people.
std::string for_people(Duration d, Language language);

}  // namespace cardhour
