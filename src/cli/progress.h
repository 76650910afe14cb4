// Waiting for an instance, with progress by phase on stderr. Ctrl-C ends the waiting, never
// the work. Not thread-safe.
#pragma once

#include <string>

#include "base/error.h"
#include "cli/context.h"
#include "wire/wire.h"

namespace cardhour::cli {

struct Waited {
  wire::InstanceView view;  // settled, unless interrupted
  std::string json;         // the answer it came from
  bool interrupted = false;
  Duration elapsed;
};

// Until nothing is in progress any more. The connection may break for up to a minute.
Result<Waited> wait_until_settled(Context& context, Client& client,
                                  const wire::InstanceView& begun);

// "The work goes on ..."; the exit code of an interrupted wait.
Outcome interrupted(const Context& context, const wire::InstanceView& view);

// The instance did not become what was asked: its fault as an error. `aim` is what it should
// be now.
Status check_outcome(const wire::InstanceView& view, Observed aim);

}  // namespace cardhour::cli
