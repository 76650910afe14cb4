// How wide text is in a terminal: East Asian wide characters and emoji take two columns,
// combining marks none. A table of our own, so that it does not depend on the locale.
// Also the border where text of others (names, notes) becomes safe to print.
// Thread-safe: pure functions.
#pragma once

#include <string>
#include <string_view>

namespace cardhour::cli {

// Columns that valid UTF-8 takes; each byte that is not valid counts as one.
int display_width(std::string_view text);

// Text that cannot steer the terminal: control characters (C0, DEL, C1), bidirectional
// overrides and invalid UTF-8 become "?". Line breaks too: it stays one line.
std::string clean(std::string_view text);
// The same for texts of several lines: \n stays.
std::string clean_lines(std::string_view text);

enum class Align { left, right };
// Padded with spaces to `columns`; text that is wider already stays as it is.
std::string padded(std::string_view text, int columns, Align align);

// At most `columns` wide; what is cut off is shown as "…". Never splits a character.
std::string shortened(std::string_view text, int columns);

}  // namespace cardhour::cli
