// A bill as CSV and as text for people. Thread-safe: pure functions.
#pragma once

#include <string>

#include "base/error.h"
#include "wire/wire.h"

namespace cardhour::cli {

// One line per segment, with micro-units, and no total: sums are the reader's.
std::string bill_csv(const wire::BillView& bill);

// Lines, total and card-hours; with `explained` also how each amount comes about.
std::string bill_text(const wire::BillView& bill, Language language);

}  // namespace cardhour::cli
