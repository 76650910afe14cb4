// Process table: whose process a GPU process is, by what the host's /proc says: its container
// by the control group, its user inside by the id map, and that user's name by the container's
// own /etc/passwd. What is inside a container is the tenant's to write: it is read through the
// container's root, never past it, a bounded part, and used as text only.
// Thread-safe: it only reads.
#pragma once

#include <string>
#include <string_view>

#include "domain/telemetry.h"

namespace cardhour {

class ProcessTable {
 public:
  explicit ProcessTable(std::string proc = "/proc") : proc_(std::move(proc)) {}
  // Fills in container, uid, user and command of process.pid, as far as they are to be had.
  void describe(GpuProcess& process) const;

 private:
  std::string proc_;
};

// The container of the text of /proc/PID/cgroup: "i0abc" of "0::/lxc.payload.cardhour_i0abc/...";
// empty for a process of the host.
std::string container_of(std::string_view cgroup);

}  // namespace cardhour
