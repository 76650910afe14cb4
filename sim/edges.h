// Which edge of the lifecycle an event of the log tells of. Thread-safe: pure.
#pragma once

#include <optional>

#include "domain/event.h"
#include "domain/instance.h"

namespace cardhour {

// The edge by the state before the event; nullopt: the event moves nothing.
std::optional<LifecycleEvent> edge_of(Observed before, const Event& event);

}  // namespace cardhour
