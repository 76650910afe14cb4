// The API's words for people: states, phases, meters, causes. A word of a newer server stays
// as it is. Thread-safe: pure functions.
#pragma once

#include <string>

#include "base/error.h"
#include "domain/instance.h"
#include "domain/ledger.h"
#include "domain/metering.h"

namespace cardhour::cli {

Text state_text(Observed observed);
// "create" -> "making the instance and its disks".
Text phase_text(const std::string& activity);
Text meter_text(Meter meter);
Text cause_text(Cause cause);
Text transaction_text(TransactionKind kind);
// "instance.running" and the like.
Text event_text(const std::string& kind);
// Reasons of events and notices: causes, and what else the server writes.
Text reason_text(const std::string& reason);

// What stands wherever a card is simulated.
inline constexpr const char* kSimulatedMark = "SIMULATED";

}  // namespace cardhour::cli
