#include "base/size.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

namespace cardhour {
namespace {

constexpr int64_t kPiB = kGiB << 20;

struct Unit {
  std::string_view shown;
  int64_t bytes;
};
constexpr std::array<Unit, 6> kUnits = {
    {{"PiB", kPiB}, {"TiB", kGiB << 10}, {"GiB", kGiB}, {"MiB", kMiB}, {"KiB", 1024}, {"B", 1}}};

char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

// "", "B", "G", "GB" and "GiB" (any case) for a unit shown as "GiB".
bool names_unit(std::string_view typed, std::string_view shown) {
  std::string folded;
  for (char c : typed) folded.push_back(upper(c));
  if (shown == "B") return folded.empty() || folded == "B";
  const std::string letter(1, shown[0]);
  return folded == letter || folded == letter + "B" || folded == letter + "IB";
}

std::optional<int64_t> unit_bytes(std::string_view typed) {
  for (const Unit& unit : kUnits) {
    if (names_unit(typed, unit.shown)) return unit.bytes;
  }
  return std::nullopt;
}

}  // namespace

Result<int64_t> parse_size(std::string_view text) {
  const auto bad = [] {
    return fail(ErrorCode::invalid_argument, Text{"not a size", "不是有效的容量"},
                Text{"write a whole number like 24G, 512M or 2T, at most 1024T",
                     "请写成整数加单位，如 24G、512M 或 2T，最大 1024T"});
  };
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  if (digits == 0 || digits > 16) return bad();
  int64_t count = 0;
  for (char c : text.substr(0, digits)) count = count * 10 + (c - '0');
  std::string_view typed = text.substr(digits);
  if (!typed.empty() && typed[0] == ' ') typed.remove_prefix(1);
  const auto unit = unit_bytes(typed);
  if (!unit || count > kPiB / *unit) return bad();
  return count * *unit;
}

std::string for_people_bytes(int64_t bytes) {
  const uint64_t size = bytes < 0 ? 0 - static_cast<uint64_t>(bytes) : static_cast<uint64_t>(bytes);
  size_t i = 0;
  while (i + 1 < kUnits.size() && size < static_cast<uint64_t>(kUnits[i].bytes)) ++i;
  const auto unit = static_cast<uint64_t>(kUnits[i].bytes);
  uint64_t whole = size / unit;
  // Tenths, rounded half-up; the remainder is below 2^50, so that ten of it fit.
  uint64_t tenths = (size % unit * 10 + unit / 2) / unit;
  if (tenths == 10) {
    ++whole;
    tenths = 0;
  }
  const char* sign = bytes < 0 ? "-" : "";
  if (whole == 1024 && i > 0) return fmt::format("{}1 {}", sign, kUnits[i - 1].shown);
  if (tenths == 0) return fmt::format("{}{} {}", sign, whole, kUnits[i].shown);
  return fmt::format("{}{}.{} {}", sign, whole, tenths, kUnits[i].shown);
}

}  // namespace cardhour
