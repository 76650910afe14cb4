#include "adapters/sql/account_repository.h"

namespace cardhour::sql {

Status SqlAccountRepository::insert(const Account& account) {
  static const std::string sql = insert_sql<Account>("accounts");
  return connection_.run(sql, account);
}

Status SqlAccountRepository::update(const Account& account) {
  static const std::string sql = update_sql<Account>("accounts", "id = :key");
  return connection_.run_one(sql, WithoutKey{account}, account.id);
}

Result<std::optional<Account>> SqlAccountRepository::find(const AccountId& id) {
  static const std::string sql = select_sql<Account>("accounts", "where id = :id");
  return connection_.find<Account>(sql, id);
}

Result<std::optional<Account>> SqlAccountRepository::find_login(const std::string& login) {
  static const std::string sql = select_sql<Account>("accounts", "where login = :login");
  return connection_.find<Account>(sql, login);
}

Result<std::vector<Account>> SqlAccountRepository::page(const Page& page) {
  static const std::string sql =
      select_sql<Account>("accounts", "where id > :after order by id limit :limit");
  return connection_.select<Account>(sql, page.after, page.limit);
}

Result<int64_t> SqlAccountRepository::count() {
  static const std::string sql = "select count(*) from accounts";
  return connection_.value<int64_t>(sql);
}

Result<std::vector<AccountId>> SqlAccountRepository::due(Timestamp now, int limit) {
  static const std::string sql =
      "select id from accounts where next_settlement_at <= :now"
      " order by next_settlement_at, id limit :limit";
  return connection_.select<AccountId>(sql, now, limit);
}

Status SqlAccountRepository::set_next_settlement(const AccountId& id, std::optional<Timestamp> at) {
  static const std::string sql = "update accounts set next_settlement_at = :at where id = :id";
  return connection_.run_one(sql, at, id);
}

Status SqlAccountRepository::insert_token(const Token& token) {
  static const std::string sql = insert_sql<Token>("tokens");
  return connection_.run(sql, token);
}

Result<std::optional<Token>> SqlAccountRepository::find_token(const TokenId& id) {
  static const std::string sql = select_sql<Token>("tokens", "where id = :id");
  return connection_.find<Token>(sql, id);
}

Result<std::vector<Token>> SqlAccountRepository::tokens(const AccountId& id) {
  static const std::string sql =
      select_sql<Token>("tokens", "where account_id = :account order by created_at desc, id desc");
  return connection_.select<Token>(sql, id);
}

Result<bool> SqlAccountRepository::delete_token(const TokenId& id) {
  static const std::string sql = "delete from tokens where id = :id";
  TRY_ASSIGN(const int64_t deleted, connection_.change(sql, id));
  return deleted > 0;
}

Status SqlAccountRepository::delete_sessions(const AccountId& id, const TokenId& except) {
  static const std::string sql =
      "delete from tokens where account_id = :account and kind = :kind and id <> :except";
  return connection_.run(sql, id, TokenKind::session, except);
}

Status SqlAccountRepository::delete_tokens_of(const InstanceId& id) {
  static const std::string sql = "delete from tokens where instance_id = :instance";
  return connection_.run(sql, id);
}

Status SqlAccountRepository::delete_expired_tokens(Timestamp now) {
  static const std::string sql = "delete from tokens where expires_at <= :now";
  return connection_.run(sql, now);
}

Status SqlAccountRepository::insert_ssh_key(const SshKey& key) {
  static const std::string sql = insert_sql<SshKey>("ssh_keys");
  return connection_.run(sql, key);
}

Result<std::vector<SshKey>> SqlAccountRepository::ssh_keys(const AccountId& id) {
  static const std::string sql =
      select_sql<SshKey>("ssh_keys", "where account_id = :account order by created_at, id");
  return connection_.select<SshKey>(sql, id);
}

Result<bool> SqlAccountRepository::delete_ssh_key(const AccountId& account, const SshKeyId& id) {
  static const std::string sql = "delete from ssh_keys where id = :id and account_id = :account";
  TRY_ASSIGN(const int64_t deleted, connection_.change(sql, id, account));
  return deleted > 0;
}

Status SqlAccountRepository::insert_invitation(const Invitation& invitation) {
  static const std::string sql = insert_sql<Invitation>("invitations");
  return connection_.run(sql, invitation);
}

Result<std::optional<Invitation>> SqlAccountRepository::find_invitation(
    const std::string& code_hash) {
  static const std::string sql = select_sql<Invitation>("invitations", "where code_hash = :code");
  return connection_.find<Invitation>(sql, code_hash);
}

Result<bool> SqlAccountRepository::use_invitation(const InvitationId& id, const AccountId& by) {
  static const std::string sql =
      "update invitations set used_by = :by where id = :id and used_by is null";
  TRY_ASSIGN(const int64_t used, connection_.change(sql, by, id));
  return used > 0;
}

}  // namespace cardhour::sql
