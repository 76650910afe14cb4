// The words of a scenario's command line. Thread-safe.
#pragma once

#include <string>
#include <vector>

#include "app/instances.h"

namespace cardhour {

std::vector<std::string> split_words(const std::string& line);
// What follows `name`, or `fallback`: "as first" -> option(words, "as") is "first".
std::string option(const std::vector<std::string>& words, const std::string& name,
                   const std::string& fallback = "");
// "no-gpu", or "4090 x2" (x1 may be left out), beginning at `index`.
ShapeRequest shape_at(const std::vector<std::string>& words, size_t index);
// These abort on text that is none: a scenario is source code.
Money money_of(const std::string& text);
Duration duration_of(const std::string& text);
// "10:50" of the same day, or of the next one when it has passed.
Timestamp clock_time(const std::string& text, Timestamp now);
std::string time_of_day(Timestamp at);  // "10:50:00.000"

}  // namespace cardhour
