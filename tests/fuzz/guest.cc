// What reaches cardhour-guest inside an instance: the identity document, the URL of its API, the
// jobs that systemd lists, and a file of the renter's that gets our block of lines. The first
// line says which.
#include "base/check.h"
#include "guest/commands.h"
#include "guest/http.h"
#include "guest/identity.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/input.h"

namespace cardhour::fuzz {
namespace {

void check_block(std::string_view text) {
  const std::vector<std::string> lines = {"ssh-ed25519 AAAA one", "ssh-ed25519 AAAA two"};
  const std::string once = guest::with_managed_block(text, lines);
  CHECK(guest::with_managed_block(once, lines) == once, "our block is written once");
  CHECK(once.find(lines[0] + "\n" + lines[1] + "\n") != std::string::npos, "the lines are there");
}

void run(std::string_view input) {
  const std::string_view kind = take_line(input);
  if (kind == "url") {
    const auto address = guest::parse_url(input);
    if (address) CHECK(address->port >= 1 && address->port <= 65'535, "a port that can be");
  } else if (kind == "block") {
    check_block(input);
  } else if (kind == "jobs") {
    const auto found = guest::shutdown_kind(input);
    if (found) CHECK(*found == "reboot" || *found == "poweroff", "one of two");
  } else {
    const auto identity = guest::parse_identity(input);
    if (!identity) return;
    for (const std::string& key : identity->authorized_keys) {
      CHECK(key.find('\n') == std::string::npos, "a key is one line");
    }
    CHECK(identity->hostname.find_first_of("\n/") == std::string::npos, "a host name is a name");
    CHECK(identity->password.reveal().find_first_of("\n:") == std::string::npos ||
              !identity->password.reveal().empty(),
          "a password");
  }
}

}  // namespace

Target guest_target() {
  return {"guest",
          run,
          {"url\n", "block\n", "jobs\n", "identity\n", "http://", "10.0.0.1:", ":65536",
           "\"authorized_keys\":[", "\\n", "\"hostname\":", "\"token\":", "null", "# BEGIN",
           "# END", "reboot.target start", "poweroff.target start"}};
}

}  // namespace cardhour::fuzz
