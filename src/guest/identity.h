// The identity of an instance: what makes it this one and nobody else's copy of the same
// image. The control plane writes it as a JSON document; the guest keeps that document and
// applies it at every boot and at every change.
// Applying is idempotent, and each step stands alone: one that fails does not stop the
// others. What the renter changed stays: keys outside our block, and a password set inside.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/secret.h"
#include "guest/machine.h"

namespace cardhour::guest {

inline constexpr size_t kDocumentBytesMax = 256 * 1024;

struct Identity {
  std::string instance;
  std::string hostname;                      // empty: leave it
  std::string guest_url;                     // http://ADDRESS:PORT of the guest API
  Secret token;                              // for the guest API
  std::vector<std::string> authorized_keys;  // of root
  Secret password;                           // of root; empty: leave it
  Secret host_key_private;                   // empty: leave it
  std::string host_key_public;
};

// Members that are not known are ignored: a newer control plane may send more.
Result<Identity> parse_identity(std::string_view document);

enum class Outcome { changed, unchanged, skipped, failed };

struct Step {
  std::string name;
  Outcome outcome = Outcome::unchanged;
  std::string why;  // of a failure, in English: it goes to the control plane's log
};

// host_key, authorized_keys, password, hostname, run_directory: in this order.
std::vector<Step> apply_identity(const Identity& identity, const Machine& machine);

// Keeps the document as /var/lib/cardhour/identity.json, 0600.
Status store_identity(std::string_view document, const Machine& machine);
// not_found when none was stored yet.
Result<Identity> load_identity(const Machine& machine);

// The text with our block of lines in it: in place of the block that was there, else at
// the end. Lines outside the block are kept as they are.
std::string with_managed_block(std::string_view text, const std::vector<std::string>& lines);

}  // namespace cardhour::guest
