// Putting a backup in the place of the database of a data directory. The server is down: the
// directory's lock is taken meanwhile. Invariants: the present database is copied aside before
// anything changes, and nothing is ever written over; a cut at any
// moment leaves the present database, whole here or in the copy aside, or the restored one. Not
// thread-safe: called by the command line.
#pragma once

#include <string>

#include "base/error.h"

namespace cardhour {

// `data` empty: the default one. Says what was done, and where the present database is now.
Result<Text> restore_database(const std::string& data, const std::string& file);

}  // namespace cardhour
