// OpenSSH keys: validating what a renter uploads, fingerprints, and writing the private
// host key of an instance. Format: RFC 4253 section 6.6 and OpenSSH's PROTOCOL.key. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/secret.h"

namespace cardhour {

struct ParsedSshKey {
  std::string type;        // "ssh-ed25519"
  std::string normalized;  // "type base64 comment", one line, no options
  std::string comment;
  std::string fingerprint;  // "SHA256:...", as ssh-keygen -l prints it
};

// Accepts ed25519, ECDSA (nistp256/384/521), RSA of 2048 bits and more, and the sk- kinds.
// Refuses options, private keys (and says so), several lines, and a blob of another type.
Result<ParsedSshKey> parse_ssh_key(std::string_view text);

struct HostKey {
  Secret private_pem;       // "-----BEGIN OPENSSH PRIVATE KEY-----"
  std::string public_line;  // "ssh-ed25519 AAAA... instance"
  std::string fingerprint;
};
// An ed25519 host key from 32 random bytes.
HostKey make_host_key(const std::array<uint8_t, 32>& seed, std::string_view comment);

}  // namespace cardhour
