// Shells: interactive programs on a terminal inside instances. Production is Incus
// (adapters/incus), the twin is adapters/sim; both pass tests/conformance/shell_conformance.h.
// Nothing here blocks. What is asked for is answered by a callback on a thread of the
// adapter's, never inside the call that asked, and one at a time for each shell. So a reader
// who does not ask holds the program back, as a terminal does, and nothing piles up.
// Thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/id.h"

namespace cardhour {

struct ShellSize {
  int columns = 80;
  int rows = 24;
};

// Some output, or the end.
struct ShellOutput {
  std::string bytes;  // at most 64 KiB; empty: it ended
  std::optional<int> exit_code;
  std::optional<Error> failure;  // it ended, or never began, for a reason that is not its own
};

class Shell {
 public:
  // Hangs it up. A callback may still come after that.
  virtual ~Shell() = default;

  // Calls back once there is output, or the end. One at a time.
  virtual void read(std::function<void(ShellOutput)> done) = 0;
  // Calls back once the engine took it all, or when it ended. One at a time.
  virtual void write(std::string bytes, std::function<void()> done) = 0;
  virtual void resize(ShellSize size) = 0;
  // Hangs it up; the end follows in read.
  virtual void end() = 0;
};

class Shells {
 public:
  virtual ~Shells() = default;
  // Begins a login shell of root's in /root. Why it could not comes by read.
  virtual std::unique_ptr<Shell> open(const InstanceId& id, ShellSize size) = 0;
};

}  // namespace cardhour
