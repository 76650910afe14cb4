// The word that was probably meant. Thread-safe: pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cardhour::cli {

// Edits (insert, delete, replace, swap of neighbours) from one word to the other.
int edit_distance(std::string_view a, std::string_view b);

// The first of `known` that begins with `typed` (three letters and more), else the nearest;
// nullopt when none is near: at most one edit in words up to four letters, two in longer ones.
std::optional<std::string> nearest(std::string_view typed, const std::vector<std::string>& known);

}  // namespace cardhour::cli
