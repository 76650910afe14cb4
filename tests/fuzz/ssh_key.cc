// Public keys that people paste: one line comes out, which is read as the same key.
#include "domain/ssh_key.h"

#include "base/check.h"
#include "tests/fuzz/fuzz.h"

namespace cardhour::fuzz {
namespace {

void run(std::string_view text) {
  const auto key = parse_ssh_key(text);
  if (!key) {
    CHECK(!key.error().what.en.empty() && !key.error().what.zh.empty(), "refused in both");
    return;
  }
  CHECK(key->normalized.starts_with(key->type + " "), "the type comes first");
  CHECK(key->normalized.find_first_of(std::string("\r\n\0", 3)) == std::string::npos, "one line");
  const auto again = parse_ssh_key(key->normalized);
  CHECK(again.has_value() && again->normalized == key->normalized &&
            again->fingerprint == key->fingerprint,
        "a key is normal once normalized");
}

}  // namespace

Target ssh_key_target() {
  return {"ssh_key",
          run,
          {"ssh-ed25519 ", "ssh-rsa ", "ecdsa-sha2-nistp256 ", "sk-ssh-ed25519@openssh.com ",
           "AAAAC3NzaC1lZDI1NTE5AAAAI", "AAAAB3NzaC1yc2E", "=", "==", "command=\"x\" ",
           "-----BEGIN OPENSSH PRIVATE KEY-----", "\n", "\t", "AAAA"}};
}

}  // namespace cardhour::fuzz
