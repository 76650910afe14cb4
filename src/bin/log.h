// The log: lines on standard error, for the journal. spdlog is in log.cc alone. What a line
// may not hold: passwords, tokens, keys, bodies, queries. Thread-safe.
#pragma once

#include <string>

#include "adapters/http/server.h"
#include "base/error.h"

namespace cardhour::log {

// Before anything else; false when there is no such level (debug, info, warn, error).
bool start(const std::string& level);
void info(const std::string& line);
void warn(const std::string& line);
void error(const std::string& line);

// One line a request: what changes something at info, the rest at debug, our faults as errors.
void request(const http::RequestLog& request);

// "what happened; what to do" in English.
std::string text_of(const Error& error);

}  // namespace cardhour::log
