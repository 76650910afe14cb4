// The subcommands of cardhour-guest. Each prints one line of JSON and returns the exit
// code: 0 done, 1 something failed (the line says what), 2 the input is wrong.
// The control plane runs them through the engine's exec; the init system runs `boot`
// and `shutdown-notice`. Used by one thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "guest/machine.h"

namespace cardhour::guest {

// What a subcommand is given besides the machine.
struct Invocation {
  std::vector<std::string> arguments;  // after the subcommand
  int input = 0;                       // descriptor of standard input
};

// A line for standard output, and the exit code.
struct Answer {
  int exit_code = 0;
  std::string line;
};

// Stores the identity document of standard input, then applies it. A document that is
// wrong changes nothing.
Answer apply(const Machine& machine, const Invocation& invocation);
// Applies the stored document. None stored is fine: nothing to do.
Answer boot(const Machine& machine, const Invocation& invocation);
// Puts the notice of standard input at /run/cardhour/notice.json and starts
// /etc/cardhour/on-notice, if it is executable; with --withdraw, removes the notice.
Answer notice(const Machine& machine, const Invocation& invocation);
// Tells the control plane that this instance shuts down by its own will. Sends nothing
// when no shutdown is going on; an argument ("poweroff", "reboot") says so where there is
// no systemd to ask. Never fails: a shutdown does not wait for it.
Answer shutdown_notice(const Machine& machine, const Invocation& invocation);
// Tells the engine that this instance is ready. Never fails.
Answer ready(const Machine& machine, const Invocation& invocation);

// "reboot" or "poweroff" by the output of `systemctl list-jobs`; nothing when neither.
std::optional<std::string> shutdown_kind(std::string_view jobs);

}  // namespace cardhour::guest
