// Backups: copies of the database, made when asked and once in a while, of which the newest
// are kept. Thread-safe.
#pragma once

#include <mutex>
#include <optional>
#include <vector>

#include "app/deps.h"

namespace cardhour {

class Backups {
 public:
  explicit Backups(const Deps& deps) : deps_(deps) {}

  // Newest first. conflict: this server keeps none.
  Result<std::vector<BackupFile>> list();
  Result<BackupFile> make(const Actor& actor);
  // Makes one when the newest is older than the policy's interval.
  Status pass();

  // For /readyz, as last seen by a pass: it does not look at the shelf.
  struct Health {
    bool is_kept = false;  // backups are made at all
    std::optional<Timestamp> newest;
    bool is_overdue = false;  // two intervals without one
  };
  Health health();

 private:
  Result<BackupFile> make(const std::string& actor, const std::string& reason);
  Status drop_old();

  Deps deps_;
  std::mutex mutex_;
  std::optional<Timestamp> newest_;
  std::optional<Timestamp> watched_since_;
};

}  // namespace cardhour
