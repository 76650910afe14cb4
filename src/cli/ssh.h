// Into an instance by the system's ssh, with the host key that the server told us: no
// question is asked and no other machine is believed. Not thread-safe.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "cli/context.h"
#include "wire/wire.h"

namespace cardhour::cli {

// "ID ssh-ed25519 AAAA...": the key under the instance's id, which never changes, while
// address and port may. `line` is the server's, with or without a host in front; internal when
// it holds no key.
Result<std::string> known_hosts_entry(const std::string& id, const std::string& line);

// The words of the command, "ssh" first.
std::vector<std::string> ssh_words(const wire::InstanceView& view, const std::string& known_hosts,
                                   const std::vector<std::string>& command);

// Becomes ssh: comes back only with an error. The instance must be running.
Outcome enter(Context& context, const wire::InstanceView& view,
              const std::vector<std::string>& command);

}  // namespace cardhour::cli
