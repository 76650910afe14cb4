// Firewall: what instances may reach on the network, as one nftables table of our own
// (inet cardhour_BRIDGE), apart from the tables of Incus and of the host. A packet that it
// drops is dropped whatever other tables say; what it lets pass they may still drop: the
// order between tables does not matter.
// From the bridge, to the host: DHCP, DNS and the guest API; replies; nothing else, on any of
// the host's addresses. Onward: no private, shared, link-local or special range, no other
// instance by way of the host, no mail (tcp/25), no IPv6, no flood of new connections.
// To the bridge, from elsewhere: only what a port of the host was forwarded for.
// To the SSH ports: so many new connections a minute from each source.
// Thread-safe.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "base/error.h"

namespace cardhour {

// A hole that the operator asks for, e.g. a package mirror in the same building.
struct FirewallAllow {
  std::string cidr;              // "10.0.0.5" or "10.0.0.0/24"
  std::string protocol = "tcp";  // tcp or udp
  int port = 0;                  // 0: all
};

struct FirewallOptions {
  std::string bridge;
  std::string bridge_address;            // of the host on the bridge, e.g. 10.177.0.1
  int guest_api_port = 0;                // on the bridge address; 0: none
  int connections_per_second_max = 200;  // new TCP ones per instance
  int ssh_port_first = 0;                // host ports of the instances' SSH; 0: none
  int ssh_port_last = 0;
  int ssh_connections_per_minute_max = 60;  // new ones per source: guessing passwords
  std::vector<FirewallAllow> allow;
};

class Firewall {
 public:
  explicit Firewall(FirewallOptions options);

  // Puts the table in place, in one step: at no moment is there less than before.
  Status ensure();
  // True when the table in the kernel is the one that ensure() of this object put there.
  bool present();
  // ensure() unless present(). engine_failed when the rules cannot be put back.
  Status keep();
  // Takes the table away.
  Status remove();

  const std::string& table() const { return table_; }

 private:
  Status ensure_locked();
  std::string listing();

  FirewallOptions options_;
  std::string table_;
  std::mutex mutex_;
  std::string applied_;  // the kernel's listing right after ensure()
};

// The commands for nft; invalid_argument for options that are not what they should be.
Result<std::string> firewall_script(const FirewallOptions& options, const std::string& table);

}  // namespace cardhour
