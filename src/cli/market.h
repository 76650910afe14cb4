// What the market's commands lend to others.
#pragma once

#include "cli/command.h"

namespace cardhour::cli {

// The price book: `prices` and `admin price ls`.
Outcome show_prices(Context& context, const Arguments& arguments);

}  // namespace cardhour::cli
