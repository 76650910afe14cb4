#include "tests/scenarios/words.h"

#include <algorithm>
#include <sstream>

#include "base/check.h"

namespace cardhour {

std::vector<std::string> split_words(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

std::string option(const std::vector<std::string>& words, const std::string& name,
                   const std::string& fallback) {
  const auto found = std::ranges::find(words, name);
  if (found == words.end() || found + 1 == words.end()) return fallback;
  return *(found + 1);
}

ShapeRequest shape_at(const std::vector<std::string>& words, size_t index) {
  CHECK(index < words.size(), "a shape: no-gpu, or MODEL xN");
  if (words[index] == "no-gpu") return ShapeRequest{Mode::no_gpu, "", 0};
  ShapeRequest shape{Mode::on_demand, words[index], 1};
  const bool counted = index + 1 < words.size() && words[index + 1].starts_with('x');
  if (counted) shape.gpu_count = std::stoi(words[index + 1].substr(1));
  return shape;
}

Money money_of(const std::string& text) {
  const auto money = parse_money(text);
  CHECK(money.has_value(), text);
  return *money;
}

Duration duration_of(const std::string& text) {
  if (text == "0s") return Duration{};
  const auto duration = parse_duration(text);
  CHECK(duration.has_value(), text);
  return *duration;
}

Timestamp clock_time(const std::string& text, Timestamp now) {
  const std::string full = text.size() == 5 ? text + ":00" : text;
  const auto at = parse_rfc3339(to_rfc3339(now).substr(0, 11) + full + "Z");
  CHECK(at.has_value(), text);
  return *at < now ? *at + days(1) : *at;
}

std::string time_of_day(Timestamp at) { return to_rfc3339(at).substr(11, 12); }

}  // namespace cardhour
