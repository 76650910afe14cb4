#include "cli/suggest.h"

#include <algorithm>

namespace cardhour::cli {

int edit_distance(std::string_view a, std::string_view b) {
  const size_t width = b.size() + 1;
  std::vector<int> cells((a.size() + 1) * width);
  const auto at = [&](size_t i, size_t j) -> int& { return cells[i * width + j]; };
  for (size_t i = 0; i <= a.size(); ++i) at(i, 0) = static_cast<int>(i);
  for (size_t j = 0; j <= b.size(); ++j) at(0, j) = static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      const int replaced = at(i - 1, j - 1) + (a[i - 1] == b[j - 1] ? 0 : 1);
      at(i, j) = std::min({at(i - 1, j) + 1, at(i, j - 1) + 1, replaced});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) at(i, j) = std::min(at(i, j), at(i - 2, j - 2) + 1);
    }
  }
  return at(a.size(), b.size());
}

std::optional<std::string> nearest(std::string_view typed, const std::vector<std::string>& known) {
  constexpr size_t kTypedMax = 40;  // longer text is no slip of a command's name
  if (typed.empty() || typed.size() > kTypedMax) return std::nullopt;
  for (const std::string& word : known) {
    if (typed.size() >= 3 && word.starts_with(typed)) return word;
  }
  const int edits_max = typed.size() <= 4 ? 1 : 2;
  std::optional<std::string> best;
  int best_edits = edits_max + 1;
  for (const std::string& word : known) {
    const int edits = edit_distance(typed, word);
    if (edits < best_edits) {
      best = word;
      best_edits = edits;
    }
  }
  return best;
}

}  // namespace cardhour::cli
