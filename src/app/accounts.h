// Accounts: operators and renters, logins, tokens, SSH keys, invitations.
// Thread-safe.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/deps.h"
#include "app/rate_limiter.h"

namespace cardhour {

// A token just made: the only time its text is seen.
struct NewToken {
  Token token;
  Secret text;  // "ch_<id>_<secret>"
};

struct NewInvitation {
  Invitation invitation;
  Secret code;
};

class Accounts {
 public:
  explicit Accounts(const Deps& deps);

  // Makes the first operator when there is no account yet; nullopt when there is one.
  struct FirstOperator {
    Account account;
    Secret password;
  };
  Result<std::optional<FirstOperator>> ensure_first_operator(const std::string& login);

  // By policy: open, with an invitation code, or closed. conflict: the login is taken.
  Result<Account> register_renter(const std::string& login, const Secret& password,
                                  const std::string& invitation_code);
  // By an operator; also operators.
  Result<Account> create(const Actor& by, const std::string& login, const Secret& password,
                         Role role);

  // Failed attempts are limited by address + login, so that nobody can lock somebody else out.
  Result<NewToken> login(const std::string& login, const Secret& password,
                         const std::string& client_address);
  Status logout(const TokenId& token);
  // The actor of a bearer token; unauthenticated when unknown, expired or suspended.
  struct Authenticated {
    Actor actor;
    TokenId token;
    TokenKind kind = TokenKind::session;
  };
  Result<Authenticated> authenticate(const std::string& bearer);

  Result<Account> get(const AccountId& id);
  Result<Account> find(const std::string& login_or_id);  // not_found
  Result<std::vector<Account>> page(const Page& page);
  // Ends all other sessions of the account.
  Status change_password(const Actor& actor, const TokenId& current, const Secret& old_password,
                         const Secret& new_password, const std::string& client_address);

  // At most the scopes of the token that asks.
  Result<NewToken> create_token(const Actor& actor, const std::string& name,
                                const std::string& scopes, std::optional<Duration> lifetime);
  Result<std::vector<Token>> tokens(const Actor& actor);  // sessions and api tokens
  Status delete_token(const Actor& actor, const std::string& id);

  // Changes reach running instances at once, stopped ones at their next start.
  Result<SshKey> add_ssh_key(const Actor& actor, const std::string& name,
                             const std::string& public_key);
  Result<std::vector<SshKey>> ssh_keys(const Actor& actor);
  Status delete_ssh_key(const Actor& actor, const std::string& id);

  Result<NewInvitation> invite(const Actor& by);

 private:
  Result<Account> insert(const std::string& login, const Secret& password, Role role,
                         const std::string& invitation_code, const std::string& actor);
  NewToken make_token(const AccountId& account, TokenKind kind, const Scopes& scopes);

  Deps deps_;
  RateLimiter login_limiter_;
  std::string dummy_hash_;  // verified when the login is unknown, so that both take as long
};

}  // namespace cardhour
