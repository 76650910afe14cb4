// The data directory: one server's own (0700), held by an exclusive lock while it runs.
//   cardhour.db   the database        secret.key   seals secrets in it; 0600, made once
//   lock          held by the server  engine/      what the engine adapter keeps
//   backups/      copies of the database, unless the configuration names another place
// Not thread-safe: used at start.
#pragma once

#include <string>

#include "base/crypto.h"
#include "base/error.h"
#include "ports/entropy.h"

namespace cardhour {

class DataDir {
 public:
  // Creates it when it is missing, and locks it. conflict: another server holds it.
  static Result<DataDir> open(const std::string& path);
  ~DataDir();
  DataDir(DataDir&& other) noexcept;
  DataDir(const DataDir&) = delete;
  DataDir& operator=(const DataDir&) = delete;
  DataDir& operator=(DataDir&&) = delete;

  const std::string& path() const { return path_; }
  std::string database() const { return path_ + "/cardhour.db"; }
  std::string engine_state() const { return path_ + "/engine"; }
  std::string backups() const { return path_ + "/backups"; }

  // Reads secret.key, or makes it where there is no database yet. A database without its
  // key is refused: what is sealed in it could never be read again.
  Result<SealKey> secret_key(Entropy& entropy);

 private:
  DataDir(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}
  Status create_key(const std::string& file, Entropy& entropy);

  std::string path_;
  int lock_ = -1;
};

// /var/lib/cardhour for root, else below $XDG_DATA_HOME.
std::string default_data_dir();

}  // namespace cardhour
