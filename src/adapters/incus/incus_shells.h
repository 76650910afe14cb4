// IncusShells: the Shells on one Incus daemon: an interactive exec, its terminal and its control
// channel each a WebSocket on the unix socket. Only instances of ours that run have shells.
// Threads: "ch-shell-io" runs all of them and every callback, and never blocks; "ch-shell-open"
// makes the calls that do: the beginning of an exec and its end. Thread-safe.
#pragma once

#include <memory>

#include "adapters/incus/incus_engine.h"
#include "ports/shell.h"

namespace cardhour {

class IncusShells final : public Shells {
 public:
  // `engine` says whose an instance is; it outlives this.
  IncusShells(const IncusOptions& options, Engine& engine);
  ~IncusShells() override;

  std::unique_ptr<Shell> open(const InstanceId& id, ShellSize size) override;

 private:
  struct Daemon;
  std::shared_ptr<Daemon> daemon_;
};

}  // namespace cardhour
