// Taking fuzz input apart. Thread-safe: pure.
#pragma once

#include <algorithm>
#include <string_view>

namespace cardhour::fuzz {

// The text before the next line break, which is taken off with it.
inline std::string_view take_line(std::string_view& rest) {
  const size_t end = std::min(rest.find('\n'), rest.size());
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return line;
}

}  // namespace cardhour::fuzz
