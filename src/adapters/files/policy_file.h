// The optional configuration file of the business: what an operator may change of
// domain/policy.h. Sections [money], [instances], [accounts], [quotas], [estimates]; lengths of
// time and sizes are text ("30s", "2G"), amounts too. Called at start-up by bin/. Thread-safe.
#pragma once

#include <string>

#include "base/error.h"
#include "domain/policy.h"

namespace cardhour {

// Overlays what the file says. An empty path is no file: nothing to do. not_found: no such
// file. invalid_argument names the line of an unknown key or a value that cannot be; the
// policy is untouched then.
Status load_policy(const std::string& path, Policy& policy);

}  // namespace cardhour
