// Looks at ports from the host: whether one can be bound, and whether sshd answers.
// Pure functions over sockets; thread-safe.
#pragma once

#include <string>

#include "base/error.h"
#include "base/time.h"

namespace cardhour {

// True when a listener could be bound to the address and port now.
Result<bool> can_bind(const std::string& ipv4, int port);

// Ends proxy processes that Incus left behind on that address and port: those whose instance's
// init is gone, so that they serve nobody (seen after a reboot from inside).
void end_orphaned_proxies(const std::string& ipv4, int port);

// True once "SSH-" comes from there; tries again every 50 ms, at most `patience`.
Result<bool> ssh_banner_comes(const std::string& ipv4, int port, Duration patience);

}  // namespace cardhour
