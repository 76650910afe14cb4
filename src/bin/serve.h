// `cardhour serve`: wires ports, control plane, loops, workers and HTTP together, and runs
// until SIGTERM or SIGINT.
#pragma once

namespace cardhour {

// The exit code. Arguments as main's, with "serve" as the first.
int serve_main(int argc, char** argv);

}  // namespace cardhour
