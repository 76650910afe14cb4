// The cards of a simulated driver, as text. What people write is short:
//   8xRTX4090,2xA100-80G
// and what is mounted into an instance, so that it sees exactly its own cards, is long:
//   driver=550.54.14-SIMULATED
//   cuda=12.4
//   uuid=GPU-... name=NVIDIA GeForce RTX 4090 pci=0000:10:00.0 memory=25769803776 used=0 cc=8.9
// Lines of both kinds may be mixed; ';' ends a line too; '#' begins a comment. A line
// "seed=host2" makes the uuids of the short form differ from those of another host with
// the same cards. "fault=lost" on a card: the driver still knows it, but every reading
// fails; "fault=gone": not even a handle is to be had.
// Whatever this describes says that it is simulated, in name and driver version.
// Pure functions; thread-safe. Goes into the simulated library: no fmt, no Boost library.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "ports/gpu_probe.h"

namespace cardhour {

enum class SimulatedFault { none, lost, gone };

struct SimulatedCard {
  std::string uuid;
  std::string name;
  unsigned int pci_domain = 0;
  unsigned int pci_bus = 0;
  unsigned int pci_device = 0;
  int64_t memory_total_bytes = 0;
  int64_t memory_used_bytes = 0;
  int64_t memory_reserved_bytes = 0;  // by the driver, besides what is used
  int compute_major = 0;
  int compute_minor = 0;
  SimulatedFault fault = SimulatedFault::none;
};

struct SimulatedHost {
  std::string driver_version = "550.54.14-SIMULATED";
  int cuda_version = 12040;  // NVML's form: 1000 x major + 10 x minor
  std::vector<SimulatedCard> cards;
};

// At most 64 cards. An empty text is a host without cards.
Result<SimulatedHost> parse_simulated_cards(std::string_view text);

// The long form of these cards; parse_simulated_cards reads it back.
std::string write_simulated_cards(const ProbedGpus& gpus);

}  // namespace cardhour
