#include "sim/shrink.h"

#include <algorithm>
#include <cctype>
#include <sstream>

namespace cardhour {

std::vector<std::string> shrink(
    std::vector<std::string> lines,
    const std::function<bool(const std::vector<std::string>&)>& still_fails,
    const std::function<bool()>& may_go_on) {
  size_t chunk = std::max<size_t>(lines.size() / 2, 1);
  while (!lines.empty()) {
    bool any = false;
    // From the end: what comes late needs what came before, and seldom the other way round.
    for (size_t end = lines.size(); end > 0;) {
      if (!may_go_on()) return lines;
      const size_t begin = end > chunk ? end - chunk : 0;
      std::vector<std::string> fewer(lines.begin(), lines.begin() + static_cast<long>(begin));
      fewer.insert(fewer.end(), lines.begin() + static_cast<long>(end), lines.end());
      if (still_fails(fewer)) {
        lines = std::move(fewer);
        any = true;
      }
      end = begin;
    }
    if (chunk == 1 && !any) break;
    chunk = any && chunk == 1 ? 1 : std::max<size_t>(chunk / 2, 1);
  }
  return lines;
}

std::string kind_of_failure(const std::string& broken) {
  std::string kind;
  std::istringstream words(broken);
  for (std::string word; words >> word;) {
    const bool has_digit =
        std::ranges::any_of(word, [](unsigned char c) { return std::isdigit(c); });
    kind += has_digit ? "# " : word + " ";
  }
  return kind;
}

}  // namespace cardhour
