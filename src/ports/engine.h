// Engine: what runs instances. Production is Incus (adapters/incus), the twin is
// adapters/sim; both pass tests/conformance. Every changing call is idempotent ("ensure"):
// doing it again after a crash is harmless. Calls block up to the time they name; none is
// made inside a database transaction. engine_unavailable means that nothing is known;
// engine_failed is the engine's own refusal. Thread-safe.
// The adapter touches only objects that it tagged as ours; anything else is foreign.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/id.h"
#include "base/secret.h"
#include "base/time.h"
#include "domain/host.h"

namespace cardhour {

struct EngineHost {
  std::string name;
  std::string version;  // "6.0.4"
  int cpu_total = 0;
  int64_t memory_bytes = 0;
  int64_t pool_total_bytes = 0;
  int64_t pool_used_bytes = 0;
  std::vector<std::string> gpu_pci;  // PCI addresses of the GPUs that the engine sees
};

enum class EngineStatus { running, stopped, busy };  // busy: changing, look again

struct EngineInstance {
  InstanceId id;
  EngineStatus status = EngineStatus::stopped;
  std::string run;  // mark of this run; differs after every engine start
};

struct EngineCard {
  CardId uuid;
  std::string pci_address;
  std::string driver_name;
  int64_t vram_bytes = 0;
  bool simulated = false;  // shown inside through the simulated library
};

// What a running instance has used so far, and uses now. nullopt: the engine cannot tell.
// Counters begin anew with each run of the engine's.
struct EngineUsage {
  InstanceId id;
  std::optional<int64_t> cpu_ms;  // of all its processes, since it started
  std::optional<int64_t> memory_used_bytes;
  std::optional<int64_t> disk_read_bytes;
  std::optional<int64_t> disk_written_bytes;
  std::optional<int64_t> network_received_bytes;  // not its loopback
  std::optional<int64_t> network_sent_bytes;
  std::optional<int64_t> processes;
  std::optional<int64_t> sessions;  // SSH connections that are open now
};

// What one run gets.
struct EngineShape {
  int millicores = 0;
  int64_t memory_bytes = 0;
  std::vector<EngineCard> cards;  // empty in no-GPU mode
};

// What the instance is made of. Fixed at creation, except the disk sizes.
struct EngineSpec {
  InstanceId id;
  AccountId account;
  std::string image;
  int64_t system_disk_bytes = 0;
  int64_t data_disk_bytes = 0;  // 0: none; mounted at /root/data
  bool nesting = false;
  std::string ipv4;  // static, on our bridge
  int64_t idmap_base = 0;
  int ssh_port = 0;  // on the host
  // What the first run gets, when that is known at creation: spares a change before the start.
  std::optional<EngineShape> first_shape;
};

// What an instance of ours is made of, by its own object and tags: for one that the database
// does not know.
struct EngineObject {
  EngineInstance seen;
  EngineSpec spec;            // without first_shape
  int millicores = 0;         // of its present or last run
  int64_t memory_bytes = 0;   // the same
  std::vector<CardId> cards;  // the same
  int64_t generation = 0;     // rises whenever it is configured anew
};

// What cardhour-guest applies inside: see src/guest.
struct GuestIdentity {
  std::string hostname;
  Secret token;  // the instance's own
  std::vector<std::string> authorized_keys;
  Secret password;  // of root
  Secret host_key_private;
  std::string host_key_public;
};

struct VisibleCard {
  CardId uuid;
  std::optional<int64_t> memory_used_bytes;
};

class Engine {
 public:
  virtual ~Engine() = default;

  // The host(s), also the proof of life. Fails with engine_unavailable.
  virtual Result<std::vector<EngineHost>> hosts() = 0;
  // All instances of ours, finished creations only.
  virtual Result<std::vector<EngineInstance>> list() = 0;
  // What all that run use, in one call. An engine that cannot tell lists none.
  virtual Result<std::vector<EngineUsage>> usage() = 0;
  // One of ours; nullopt: the engine's word that there is none.
  virtual Result<std::optional<EngineInstance>> find(const InstanceId& id) = 0;
  // What one of ours is made of; nullopt as with find.
  virtual Result<std::optional<EngineObject>> describe(const InstanceId& id) = 0;
  // The images that can be rented: names.
  virtual Result<std::vector<std::string>> images() = 0;

  // Creates the instance (stopped) and its data disk, or leaves them when they exist. A husk
  // of a creation that was killed is removed first.
  virtual Status ensure_created(const EngineSpec& spec, const GuestIdentity& identity) = 0;
  // Configures the shape and starts; nothing to do when it runs already. no_capacity: the
  // SSH port is taken by a foreign process.
  virtual Status ensure_started(const EngineSpec& spec, const EngineShape& shape) = 0;
  // True once an SSH banner comes from the instance; waits at most `patience`.
  virtual Result<bool> ssh_answers(const EngineSpec& spec, Duration patience) = 0;
  // What the driver shows inside the instance. Only while it runs.
  virtual Result<std::vector<VisibleCard>> visible_cards(const InstanceId& id) = 0;
  // Brings keys, password and host key up to date. Only while it runs.
  virtual Status apply_identity(const InstanceId& id, const GuestIdentity& identity) = 0;
  // Puts the notice (a JSON document) at /run/cardhour/notice.json; empty withdraws it.
  virtual Status put_notice(const InstanceId& id, const std::string& json) = 0;

  // Asks the guest to shut down and waits up to `grace`; engine_failed when it still runs.
  virtual Status shut_down(const InstanceId& id, Duration grace) = 0;
  // Pulls the plug. Nothing to do when it is stopped.
  virtual Status force_stop(const InstanceId& id) = 0;
  // Deletes the instance, its data disk, and what the adapter keeps for it. Only stopped ones.
  virtual Status ensure_removed(const InstanceId& id) = 0;
  // True when the host port can be bound now on the address where SSH ports listen.
  virtual Result<bool> port_is_free(int port) = 0;
};

}  // namespace cardhour
