// The shape of a model from a file on this machine: its config.json, or the header of its
// weights (safetensors). Nothing is fetched and no weights are read; what is read is bounded.
// Thread-safe: no state.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "wire/estimate.h"

namespace cardhour::cli {

// A file, or a folder with a config.json in it. not_found: no such file; invalid_argument says
// what was expected of it.
Result<wire::ModelShapeRequest> read_model_file(const std::string& path);

// Any bytes may be given to these.
Result<wire::ModelShapeRequest> parse_config(std::string_view json);
Result<wire::ModelShapeRequest> parse_safetensors_header(std::string_view json);

}  // namespace cardhour::cli
