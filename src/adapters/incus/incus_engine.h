// IncusEngine: the Engine on one Incus daemon, over its unix socket. What runs stays Incus's
// to know: nothing about instances is kept in memory. Objects carry the tags
// user.cardhour.{deployment,instance,account,image,generation,cards}, and what lacks this
// deployment's tag is never listed, changed or removed. An instance counts only with the
// mark user.cardhour.created, the last step of a creation: what lacks it is a husk of one
// that was killed, and is deleted, never started.
// Files: incus_engine.cc what is there, incus_instances.cc create, start, stop and remove,
// incus_describe.cc what an instance is made of, incus_guest.cc what is done inside.
// Thread-safe. Calls of this object for one instance take turns: a stop that comes while a
// start is under way is sent when that start is over, and wins.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "adapters/incus/firewall.h"
#include "base/size.h"
#include "ports/engine.h"

namespace cardhour {

struct IncusOptions {
  std::string socket = "/var/lib/incus/unix.socket";
  std::string project = "cardhour";
  std::string pool = "cardhour";
  std::string network = "cardhour0";     // the bridge
  std::string deployment = "local";      // ours are tagged with it
  std::string subnet = "10.177.0.1/16";  // the host's address on the bridge, and its prefix
  // Where SSH ports listen. Loopback or a wildcard: a userspace proxy; an address of the host:
  // NAT, which keeps the client's address visible inside.
  std::string ssh_listen = "127.0.0.1";
  std::string guest_dir = "/usr/lib/cardhour/guest";  // mounted at /opt/cardhour
  std::string state_dir = "/var/lib/cardhour/engine";
  std::string sim_library;            // libcardhour-nvml-sim.so; empty: simulated cards are refused
  int guest_api_port = 0;             // of our API on the bridge's address; 0: none
  int64_t idmap_first = 1'065'536;    // subordinate ids that instances may get
  int64_t idmap_end = 1'001'000'000;  // one past the last
  int processes_max = 8192;           // an instance's tasks, threads too
  int connections_per_second_max = 200;  // new TCP ones, an instance
  int ssh_port_first = 0;                // host ports that get a limit per source; 0: none
  int ssh_port_last = 0;
  int64_t disk_bytes_per_second_max = kGiB;  // reading, and writing, of the system disk; 0: none
  std::vector<FirewallAllow> allow;
};

class IncusClient;

class IncusEngine : public Engine {
 public:
  explicit IncusEngine(IncusOptions options);
  ~IncusEngine() override;

  Result<std::vector<EngineHost>> hosts() override;
  Result<std::vector<EngineInstance>> list() override;
  Result<std::vector<EngineUsage>> usage() override;
  Result<std::optional<EngineInstance>> find(const InstanceId& id) override;
  Result<std::optional<EngineObject>> describe(const InstanceId& id) override;
  Result<std::vector<std::string>> images() override;

  Status ensure_created(const EngineSpec& spec, const GuestIdentity& identity) override;
  Status ensure_started(const EngineSpec& spec, const EngineShape& shape) override;
  Result<bool> ssh_answers(const EngineSpec& spec, Duration patience) override;
  Result<std::vector<VisibleCard>> visible_cards(const InstanceId& id) override;
  Status apply_identity(const InstanceId& id, const GuestIdentity& identity) override;
  Status put_notice(const InstanceId& id, const std::string& json) override;

  Status shut_down(const InstanceId& id, Duration grace) override;
  Status force_stop(const InstanceId& id) override;
  Status ensure_removed(const InstanceId& id) override;
  Result<bool> port_is_free(int port) override;

 private:
  struct Look;
  class Turn;

  Result<Look> look(const InstanceId& id);
  Result<Look> settle(const InstanceId& id, Duration patience);
  Status delete_instance(const InstanceId& id);
  Status ensure_data_volume(const EngineSpec& spec);
  Status show_sim_cards(const InstanceId& id, const EngineShape& shape);
  Status create_stopped(const EngineSpec& spec, const GuestIdentity& identity);
  Status remove_data_volume(const InstanceId& id);
  Status configure(const EngineSpec& spec, const EngineShape& shape);
  Status change_state(const InstanceId& id, std::string_view action, Duration grace);
  Status require_ours(const InstanceId& id);
  std::string guest_url() const;

  IncusOptions options_;
  std::unique_ptr<IncusClient> client_;
  std::unique_ptr<Firewall> firewall_;
  std::mutex mutex_;  // of the two below
  std::condition_variable turn_over_;
  std::set<InstanceId> in_turn_;  // being created, started or removed by this object
};

// The host's address of "10.177.0.1/16".
std::string gateway_of(const std::string& subnet);

}  // namespace cardhour
