// SeriesStore: telemetry over time (domain/series.h). It is apart from the Store, so that it
// never waits for the ledger's writer nor makes it wait; what it holds may be lost with a
// machine that loses its power. Thread-safe.
#pragma once

#include <string>
#include <vector>

#include "domain/series.h"

namespace cardhour {

class SeriesStore {
 public:
  virtual ~SeriesStore() = default;
  // The row of the finest slot at `at`; a second one there replaces it. Coarser slots follow by
  // themselves when their time is over.
  virtual Status append(const SeriesId& id, Timestamp at, const SeriesRow& row) = 0;
  // Rows of one tier in [from, to), in order; what was not written is left out.
  virtual Result<std::vector<SeriesPoint>> read(const SeriesId& id, size_t tier, Timestamp from,
                                                Timestamp to) = 0;
  // The names of all series of a kind.
  virtual Result<std::vector<std::string>> list(SeriesKind kind) = 0;
  // Gone already is success.
  virtual Status remove(const SeriesId& id) = 0;
};

}  // namespace cardhour
