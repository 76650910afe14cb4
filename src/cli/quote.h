// The price before a start, and the way in after it: what rent, start and show share.
// Not thread-safe.
#pragma once

#include <string>

#include "base/error.h"
#include "cli/context.h"
#include "cli/table.h"
#include "wire/wire.h"

namespace cardhour::cli {

// The true price in a few lines: per hour, hold, what stays when stopped, balance. `image`
// may be empty.
std::string quote_text(Context& context, const wire::QuoteView& quote, const std::string& image);

// insufficient_balance or no_capacity when it cannot be granted as quoted.
Status check_quote(Context& context, const wire::QuoteView& quote);

// "1 × rtx-4090", or "no card".
std::string cards_text(const Context& context, Mode mode, const std::string& model, int count);

// "The disks stay and cost ... a day."
Text stopped_cost_text(Context& context, Money stopped_per_day);

enum class Password { hide, show };
// SSH command, host key fingerprint and, if asked, the password; nothing without a
// connection.
void add_connection(const wire::InstanceView& view, Password password, Facts& facts);

}  // namespace cardhour::cli
