// Runs a program inside an instance, with input and bounded output. What comes back was
// written by the tenant's machine, whichever program was asked for: it is untrusted, limited
// in size and time, and touches no file of the host (Incus's own "record-output" would write
// it to the host's disk without a limit).
// Used inside this room only. Thread-safe.
#pragma once

#include <string>
#include <vector>

#include "adapters/incus/incus_client.h"
#include "base/error.h"
#include "base/time.h"

namespace cardhour {

struct ExecRequest {
  std::string instance;
  std::vector<std::string> command;  // no shell
  std::string input;
  Duration patience = seconds(20);
  size_t output_bytes_max = size_t{256} * 1024;  // of stdout, and of stderr
};

struct ExecOutcome {
  int exit_status = 0;
  std::string output;
  std::string errors;
};

// engine_failed when the program cannot be started, does not end in time (it is killed), or
// says too much; an exit status other than 0 is an outcome, not an error.
Result<ExecOutcome> incus_exec(IncusClient& client, const ExecRequest& request);

}  // namespace cardhour
