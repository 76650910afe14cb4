// BackupDirectory: the BackupShelf in a directory of files, 0700, each file 0600. What is not
// named as ours is never listed or removed. Thread-safe.
#pragma once

#include <string>

#include "adapters/sql/sql_store.h"
#include "ports/backup_shelf.h"

namespace cardhour {

class BackupDirectory final : public BackupShelf {
 public:
  // `store` outlives it. The directory is made by the first make().
  BackupDirectory(SqlStore& store, std::string directory)
      : store_(store), directory_(std::move(directory)) {}

  Result<std::vector<BackupFile>> list() override;
  Result<BackupFile> make(Timestamp now) override;
  Status remove(const BackupFile& file) override;

  const std::string& path() const { return directory_; }

 private:
  SqlStore& store_;
  std::string directory_;
};

}  // namespace cardhour
