// Instances as a table, for ls and admin instance ls. Not thread-safe.
#pragma once

#include <string>
#include <vector>

#include "cli/context.h"
#include "wire/wire.h"

namespace cardhour::cli {

// "running (notice)".
std::string instance_state(const Context& context, const wire::InstanceView& view);

enum class Owner { hide, show };
std::string instance_table(Context& context, const std::vector<wire::InstanceView>& views,
                           Owner owner);

}  // namespace cardhour::cli
