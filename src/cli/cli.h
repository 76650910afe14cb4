// The command line of renters and operators: everything that `cardhour` does but run a
// server. Talks to a server over its API alone. Call once, on the main thread.
#pragma once

#include <functional>
#include <string>

#include "base/error.h"

namespace cardhour {

// What a command does on the server's own machine, handed in by the program.
struct LocalActions {
  // Puts a backup in the place of the database; says what was done.
  std::function<Result<Text>(const std::string& data, const std::string& file)> restore;
};

// The exit code: 0 done, 1 failed, 2 usage, 3 not logged in or not allowed, 4 not found,
// 5 conflict, 6 no capacity, 7 not enough balance, 8 limit or quota, 9 server unreachable,
// 130 after Ctrl-C.
int cli_main(int argc, char** argv, const LocalActions& local = {});

}  // namespace cardhour
