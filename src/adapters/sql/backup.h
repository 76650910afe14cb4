// A copy of a live database into one file. Thread-safe as its connection is.
#pragma once

#include <string>

#include "adapters/sql/connection.h"
#include "domain/adoption.h"

namespace cardhour::sql {

// Copies the committed state to `path`, replacing what is there: written beside it, flushed to
// the disk, then renamed, so that `path` is at all times a whole copy or the one before. Only
// the owner can read it. Not inside a transaction.
Status copy_database(Connection& connection, const std::string& path);

// Reads every page: damage, and rows that point nowhere, are `internal`.
Status check_integrity(Connection& connection);

// Makes `path`, a copy of a backup, into what a server can start on: checks it whole, brings it
// to this binary's schema, and notes the restore in it. conflict: it is not Cardhour's, or is
// newer than the binary.
Status prepare_restored(const std::string& path, const Restore& restore);

}  // namespace cardhour::sql
