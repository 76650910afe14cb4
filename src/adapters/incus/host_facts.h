// What the host knows of a container by its first process: SSH sessions by the sockets of its
// network, disk traffic by its control group (version 2, or the blkio tree of version 1).
// nullopt: this host does not tell. Thread-safe: it only reads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cardhour {

struct DiskTraffic {
  int64_t read_bytes = 0;
  int64_t written_bytes = 0;
};

class HostFacts {
 public:
  explicit HostFacts(std::string proc = "/proc", std::string cgroups = "/sys/fs/cgroup")
      : proc_(std::move(proc)), cgroups_(std::move(cgroups)) {}

  std::optional<int64_t> ssh_sessions(int64_t pid) const;
  std::optional<DiskTraffic> disk_traffic(int64_t pid) const;

 private:
  std::string proc_;
  std::string cgroups_;
};

// Established connections to port 22 in the text of /proc/PID/net/tcp or tcp6.
int64_t ssh_connections(std::string_view table);

}  // namespace cardhour
