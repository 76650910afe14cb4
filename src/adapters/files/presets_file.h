// catalog/model-presets.toml: the models that the estimator knows by name. The file is read
// whole or refused whole; every error names the file and the line. Called at start-up by bin/.
// Thread-safe: no state.
#pragma once

#include <string>

#include "base/error.h"
#include "domain/estimate/model.h"

namespace cardhour {

// Refuses unknown and missing keys, a key or name twice, and architectures that cannot be.
Result<estimate::ModelPresets> load_presets(const std::string& path);

}  // namespace cardhour
