// Sizes in bytes: G and GiB both mean 2^30 bytes. Thread-safe: plain values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace cardhour {

inline constexpr int64_t kMiB = int64_t{1} << 20;
inline constexpr int64_t kGiB = int64_t{1} << 30;

// "24G", "24GiB", "512M", "2T", "1073741824"; whole numbers, at most 1 PiB.
Result<int64_t> parse_size(std::string_view text);
// "24 GiB", "512 MiB", "1.5 GiB": one decimal at most, for people.
std::string for_people_bytes(int64_t bytes);

}  // namespace cardhour
