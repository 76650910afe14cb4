// The command line of renters and operators: everything that `cardhour` does but run a
// server. Talks to a server over its API alone. Call once, on the main thread.
#pragma once

#include <string>
#include <vector>

namespace cardhour {

// The exit code: 0 done, 1 failed, 2 usage, 3 not logged in or not allowed, 4 not found,
// 5 conflict, 6 no capacity, 7 not enough balance, 8 limit or quota, 9 server unreachable,
// 130 after Ctrl-C.
int cli_main(int argc, char** argv);

}  // namespace cardhour
