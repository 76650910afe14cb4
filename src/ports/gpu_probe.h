// GpuProbe: what the driver of this host says about its cards. Implementations: NVML by
// dlopen in a child process with a deadline (adapters/gpu), and a scripted one for tests.
// A driver that hangs is engine_failed after a few seconds, and at once while it still hangs.
// Thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/id.h"
#include "domain/telemetry.h"

namespace cardhour {

// One card as the driver reports it. What the driver does not know ([N/A]) is nullopt:
// unknown is neither zero nor absent.
struct ProbedCard {
  CardId uuid;              // "GPU-..."
  std::string name;         // "NVIDIA GeForce RTX 4090"
  std::string pci_address;  // "0000:01:00.0", lower case, as sysfs and Incus write it
  int index = 0;
  std::optional<int64_t> memory_total_bytes;
  std::optional<int64_t> memory_used_bytes;
  std::optional<std::string> compute_capability;  // "8.9"
  std::optional<int> numa_node;
  std::string fault;  // why the card cannot be used; empty when healthy
};

struct ProbedGpus {
  std::string driver_version;     // "550.54.14"; empty when there is no driver
  std::string cuda_version;       // "12.4"
  bool simulated = false;         // the library says that it is the simulated one
  std::vector<ProbedCard> cards;  // ordered by PCI address
};

class GpuProbe {
 public:
  virtual ~GpuProbe() = default;
  // No driver and no library is an answer (no cards), not an error.
  virtual Result<ProbedGpus> probe() = 0;
  // Readings, processes, and the errors reported since the call before.
  virtual Result<GpuSample> sample() = 0;
};

}  // namespace cardhour
