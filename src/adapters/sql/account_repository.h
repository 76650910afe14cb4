// Accounts, tokens, SSH keys and invitations in SQL; see ports/store.h.
#pragma once

#include "adapters/sql/connection.h"
#include "ports/store.h"

namespace cardhour::sql {

class SqlAccountRepository : public AccountRepository {
 public:
  explicit SqlAccountRepository(Connection& connection) : connection_(connection) {}

  Status insert(const Account& account) override;
  Status update(const Account& account) override;
  Result<std::optional<Account>> find(const AccountId& id) override;
  Result<std::optional<Account>> find_login(const std::string& login) override;
  Result<std::vector<Account>> page(const Page& page) override;
  Result<int64_t> count() override;
  Result<std::vector<AccountId>> due(Timestamp now, int limit) override;
  Status set_next_settlement(const AccountId& id, std::optional<Timestamp> at) override;

  Status insert_token(const Token& token) override;
  Result<std::optional<Token>> find_token(const TokenId& id) override;
  Result<std::vector<Token>> tokens(const AccountId& id) override;
  Result<bool> delete_token(const TokenId& id) override;
  Status delete_sessions(const AccountId& id, const TokenId& except) override;
  Status delete_tokens_of(const InstanceId& id) override;
  Status delete_expired_tokens(Timestamp now) override;

  Status insert_ssh_key(const SshKey& key) override;
  Result<std::vector<SshKey>> ssh_keys(const AccountId& id) override;
  Result<bool> delete_ssh_key(const AccountId& account, const SshKeyId& id) override;

  Status insert_invitation(const Invitation& invitation) override;
  Result<std::optional<Invitation>> find_invitation(const std::string& code_hash) override;
  Result<bool> use_invitation(const InvitationId& id, const AccountId& by) override;

 private:
  Connection& connection_;
};

}  // namespace cardhour::sql
