#include "cli/width.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

namespace cardhour::cli {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

// Unicode 15, East_Asian_Width W and F, joined where only unassigned points lie between.
constexpr std::array<Range, 39> kWide = {{
    {0x1100, 0x115F}, {0x231A, 0x231B}, {0x2329, 0x232A}, {0x23E9, 0x23EC}, {0x23F0, 0x23F0},
    {0x23F3, 0x23F3}, {0x25FD, 0x25FE}, {0x2614, 0x2615}, {0x2648, 0x2653}, {0x267F, 0x267F},
    {0x2693, 0x2693}, {0x26A1, 0x26A1}, {0x26AA, 0x26AB}, {0x26BD, 0x26BE}, {0x26C4, 0x26C5},
    {0x26CE, 0x26CE}, {0x26D4, 0x26D4}, {0x26EA, 0x26EA}, {0x26F2, 0x26F3}, {0x26F5, 0x26F5},
    {0x26FA, 0x26FA}, {0x26FD, 0x26FD}, {0x2705, 0x2705}, {0x270A, 0x270B}, {0x2728, 0x2728},
    {0x274C, 0x274C}, {0x274E, 0x274E}, {0x2753, 0x2755}, {0x2757, 0x2757}, {0x2795, 0x2797},
    {0x2E80, 0x303E}, {0x3041, 0x33FF}, {0x3400, 0x4DBF}, {0x4E00, 0xA4CF}, {0xA960, 0xA97F},
    {0xAC00, 0xD7A3}, {0xF900, 0xFAFF}, {0xFE10, 0xFE6F}, {0xFF01, 0xFF60},
}};
constexpr std::array<Range, 4> kWideHigh = {{
    {0xFFE0, 0xFFE6},
    {0x16FE0, 0x1B2FF},
    {0x1F300, 0x1FAFF},
    {0x20000, 0x3FFFD},
}};
// Combining marks and invisible characters that people meet; sorted.
constexpr std::array<Range, 14> kZero = {{
    {0x0300, 0x036F},
    {0x0483, 0x0489},
    {0x0591, 0x05BD},
    {0x0610, 0x061A},
    {0x064B, 0x065F},
    {0x0E31, 0x0E31},
    {0x0E34, 0x0E3A},
    {0x0E47, 0x0E4E},
    {0x200B, 0x200F},
    {0x2060, 0x2064},
    {0x20D0, 0x20F0},
    {0xFE00, 0xFE0F},
    {0xFE20, 0xFE2F},
    {0xE0100, 0xE01EF},
}};

bool within(std::span<const Range> ranges, char32_t point) {
  return std::any_of(ranges.begin(), ranges.end(), [point](const Range& range) {
    return point >= range.first && point <= range.last;
  });
}

int point_width(char32_t point) {
  if (point < 0x300) return 1;
  if (within(kZero, point)) return 0;
  return within(kWide, point) || within(kWideHigh, point) ? 2 : 1;
}

// Would let a name rearrange or hide what stands around it.
bool steers(char32_t point) {
  return point < 0x20 || (point >= 0x7F && point < 0xA0) || (point >= 0x202A && point <= 0x202E) ||
         (point >= 0x2066 && point <= 0x2069) || point == 0x2028 || point == 0x2029;
}

struct Character {
  char32_t point = 0;
  size_t bytes = 1;
  bool valid = false;
};

Character decode(std::string_view text) {
  const auto lead = static_cast<uint8_t>(text[0]);
  if (lead < 0x80) return {lead, 1, true};
  const size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) return {lead, 1, false};
  char32_t point = lead & (0xFFU >> (bytes + 1));
  for (size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<uint8_t>(text[i]);
    if ((next & 0xC0U) != 0x80) return {lead, 1, false};
    point = (point << 6U) | (next & 0x3FU);
  }
  const bool overlong = (bytes == 3 && point < 0x800) || (bytes == 4 && point < 0x10000);
  const bool surrogate = point >= 0xD800 && point <= 0xDFFF;
  if (overlong || surrogate || point > 0x10FFFF) return {lead, 1, false};
  return {point, bytes, true};
}

enum class Breaks { replace, keep };

std::string cleaned(std::string_view text, Breaks breaks) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Character c = decode(text);
    const bool kept_break = breaks == Breaks::keep && c.point == '\n';
    if (c.valid && (kept_break || !steers(c.point))) {
      out.append(text.substr(0, c.bytes));
    } else {
      out.push_back('?');
    }
    text.remove_prefix(c.bytes);
  }
  return out;
}

}  // namespace

int display_width(std::string_view text) {
  int width = 0;
  while (!text.empty()) {
    const Character c = decode(text);
    width += c.valid ? point_width(c.point) : 1;
    text.remove_prefix(c.bytes);
  }
  return width;
}

std::string clean(std::string_view text) { return cleaned(text, Breaks::replace); }
std::string clean_lines(std::string_view text) { return cleaned(text, Breaks::keep); }

std::string padded(std::string_view text, int columns, Align align) {
  const int missing = std::max(0, columns - display_width(text));
  const std::string space(static_cast<size_t>(missing), ' ');
  return align == Align::left ? std::string(text) + space : space + std::string(text);
}

std::string shortened(std::string_view text, int columns) {
  if (display_width(text) <= columns) return std::string(text);
  std::string out;
  int used = 0;
  while (!text.empty()) {
    const Character c = decode(text);
    const int width = c.valid ? point_width(c.point) : 1;
    if (used + width > columns - 1) break;
    out.append(text.substr(0, c.bytes));
    used += width;
    text.remove_prefix(c.bytes);
  }
  return out + "…";
}

}  // namespace cardhour::cli
