// JSON to wire structs and back, for the whole CLI: the only file here that pulls the JSON
// codec in. Unknown members of answers are ignored, so that an older CLI reads a newer
// server. Thread-safe: pure functions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"

namespace cardhour::cli {

// Instantiated in decode.cc for each type in use. A body that does not fit is an
// `internal` error that says so: server and CLI do not match.
template <class T>
Result<T> decode(const std::string& json);
template <class T>
std::string encode(const T& value);

// JSON indented for people and files, with a final newline; text that is not JSON as is.
std::string pretty_json(const std::string& json);

// The items of several pages as one page without `next`, as JSON.
std::string joined_pages(const std::vector<std::string>& pages);
// `next` of a page.
Result<std::optional<std::string>> next_page(const std::string& json);

// What a refused request answered: a problem document, or something else (a proxy's page).
// Codes that this CLI does not know are mapped by the problem's own exit code.
Error problem_error(int http_status, const std::string& body);

}  // namespace cardhour::cli
