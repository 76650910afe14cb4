// `cardhour-bench serve`: the whole server, threads and HTTP included, over a population that
// was there before, on the simulated engine that runs what the database says.
#pragma once

namespace cardhour::bench {

// Arguments as main's, with "serve" as the first. Prints one line of JSON when it is ready
// ({"url": ..., "token": ...}) and serves until SIGTERM. After SIGUSR1 its engine hangs.
int serve(int argc, char** argv);

}  // namespace cardhour::bench
