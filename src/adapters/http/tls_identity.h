// A self-signed certificate for a server that was given none: made once, kept beside the
// database, and recognised by the SHA-256 fingerprint that is printed at start.
// Not thread-safe: called once, at start.
#pragma once

#include <string>
#include <vector>

#include "adapters/http/server.h"
#include "base/error.h"

namespace cardhour::http {

struct TlsIdentity {
  TlsFiles files;
  std::string fingerprint;  // "AB:CD:...", 32 bytes
};

// tls.crt and tls.key (mode 0600) in that directory; makes them when neither exists, for
// those DNS names and IP addresses, valid for ten years.
Result<TlsIdentity> ensure_self_signed(const std::string& directory,
                                       const std::vector<std::string>& names);

}  // namespace cardhour::http
