// What an instance keeps secret: its host key, root's password and its own token. Sealed at
// rest with secret.key; leaves the process only to the guest, and the password to its renter.
#pragma once

#include "app/deps.h"
#include "domain/ssh_key.h"

namespace cardhour {

struct InstanceSecrets {
  Secret host_key_private;
  std::string host_key_public;
  Secret password;
  Secret token;  // "ch_<id>_<secret>"
};

std::string seal_secrets(const Deps& deps, const InstanceSecrets& secrets);
// internal when secret.key is not the one that sealed them.
Result<InstanceSecrets> unseal_secrets(const Deps& deps, const std::string& sealed);

// Letters and digits that are not mistaken for one another: 5 bits each.
Secret random_secret(Entropy& entropy, size_t characters);

// A bearer token: its row (with the hash) and its text.
struct MintedToken {
  Token token;
  Secret text;
};
MintedToken mint_token(const Deps& deps, const AccountId& account, TokenKind kind,
                       const std::string& scopes);

// Keys, password and token of an instance, made anew; the token's row is its account's.
Status make_identity(Tx& tx, const Deps& deps, Instance& instance);

}  // namespace cardhour
