// catalog/gpu-models.toml and catalog/prices.toml: the GPU models with their published
// specifications, and the default price book. A file is read whole or refused whole; every
// error names the file and the line. Called at start-up by bin/. Thread-safe: no state.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "domain/catalog.h"
#include "domain/pricing.h"

namespace cardhour {

// Refuses unknown and missing keys, a key or driver name twice, and figures that cannot be.
Result<Catalog> load_catalog(const std::string& path);

// Refuses models that the catalog lacks. Amounts are text, per hour, at least zero.
Result<std::vector<Price>> load_prices(const std::string& path, const Catalog& catalog);

}  // namespace cardhour
