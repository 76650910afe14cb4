// BackupShelf: where copies of the database lie. Production is a directory (adapters/sql), the
// twin is adapters/sim. A copy is whole or not there; secret.key is never in one. Calls block
// as long as a copy takes; none is made inside a transaction. Thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/time.h"

namespace cardhour {

struct BackupFile {
  std::string name;  // "cardhour-20261201T031500Z.db"
  Timestamp made_at;
  int64_t bytes = 0;

  bool operator==(const BackupFile&) const = default;
};

class BackupShelf {
 public:
  virtual ~BackupShelf() = default;

  // Only what make() made, newest first.
  virtual Result<std::vector<BackupFile>> list() = 0;
  // Copies what is committed now, while it is in use.
  virtual Result<BackupFile> make(Timestamp now) = 0;
  // Nothing to do when it is gone.
  virtual Status remove(const BackupFile& file) = 0;
};

}  // namespace cardhour
