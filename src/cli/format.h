// Values as people read them, and what people type as values: times in the reader's zone,
// months, money, CSV. The zone is the one of TZ. Thread-safe but for a change of TZ.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/money.h"
#include "base/time.h"

namespace cardhour::cli {

// "2026-12-01 08:30", local.
std::string local_time(Timestamp at);
// "08:30:05", local.
std::string local_clock(Timestamp at);
std::string local_time(const std::optional<Timestamp>& at);  // "" when absent
Timestamp present();

struct TimeRange {
  Timestamp from;
  Timestamp to;  // exclusive
};
// "2026-11": the calendar month, local.
Result<TimeRange> parse_month(std::string_view text);
// "2026-11-03", "2026-11-03 10:30" (local), or RFC 3339.
Result<Timestamp> parse_moment(const std::string& field, std::string_view text);

// "24G" as bytes; a bare number counts GiB, because nobody rents 24 bytes.
Result<int64_t> parse_gib(const std::string& field, std::string_view text);

// A price with as many decimals as it has, at least the currency's: "¥1.98", "¥0.0066".
std::string price(const Currency& currency, Money money);
// "¥1.98/h"
std::string per_hour(const Currency& currency, Money money);

// A field of CSV (RFC 4180): quoted where needed. Text of people that a spreadsheet would
// run as a formula gets an apostrophe in front.
enum class CsvField { machine, people };
std::string csv_field(std::string_view text, CsvField kind = CsvField::machine);

// "3.5" cores of 3500.
std::string cores(int millicores);
// 'it'\''s': one word for a shell.
std::string shell_quoted(std::string_view text);

}  // namespace cardhour::cli
