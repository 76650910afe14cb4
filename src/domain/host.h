// Hosts and their cards, as Incus's resources joined with NVML say. Pure data.
#pragma once

#include <boost/describe/class.hpp>
#include <boost/describe/enum.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "base/id.h"
#include "base/time.h"

namespace cardhour {

struct Host {
  HostId id;
  std::string name;   // the engine's member name
  int cpu_total = 0;  // logical processors
  int64_t memory_bytes = 0;
  int64_t pool_total_bytes = 0;
  int64_t pool_used_bytes = 0;
  std::string driver_version;  // empty without a driver
  std::string cuda_version;
  Timestamp last_seen_at;  // the last proof of life
  bool reachable = true;
};
BOOST_DESCRIBE_STRUCT(Host, (),
                      (id, name, cpu_total, memory_bytes, pool_total_bytes, pool_used_bytes,
                       driver_version, cuda_version, last_seen_at, reachable))

struct Card {
  CardId uuid;
  HostId host_id;
  std::string model;  // catalog key; the driver's name when the catalog lacks it
  std::string driver_name;
  std::string pci_address;  // as seen at the last look; derived anew at each start
  int card_index = 0;
  int64_t vram_bytes = 0;
  std::optional<int> numa_node;
  bool simulated = false;
  bool present = true;  // seen at the last look
  std::string fault;    // why it is out of the market; empty when healthy

  bool operator==(const Card&) const = default;
};
BOOST_DESCRIBE_STRUCT(Card, (),
                      (uuid, host_id, model, driver_name, pci_address, card_index, vram_bytes,
                       numa_node, simulated, present, fault))

// A card granted to an instance. At most one is active per card: the database's unique
// index over card_uuid while released_at is null is the guard.
struct Allocation {
  AllocationId id;
  CardId card_uuid;
  InstanceId instance_id;
  Timestamp granted_at;
  std::optional<Timestamp> released_at;
};
BOOST_DESCRIBE_STRUCT(Allocation, (), (id, card_uuid, instance_id, granted_at, released_at))

// Other scarce things of a host, unique by (host, kind, number).
enum class ClaimKind { ssh_port, ipv4, idmap };
BOOST_DESCRIBE_ENUM(ClaimKind, ssh_port, ipv4, idmap)

struct Claim {
  HostId host_id;
  ClaimKind kind = ClaimKind::ssh_port;
  int64_t number = 0;  // a port; an index into the subnet or the id-map range
  InstanceId instance_id;
};
BOOST_DESCRIBE_STRUCT(Claim, (), (host_id, kind, number, instance_id))

}  // namespace cardhour
