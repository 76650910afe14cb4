// Series: the numbers of a card or an instance over time, kept as 10 s for a day, 1 min for a
// month and 1 h for a year. A slot holds a fixed row of numbers; unknown is NaN, and a slot that
// was never written is a gap, which stays one. Pure.
#pragma once

#include <array>
#include <boost/describe/enum.hpp>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/time.h"

namespace cardhour {

enum class SeriesKind { card, instance };
BOOST_DESCRIBE_ENUM(SeriesKind, card, instance)

struct SeriesId {
  SeriesKind kind = SeriesKind::card;
  std::string text;  // the card's UUID or the instance's id

  auto operator<=>(const SeriesId&) const = default;
};

// How several rows become one.
enum class Combine { mean, highest, lowest };

struct SeriesColumn {
  std::string_view name;  // with its unit last
  Combine combine;
};
inline constexpr size_t kSeriesColumns = 15;
using SeriesRow = std::array<float, kSeriesColumns>;  // NaN: unknown

inline constexpr std::array<SeriesColumn, kSeriesColumns> kCardColumns = {{
    {"gpu_percent", Combine::mean},
    {"gpu_percent_highest", Combine::highest},
    {"memory_percent", Combine::mean},
    {"memory_used_bytes", Combine::mean},
    {"power_watts", Combine::mean},
    {"temperature_celsius", Combine::highest},
    {"sm_clock_mhz", Combine::mean},
    {"memory_clock_mhz", Combine::mean},
    {"throttled_percent", Combine::mean},  // of the time, by heat or a power brake
    {"pcie_sent_bytes_per_second", Combine::mean},
    {"pcie_received_bytes_per_second", Combine::mean},
    {"nvlink_sent_bytes_per_second", Combine::mean},
    {"nvlink_received_bytes_per_second", Combine::mean},
    {"ecc_corrected", Combine::highest},
    {"ecc_uncorrected", Combine::highest},
}};

inline constexpr std::array<SeriesColumn, kSeriesColumns> kInstanceColumns = {{
    {"cpu_percent", Combine::mean},  // of what its shape has
    {"cpu_percent_highest", Combine::highest},
    {"memory_used_bytes", Combine::mean},
    {"disk_read_bytes_per_second", Combine::mean},
    {"disk_written_bytes_per_second", Combine::mean},
    {"network_received_bytes_per_second", Combine::mean},
    {"network_sent_bytes_per_second", Combine::mean},
    {"processes", Combine::highest},
    {"sessions", Combine::highest},
    {"gpu_percent", Combine::mean},             // of its cards together
    {"gpu_percent_highest", Combine::highest},  // of the busiest card
    {"gpu_percent_lowest", Combine::lowest},    // of the idlest card
    {"gpu_memory_used_bytes", Combine::mean},   // the sum of its cards
    {"gpu_power_watts", Combine::mean},         // the same
    {"gpu_processes", Combine::highest},
}};

std::span<const SeriesColumn, kSeriesColumns> columns_of(SeriesKind kind);
// The place of a column in a row; CHECKs the name.
size_t column_of(SeriesKind kind, std::string_view name);

SeriesRow unknown_row();

struct SeriesPoint {
  Timestamp at;  // where its slot begins
  SeriesRow values;
};

struct SeriesTier {
  Duration step;
  int64_t slots;
};
inline constexpr std::array<SeriesTier, 3> kSeriesTiers = {{
    {seconds(10), 8'640},  // a day
    {minutes(1), 44'640},  // 31 days
    {hours(1), 8'784},     // 366 days
}};

// One row from several, by the columns' rules; unknown where all are.
SeriesRow combine(SeriesKind kind, std::span<const SeriesPoint> points);

// Rows of `step` from finer ones in order of time; a step without a row is left out.
std::vector<SeriesPoint> resample(SeriesKind kind, std::span<const SeriesPoint> points,
                                  Duration step);

// What to read for a range: a tier that still has `from`, and a step that is a multiple of its
// own. `step` nullopt: about 300 points.
struct SeriesPlan {
  size_t tier = 0;
  Duration step;
};
// invalid_argument: an empty range, or more points than limits::kSeriesPointsMax.
Result<SeriesPlan> plan_range(Timestamp from, Timestamp to, std::optional<Duration> step,
                              Timestamp now);

}  // namespace cardhour
