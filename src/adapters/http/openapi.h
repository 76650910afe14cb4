// The OpenAPI 3.1 document, built from the endpoint list and the wire types. It is what
// `/openapi.json` serves and what api/openapi.json holds. Thread-safe.
#pragma once

#include <string>
#include <vector>

#include "adapters/http/router.h"

namespace cardhour::http {

struct OpenApiInfo {
  std::string title = "Cardhour";
  std::string version;
  Language language = Language::en;
};

// Indented JSON with a final newline; the same list gives the same bytes.
std::string openapi_document(const OpenApiInfo& info, const std::vector<Endpoint>& endpoints);

}  // namespace cardhour::http
