#include "app/accounts.h"

#include <algorithm>

#include "app/events.h"
#include "app/runs.h"
#include "app/secrets.h"
#include "base/limits.h"
#include "domain/ssh_key.h"

namespace cardhour {
namespace {

tl::unexpected<Error> bad_login() {
  return fail(ErrorCode::unauthenticated, Text{"login or password is wrong", "登录名或密码错误"});
}

tl::unexpected<Error> bad_token() {
  return fail(ErrorCode::unauthenticated,
              Text{"the token is unknown or has expired", "令牌无效或已过期"},
              Text{"log in again", "请重新登录"});
}

tl::unexpected<Error> too_many() {
  return fail(ErrorCode::rate_limited,
              Text{"too many failed attempts from your address", "来自您地址的失败尝试过多"},
              Text{"wait a minute and try again", "请等待一分钟后再试"});
}

// "ch_<id>_<secret>"
std::optional<std::pair<TokenId, std::string>> split_bearer(const std::string& text) {
  if (!text.starts_with("ch_") || text.size() > 100) return std::nullopt;
  const size_t end = text.find('_', 3);
  if (end == std::string::npos) return std::nullopt;
  const std::string id = text.substr(3, end - 3);
  if (!is_id_text(TokenTag::kPrefix, id)) return std::nullopt;
  return std::pair{TokenId{id}, text.substr(end + 1)};
}

bool within(const Scopes& asked, const Scopes& own) {
  return (!asked.read || own.read) && (!asked.instances || own.instances) &&
         (!asked.money || own.money) && (!asked.admin || own.admin);
}

}  // namespace

Accounts::Accounts(const Deps& deps)
    : deps_(deps),
      login_limiter_({}),
      dummy_hash_(hash_password("nobody's password", deps.password_cost)) {}

Result<std::optional<Accounts::FirstOperator>> Accounts::ensure_first_operator(
    const std::string& login) {
  int64_t count = 0;
  TRY(deps_.store.read([&](Tx& tx) -> Status {
    TRY_ASSIGN(count, tx.accounts().count());
    return {};
  }));
  if (count > 0) return std::optional<FirstOperator>();
  constexpr size_t kPasswordCharacters = 16;  // 80 bits
  const Secret password = random_secret(deps_.entropy, kPasswordCharacters);
  TRY_ASSIGN(Account account, insert(login, password, Role::admin, "", "system:first-start"));
  return std::optional<FirstOperator>(FirstOperator{std::move(account), password});
}

Result<Account> Accounts::register_renter(const std::string& login, const Secret& password,
                                          const std::string& invitation_code) {
  if (deps_.policy.registration == Registration::closed) {
    return fail(ErrorCode::forbidden, Text{"registration is closed here", "此处未开放注册"},
                Text{"ask the operator for an account", "请联系运营者开通账户"});
  }
  if (deps_.policy.registration == Registration::invitation && invitation_code.empty()) {
    return invalid("invitation", Text{"registration needs an invitation code", "注册需要邀请码"},
                   Text{"ask the operator for one", "请向运营者索取邀请码"});
  }
  return insert(login, password, Role::renter, invitation_code, login);
}

Result<Account> Accounts::create(const Actor& by, const std::string& login, const Secret& password,
                                 Role role) {
  return insert(login, password, role, "", by.name);
}

Result<Account> Accounts::insert(const std::string& login, const Secret& password, Role role,
                                 const std::string& invitation_code, const std::string& actor) {
  Account account;
  TRY_ASSIGN(account.login, normalize_login(login));
  TRY(check_password(password.reveal(), account.login));
  account.id = deps_.entropy.id<AccountId>();
  account.password_hash = hash_password(password.reveal(), deps_.password_cost);
  account.role = role;
  account.created_at = deps_.clock.now();
  TRY(deps_.store.write([&](Tx& tx) -> Status {
    TRY_ASSIGN(const auto taken, tx.accounts().find_login(account.login));
    if (taken) {
      return fail(ErrorCode::conflict, Text{"this login is taken", "该登录名已被使用"},
                  Text{"choose another one", "请换一个"}, "login");
    }
    TRY(tx.accounts().insert(account));
    if (!invitation_code.empty()) {
      const auto refused = [] {
        return invalid(
            "invitation",
            Text{"the invitation is unknown, used or expired", "邀请码无效、已使用或已过期"},
            Text{"ask the operator for a new one", "请向运营者索取新的邀请码"});
      };
      TRY_ASSIGN(const auto invitation, tx.accounts().find_invitation(hash_token(invitation_code)));
      if (!invitation || invitation->expires_at <= account.created_at) return refused();
      TRY_ASSIGN(const bool used, tx.accounts().use_invitation(invitation->id, account.id));
      if (!used) return refused();
    }
    return record(tx, account.id, account.created_at, "account.created", actor, "registration",
                  "login=" + account.login);
  }));
  deps_.changed();
  return account;
}

Result<Account> Accounts::check_login(const std::string& login, const Secret& password,
                                      const std::string& client_address) {
  const Timestamp now = deps_.clock.now();
  const std::string key = client_address + " " + login.substr(0, limits::kLoginBytes);
  if (!login_limiter_.allows(key, now)) return too_many();
  std::optional<Account> account;
  if (const auto name = normalize_login(login); name) {
    TRY(deps_.store.read([&](Tx& tx) -> Status {
      TRY_ASSIGN(account, tx.accounts().find_login(*name));
      return {};
    }));
  }
  const bool plausible = password.reveal().size() <= limits::kPasswordBytesMax;
  const bool right =
      verify_password(account ? account->password_hash : dummy_hash_,
                      plausible ? std::string_view(password.reveal()) : std::string_view());
  if (!account || !right || !plausible) {
    login_limiter_.failed(key, now);
    return bad_login();
  }
  login_limiter_.succeeded(key);
  if (account->state == AccountState::suspended) {
    return fail(ErrorCode::forbidden, Text{"this account is suspended", "该账户已被停用"},
                Text{"ask the operator", "请联系运营者"});
  }
  return *std::move(account);
}

Status Accounts::insert_session(const Token& token, const Account& account,
                                const std::string& client_address) {
  return deps_.store.write([&](Tx& tx) -> Status {
    TRY(tx.accounts().insert_token(token));
    return record(tx, account.id, token.created_at, "account.login", account.login, token.name,
                  "address=" + client_address);
  });
}

Result<NewToken> Accounts::login(const std::string& login, const Secret& password,
                                 const std::string& client_address) {
  TRY_ASSIGN(const Account account, check_login(login, password, client_address));
  NewToken made = make_token(account.id, TokenKind::session, all_scopes(account.role));
  made.token.name = "login";
  made.token.expires_at = made.token.created_at + deps_.policy.session;
  TRY(insert_session(made.token, account, client_address));
  return made;
}

Result<NewBrowserSession> Accounts::browser_login(const std::string& login, const Secret& password,
                                                  const std::string& client_address) {
  constexpr size_t kCookieCharacters = 40;  // 200 bits
  TRY_ASSIGN(const Account account, check_login(login, password, client_address));
  NewToken made = make_token(account.id, TokenKind::session, all_scopes(account.role));
  const Secret cookie = random_secret(deps_.entropy, kCookieCharacters);
  made.token.name = "browser";
  made.token.expires_at = made.token.created_at + deps_.policy.session;
  made.token.cookie_hash = hash_token(cookie.reveal());
  TRY(insert_session(made.token, account, client_address));
  return NewBrowserSession{std::move(made.token), std::move(made.text), cookie};
}

Status Accounts::logout(const TokenId& token) {
  return deps_.store.write([&](Tx& tx) -> Status {
    TRY(tx.accounts().delete_token(token));
    return {};
  });
}

Result<Accounts::Authenticated> Accounts::authenticate(const Credentials& credentials) {
  const auto parts = split_bearer(credentials.token);
  if (!parts) return bad_token();
  return authenticate(parts->first, [&](const Token& token) {
    if (!equal_secrets(token.secret_hash, hash_token(parts->second))) return false;
    if (!token.cookie_hash || !credentials.cookie) {
      return token.cookie_hash.has_value() == credentials.cookie.has_value();
    }
    return equal_secrets(*token.cookie_hash, hash_token(*credentials.cookie));
  });
}

Result<Accounts::Authenticated> Accounts::authenticate(const TokenId& token) {
  return authenticate(token, [](const Token&) { return true; });
}

Result<Accounts::Authenticated> Accounts::authenticate(
    const TokenId& id, const std::function<bool(const Token& token)>& has_its_secrets) {
  std::optional<Token> token;
  std::optional<Account> account;
  TRY(deps_.store.read([&](Tx& tx) -> Status {
    TRY_ASSIGN(token, tx.accounts().find_token(id));
    if (!token) return {};
    TRY_ASSIGN(account, tx.accounts().find(token->account_id));
    return {};
  }));
  if (!token || !account) return bad_token();
  if (!has_its_secrets(*token)) return bad_token();
  if (token->expires_at && *token->expires_at <= deps_.clock.now()) return bad_token();
  if (account->state == AccountState::suspended) return bad_token();
  Authenticated answer;
  answer.token = token->id;
  answer.kind = token->kind;
  answer.actor.account = account->id;
  answer.actor.role = account->role;
  if (token->kind == TokenKind::instance) {
    answer.actor.instance = token->instance_id;
    answer.actor.name = token->instance_id ? token->instance_id->text : "";
    return answer;
  }
  TRY_ASSIGN(answer.actor.scopes, parse_scopes(token->scopes));
  answer.actor.name = account->login;
  return answer;
}

Result<Account> Accounts::get(const AccountId& id) {
  std::optional<Account> account;
  TRY(deps_.store.read([&](Tx& tx) -> Status {
    TRY_ASSIGN(account, tx.accounts().find(id));
    return {};
  }));
  if (!account) return fail(ErrorCode::not_found, Text{"no such account", "没有该账户"});
  return *account;
}

Result<Account> Accounts::find(const std::string& login_or_id) {
  if (is_id_text(AccountTag::kPrefix, login_or_id)) {
    if (auto account = get(AccountId{login_or_id})) return account;
  }
  std::optional<Account> account;
  if (const auto login = normalize_login(login_or_id); login) {
    TRY(deps_.store.read([&](Tx& tx) -> Status {
      TRY_ASSIGN(account, tx.accounts().find_login(*login));
      return {};
    }));
  }
  if (!account) return fail(ErrorCode::not_found, Text{"no such account", "没有该账户"});
  return *account;
}

Result<std::vector<Account>> Accounts::page(const Page& page) {
  std::vector<Account> rows;
  TRY(deps_.store.read([&](Tx& tx) -> Status {
    TRY_ASSIGN(rows, tx.accounts().page(page));
    return {};
  }));
  return rows;
}

Status Accounts::change_password(const Actor& actor, const TokenId& current,
                                 const Secret& old_password, const Secret& new_password,
                                 const std::string& client_address) {
  const Timestamp now = deps_.clock.now();
  const std::string key = client_address + " " + actor.name;
  if (!login_limiter_.allows(key, now)) return too_many();
  TRY_ASSIGN(Account account, get(actor.account));
  if (!verify_password(account.password_hash, old_password.reveal())) {
    login_limiter_.failed(key, now);
    return invalid("old_password", Text{"the old password is wrong", "原密码错误"});
  }
  TRY(check_password(new_password.reveal(), account.login));
  const std::string hash = hash_password(new_password.reveal(), deps_.password_cost);
  TRY(deps_.store.write([&](Tx& tx) -> Status {
    TRY_ASSIGN(auto stored, tx.accounts().find(actor.account));
    if (!stored) return fail(ErrorCode::not_found, Text{"no such account", "没有该账户"});
    stored->password_hash = hash;
    TRY(tx.accounts().update(*stored));
    TRY(tx.accounts().delete_sessions(actor.account, current));
    return record(tx, actor.account, now, "account.password_changed", actor.name, "renter");
  }));
  deps_.changed();
  return {};
}

NewToken Accounts::make_token(const AccountId& account, TokenKind kind, const Scopes& scopes) {
  MintedToken minted = mint_token(deps_, account, kind, to_text(scopes));
  return NewToken{std::move(minted.token), std::move(minted.text)};
}

Result<NewToken> Accounts::create_token(const Actor& actor, const std::string& name,
                                        const std::string& scopes,
                                        std::optional<Duration> lifetime) {
  TRY_ASSIGN(const std::string clean_name, normalize_name("name", name));
  TRY_ASSIGN(const Scopes asked, parse_scopes(scopes));
  if (!within(asked, actor.scopes)) {
    return fail(ErrorCode::forbidden,
                Text{"a token cannot do more than the one that makes it",
                     "新令牌的权限不能超过创建它的令牌"},
                {}, "scopes");
  }
  NewToken made = make_token(actor.account, TokenKind::api, asked);
  made.token.name = clean_name;
  if (lifetime) made.token.expires_at = made.token.created_at + *lifetime;
  TRY(deps_.store.write([&](Tx& tx) -> Status {
    TRY_ASSIGN(const auto rows, tx.accounts().tokens(actor.account));
    const auto apis = std::count_if(rows.begin(), rows.end(),
                                    [](const Token& row) { return row.kind == TokenKind::api; });
    if (apis >= limits::kTokensPerAccount) {
      return fail(ErrorCode::quota_exceeded,
                  Text{"an account has at most 50 tokens", "每个账户最多 50 个令牌"},
                  Text{"delete one you do not use", "请删除不再使用的令牌"});
    }
    TRY(tx.accounts().insert_token(made.token));
    return record(tx, actor.account, made.token.created_at, "token.created", actor.name, "renter",
                  "token=" + made.token.id.text + " scopes=" + made.token.scopes);
  }));
  deps_.changed();
  return made;
}

Result<std::vector<Token>> Accounts::tokens(const Actor& actor) {
  std::vector<Token> rows;
  TRY(deps_.store.read([&](Tx& tx) -> Status {
    TRY_ASSIGN(rows, tx.accounts().tokens(actor.account));
    return {};
  }));
  std::erase_if(rows, [](const Token& row) { return row.kind == TokenKind::instance; });
  return rows;
}

Status Accounts::delete_token(const Actor& actor, const std::string& id) {
  const auto missing = [] {
    return fail(ErrorCode::not_found, Text{"no such token", "没有该令牌"});
  };
  if (!is_id_text(TokenTag::kPrefix, id)) return missing();
  TRY(deps_.store.write([&](Tx& tx) -> Status {
    TRY_ASSIGN(const auto token, tx.accounts().find_token(TokenId{id}));
    if (!token || token->account_id != actor.account || token->kind == TokenKind::instance) {
      return missing();
    }
    TRY(tx.accounts().delete_token(token->id));
    return record(tx, actor.account, deps_.clock.now(), "token.deleted", actor.name, "renter",
                  "token=" + id);
  }));
  deps_.changed();
  return {};
}

Result<SshKey> Accounts::add_ssh_key(const Actor& actor, const std::string& name,
                                     const std::string& public_key) {
  TRY_ASSIGN(const ParsedSshKey parsed, parse_ssh_key(public_key));
  SshKey key;
  key.id = deps_.entropy.id<SshKeyId>();
  key.account_id = actor.account;
  key.public_key = parsed.normalized;
  key.fingerprint = parsed.fingerprint;
  key.created_at = deps_.clock.now();
  const std::string fallback = parsed.comment.empty() ? parsed.type : parsed.comment;
  TRY_ASSIGN(key.name, normalize_name("name", name.empty() ? fallback : name));
  TRY(deps_.store.write([&](Tx& tx) -> Status {
    TRY_ASSIGN(const auto rows, tx.accounts().ssh_keys(actor.account));
    if (static_cast<int>(rows.size()) >= limits::kSshKeysPerAccount) {
      return fail(ErrorCode::quota_exceeded,
                  Text{"an account has at most 20 SSH keys", "每个账户最多 20 个 SSH 公钥"});
    }
    for (const SshKey& row : rows) {
      if (row.fingerprint == key.fingerprint) {
        return fail(ErrorCode::conflict, text("you have this key already, as \"{}\"",
                                              "您已添加过该公钥，名称为“{}”", row.name));
      }
    }
    TRY(tx.accounts().insert_ssh_key(key));
    TRY(refresh_guests(tx, deps_, actor.account, key.created_at));
    return record(tx, actor.account, key.created_at, "ssh_key.added", actor.name, "renter",
                  "fingerprint=" + key.fingerprint);
  }));
  deps_.changed();
  return key;
}

Result<std::vector<SshKey>> Accounts::ssh_keys(const Actor& actor) {
  std::vector<SshKey> rows;
  TRY(deps_.store.read([&](Tx& tx) -> Status {
    TRY_ASSIGN(rows, tx.accounts().ssh_keys(actor.account));
    return {};
  }));
  return rows;
}

Status Accounts::delete_ssh_key(const Actor& actor, const std::string& id) {
  TRY(deps_.store.write([&](Tx& tx) -> Status {
    bool deleted = false;
    if (is_id_text(SshKeyTag::kPrefix, id)) {
      TRY_ASSIGN(deleted, tx.accounts().delete_ssh_key(actor.account, SshKeyId{id}));
    }
    if (!deleted) return fail(ErrorCode::not_found, Text{"no such SSH key", "没有该 SSH 公钥"});
    TRY(refresh_guests(tx, deps_, actor.account, deps_.clock.now()));
    return record(tx, actor.account, deps_.clock.now(), "ssh_key.deleted", actor.name, "renter",
                  "key=" + id);
  }));
  deps_.changed();
  return {};
}

Result<NewInvitation> Accounts::invite(const Actor& by) {
  constexpr size_t kCodeCharacters = 20;
  NewInvitation made;
  made.code = random_secret(deps_.entropy, kCodeCharacters);
  made.invitation.id = deps_.entropy.id<InvitationId>();
  made.invitation.code_hash = hash_token(made.code.reveal());
  made.invitation.created_by = by.account;
  made.invitation.created_at = deps_.clock.now();
  made.invitation.expires_at = made.invitation.created_at + deps_.policy.invitation;
  TRY(deps_.store.write([&](Tx& tx) -> Status {
    TRY(tx.accounts().insert_invitation(made.invitation));
    return tx.events().append(Event{0, made.invitation.created_at, std::nullopt, std::nullopt,
                                    "invitation.created", by.name, "admin",
                                    "invitation=" + made.invitation.id.text});
  }));
  return made;
}

}  // namespace cardhour
