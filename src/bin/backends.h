// The engine and the GPU probe that the options name. Apart from serve.cc, so that the
// simulated world's names stay out of it. Not thread-safe: called at start.
#pragma once

#include <memory>
#include <string>

#include "base/error.h"
#include "bin/serve_options.h"
#include "ports/clock.h"
#include "ports/engine.h"
#include "ports/gpu_probe.h"
#include "ports/shell.h"

namespace cardhour {

struct Backends {
  std::unique_ptr<GpuProbe> probe;
  std::unique_ptr<Engine> engine;
  std::unique_ptr<Shells> shells;
};

// `state_dir` is for what the engine's adapter keeps.
Result<Backends> make_backends(const ServeOptions& options, const PortRange& ssh_ports,
                               Clock& clock, const std::string& state_dir);

}  // namespace cardhour
