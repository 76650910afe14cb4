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

// A browser's session just made: its two secrets, and the only time that they are seen.
struct NewBrowserSession {
  Token token;
  Secret header_secret;  // "ch_<id>_<secret>"
  Secret cookie_secret;
};

// What a request brings to say who asks.
struct Credentials {
  std::string token;
  // Set by a browser: the token came with it and not as a bearer's; empty: its cookie is missing.
  std::optional<std::string> cookie;
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
  // The same for a browser, whose session takes two secrets.
  Result<NewBrowserSession> browser_login(const std::string& login, const Secret& password,
                                          const std::string& client_address);
  Status logout(const TokenId& token);
  // Who asks; unauthenticated when the token is unknown, expired or suspended, or when one
  // secret of a browser's session comes without the other.
  struct Authenticated {
    Actor actor;
    TokenId token;
    TokenKind kind = TokenKind::session;
  };
  Result<Authenticated> authenticate(const Credentials& credentials);
  Result<Authenticated> authenticate(const std::string& bearer) {
    return authenticate(Credentials{bearer, {}});
  }
  // Who asked before with this token: is it still good?
  Result<Authenticated> authenticate(const TokenId& token);

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
  Result<Account> check_login(const std::string& login, const Secret& password,
                              const std::string& client_address);
  Status insert_session(const Token& token, const Account& account,
                        const std::string& client_address);
  Result<Authenticated> authenticate(
      const TokenId& id, const std::function<bool(const Token& token)>& has_its_secrets);
  NewToken make_token(const AccountId& account, TokenKind kind, const Scopes& scopes);

  Deps deps_;
  RateLimiter login_limiter_;
  std::string dummy_hash_;  // verified when the login is unknown, so that both take as long
};

}  // namespace cardhour
