// RingFiles: the SeriesStore as one file for each series, of fixed size: three rings of slots of
// 64 bytes (10 s, 1 min, 1 h). A slot's place follows from its time, and each carries its time,
// so that what is old, torn or was never written is told from what is new, and no index can be
// out of date. 4 MB for each series at most; parts that were never written take no space.
// Writes go to the page cache and are not waited for: a machine that loses its power may lose
// the last seconds of curves, which is no reason to wait for a disk.
// Thread-safe.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "ports/series.h"

namespace cardhour {

class RingFiles final : public SeriesStore {
 public:
  // Makes the directory. Files of other names in it are left alone.
  static Result<std::unique_ptr<RingFiles>> open(const std::string& directory);

  Status append(const SeriesId& id, Timestamp at, const SeriesRow& row) override;
  Result<std::vector<SeriesPoint>> read(const SeriesId& id, size_t tier, Timestamp from,
                                        Timestamp to) override;
  Result<std::vector<std::string>> list(SeriesKind kind) override;
  Status remove(const SeriesId& id) override;

 private:
  explicit RingFiles(std::string directory) : directory_(std::move(directory)) {}
  std::string path_of(const SeriesId& id) const;

  std::string directory_;
  std::mutex mutex_;                      // of writers
  std::map<SeriesId, Timestamp> newest_;  // the finest slot written last
};

}  // namespace cardhour
