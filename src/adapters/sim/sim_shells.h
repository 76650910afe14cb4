// SimShells: the Shells in memory. A shell says that it is SIMULATED, echoes what is typed as a
// terminal does, and knows: echo, exit [N], stty size, wc -c (until Ctrl-D), yes (until Ctrl-C).
// Like a terminal it takes no input while its output is not read.
// Threads: one, "ch-sim-shell", which runs every callback. Thread-safe.
#pragma once

#include <memory>

#include "ports/engine.h"
#include "ports/shell.h"

namespace cardhour {

class SimShells final : public Shells {
 public:
  // Only instances that the engine shows running have shells. It must outlive this.
  explicit SimShells(Engine& engine);
  ~SimShells() override;

  std::unique_ptr<Shell> open(const InstanceId& id, ShellSize size) override;

 private:
  class Loop;
  class Program;
  class Handle;

  Engine& engine_;
  std::shared_ptr<Loop> loop_;
};

}  // namespace cardhour
