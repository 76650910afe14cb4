// Files inside an instance, where the renter is root and may have put anything anywhere:
// symbolic links and what is not a regular file are refused, reads are bounded, and a
// write replaces the whole file or nothing, also when the power goes. Thread-safe.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "base/error.h"

namespace cardhour::guest {

// not_found when there is none; too_large above `bytes_max`.
Result<std::string> read_file(const std::string& path, size_t bytes_max);
// What comes from a pipe until its end; too_large above `bytes_max`.
Result<std::string> read_to_end(int descriptor, size_t bytes_max);
// Written beside, synced and renamed. The directory must exist.
Status write_file(const std::string& path, std::string_view content, mode_t mode);
// Writes only when content or mode differ; true when it wrote.
Result<bool> ensure_file(const std::string& path, std::string_view content, mode_t mode);
// The last directory of the path gets this mode, missing ones above it 0755.
Status ensure_directory(const std::string& path, mode_t mode);
bool is_directory(const std::string& path);
// Gone already is fine.
Status remove_file(const std::string& path);

}  // namespace cardhour::guest
