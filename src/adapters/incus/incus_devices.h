// The configuration of an instance as Incus wants it, from what we want. Pure functions.
#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "adapters/incus/incus_engine.h"
#include "base/error.h"
#include "ports/engine.h"

namespace cardhour::incus {

// What never changes after the creation.
boost::json::object fixed_config(const IncusOptions& options, const EngineSpec& spec);
// What every start sets: limits, cards. Null: to be removed.
boost::json::object shape_config(const EngineShape& shape);
// All devices. no-GPU: no device of a card, not even an empty one.
Result<boost::json::object> devices(const IncusOptions& options, const EngineSpec& spec,
                                    const EngineShape& shape);

std::string data_volume_name(const InstanceId& id);
// True when SSH ports are forwarded by NAT: the listen address is one real host address.
bool uses_nat(const std::string& ssh_listen);

}  // namespace cardhour::incus
