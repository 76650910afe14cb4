// SimShelf: the BackupShelf as a list; what the copies hold is the simulation's own matter.
// Thread-safe.
#pragma once

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include "ports/backup_shelf.h"

namespace cardhour {

class SimShelf final : public BackupShelf {
 public:
  Result<std::vector<BackupFile>> list() override {
    const std::lock_guard lock(mutex_);
    return files_;
  }
  Result<BackupFile> make(Timestamp now) override {
    const std::lock_guard lock(mutex_);
    if (is_full_) {
      return fail(ErrorCode::store_unavailable, Text{"the shelf is full", "备份空间已满"});
    }
    const BackupFile file{"backup-" + std::to_string(++made_), now, 1};
    files_.insert(files_.begin(), file);
    return file;
  }
  Status remove(const BackupFile& file) override {
    const std::lock_guard lock(mutex_);
    std::erase(files_, file);
    return {};
  }

  void set_full(bool is_full) {
    const std::lock_guard lock(mutex_);
    is_full_ = is_full;
  }

 private:
  std::mutex mutex_;
  std::vector<BackupFile> files_;
  int made_ = 0;
  bool is_full_ = false;
};

}  // namespace cardhour
