// A copy of a live database into one file. Thread-safe as its connection is.
#pragma once

#include <string>

#include "adapters/sql/connection.h"

namespace cardhour::sql {

// Copies the committed state to `path`, replacing what is there: written beside it, flushed to
// the disk, then renamed, so that `path` is at all times a whole copy or the one before. Only
// the owner can read it. Not inside a transaction.
Status copy_database(Connection& connection, const std::string& path);

}  // namespace cardhour::sql
