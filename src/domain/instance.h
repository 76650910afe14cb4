// An instance and its life. Desired is what the renter wants, observed what is so. The
// lifecycle is one table, checked at compile time; docs/states.md is generated from it.
// Invariants: stop and release are accepted in every state and win; the identity (id, SSH
// port, host key, disks) never changes. Pure.
#pragma once

#include <boost/describe/class.hpp>
#include <boost/describe/enum.hpp>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/id.h"
#include "base/time.h"
#include "domain/metering.h"
#include "domain/pricing.h"

namespace cardhour {

enum class Desired { running, stopped, released, purged };
BOOST_DESCRIBE_ENUM(Desired, running, stopped, released, purged)

enum class Observed {
  creating,  // first start: the engine object is being made
  starting,
  running,  // ready: an SSH banner was seen
  stopping,
  stopped,
  releasing,  // stopping on the way to the bin
  in_bin,     // can be restored until bin_until
  purged,     // gone
};
BOOST_DESCRIBE_ENUM(Observed, creating, starting, running, stopping, stopped, releasing, in_bin,
                    purged)

struct Instance {
  InstanceId id;
  AccountId account_id;
  std::string name;
  std::string image;
  std::string purpose;  // what for, in the renter's words
  HostId host_id;

  Desired desired = Desired::running;
  Observed observed = Observed::creating;
  bool reachable = true;  // false while the host gives no proof of life

  // The shape of the present or last run.
  Mode mode = Mode::on_demand;
  std::string gpu_model;  // empty in no-GPU mode
  int gpu_count = 0;
  int millicores = 0;
  int64_t memory_bytes = 0;

  int64_t system_disk_bytes = 0;
  int64_t data_disk_bytes = 0;
  bool nesting = false;

  int ssh_port = 0;
  std::string ipv4;
  int64_t idmap_base = 0;
  std::string host_key_fingerprint;
  std::string secrets_sealed;  // host key, password and token, sealed with secret.key

  std::optional<RunId> run_id;  // from start asked to stopped
  Money rate_per_hour;          // frozen at power-on, per card (or per hour in no-GPU)
  Money held;                   // the hold of this start, until ready
  std::string engine_run;       // the engine's own mark of this run (its start time)
  std::optional<Timestamp> ready_at;

  // The notice that the guest should show; empty: none.
  std::string notice_reason;
  std::optional<Timestamp> notice_deadline;
  // False: the guest has yet to be brought the present notice, keys and secrets.
  bool guest_current = true;

  std::string fault_code;  // empty when all is well
  std::string fault_what_en;
  std::string fault_what_zh;
  std::string fault_next_en;
  std::string fault_next_zh;

  Timestamp created_at;
  std::optional<Timestamp> stopped_at;
  std::optional<Timestamp> bin_until;
  int64_t version = 0;  // rises with every write; guards stale results
};
BOOST_DESCRIBE_STRUCT(Instance, (),
                      (id, account_id, name, image, purpose, host_id, desired, observed, reachable,
                       mode, gpu_model, gpu_count, millicores, memory_bytes, system_disk_bytes,
                       data_disk_bytes, nesting, ssh_port, ipv4, idmap_base, host_key_fingerprint,
                       secrets_sealed, run_id, rate_per_hour, held, engine_run, ready_at,
                       notice_reason, notice_deadline, guest_current, fault_code, fault_what_en,
                       fault_what_zh, fault_next_en, fault_next_zh, created_at, stopped_at,
                       bin_until, version))

enum class LifecycleEvent {
  start,         // accepted: cards and balance are granted
  switch_shape,  // no-GPU to GPU: the run ends and the next one starts
  ready,         // the engine runs it and an SSH banner came
  fail,          // the start failed
  stop,
  release,
  restore,
  stopped,  // the engine says it is stopped
  vanish,   // the engine says stopped or gone, and nobody asked
  stray,    // the engine runs it though it should be stopped
  adopt,    // the engine runs it, and the database was restored from before that run
  purged,   // the engine object and the disks are gone
};
BOOST_DESCRIBE_ENUM(LifecycleEvent, start, switch_shape, ready, fail, stop, release, restore,
                    stopped, vanish, stray, adopt, purged)

struct LifecycleEdge {
  Observed from;
  LifecycleEvent event;
  Observed to;
};
// The table.
std::span<const LifecycleEdge> lifecycle();

// Where `event` leads, or nullopt when the table has no such edge.
std::optional<Observed> next_state(Observed from, LifecycleEvent event);
// Moves `instance.observed` along an edge; CHECKs that the edge exists.
void advance(Instance& instance, LifecycleEvent event);

// docs/states.md: the table and a diagram, generated.
std::string lifecycle_markdown();

}  // namespace cardhour
