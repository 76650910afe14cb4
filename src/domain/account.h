// Accounts and what belongs to a login: tokens, SSH keys, invitations. Pure data.
#pragma once

#include <boost/describe/class.hpp>
#include <boost/describe/enum.hpp>
#include <optional>
#include <string>

#include "base/id.h"
#include "base/time.h"
#include "domain/access.h"

namespace cardhour {

enum class AccountState { active, suspended };
BOOST_DESCRIBE_ENUM(AccountState, active, suspended)

struct Account {
  AccountId id;
  std::string login;
  std::string password_hash;  // argon2id, libsodium's text form
  Role role = Role::renter;
  AccountState state = AccountState::active;
  Timestamp created_at;
  // When the settle loop must look at it next; absent while nothing runs.
  std::optional<Timestamp> next_settlement_at;
  int64_t version = 0;
};
BOOST_DESCRIBE_STRUCT(Account, (),
                      (id, login, password_hash, role, state, created_at, next_settlement_at,
                       version))

enum class TokenKind { session, api, instance };
BOOST_DESCRIBE_ENUM(TokenKind, session, api, instance)

// A bearer token: the text is "ch_<id>_<secret>"; only a hash of the secret is kept. A session of
// a browser has a second secret, in a cookie: neither is worth anything without the other.
struct Token {
  TokenId id;
  AccountId account_id;
  TokenKind kind = TokenKind::session;
  std::optional<InstanceId> instance_id;  // of kind instance
  std::string name;
  std::string secret_hash;
  std::string scopes;
  Timestamp created_at;
  std::optional<Timestamp> expires_at;
  std::optional<std::string> cookie_hash;  // of a browser's session
};
BOOST_DESCRIBE_STRUCT(Token, (),
                      (id, account_id, kind, instance_id, name, secret_hash, scopes, created_at,
                       expires_at, cookie_hash))

struct SshKey {
  SshKeyId id;
  AccountId account_id;
  std::string name;
  std::string public_key;   // "ssh-ed25519 AAAA... comment"
  std::string fingerprint;  // "SHA256:..."
  Timestamp created_at;
};
BOOST_DESCRIBE_STRUCT(SshKey, (), (id, account_id, name, public_key, fingerprint, created_at))

struct Invitation {
  InvitationId id;
  std::string code_hash;
  AccountId created_by;
  Timestamp created_at;
  Timestamp expires_at;
  std::optional<AccountId> used_by;
};
BOOST_DESCRIBE_STRUCT(Invitation, (), (id, code_hash, created_by, created_at, expires_at, used_by))

}  // namespace cardhour
