// Documents that the program prints of itself.
#pragma once

#include <string>

#include "base/error.h"

namespace cardhour {

// api/openapi.json, from the endpoint list.
Result<std::string> openapi_text();

}  // namespace cardhour
