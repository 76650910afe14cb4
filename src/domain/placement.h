// Placement: which host and which cards carry a request. Keeps whole hosts free (best fit),
// and within a host keeps NUMA nodes together. Pure: the database guards the outcome.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/id.h"

namespace cardhour {

struct FreeCard {
  CardId uuid;
  std::string pci_address;
  std::optional<int> numa_node;
};

struct HostSpace {
  HostId host;
  int cards_total = 0;               // of every model, healthy or not
  int cards_busy = 0;                // of every model
  std::vector<FreeCard> free_cards;  // of the model asked for
  int64_t disk_free_bytes = 0;       // pool less the sum of quotas
  int no_gpu_slots_free = 0;
};

struct PlacementRequest {
  int cards = 0;                    // 0: a no-GPU run
  int64_t disk_bytes = 0;           // new quota that the host must carry
  std::optional<HostId> only_host;  // where its disks are
};

struct Placement {
  HostId host;
  std::vector<CardId> cards;  // exactly `cards` of them, in PCI order
};

// nullopt when nothing fits. Deterministic: ties go to the smallest host id.
std::optional<Placement> place(const PlacementRequest& request,
                               const std::vector<HostSpace>& hosts);

}  // namespace cardhour
