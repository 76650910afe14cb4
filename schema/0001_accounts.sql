-- Accounts and what belongs to a login. Rows of accounts are never deleted.
CREATE TABLE accounts (
  id TEXT NOT NULL PRIMARY KEY,
  login TEXT NOT NULL,
  password_hash TEXT NOT NULL,
  role TEXT NOT NULL,
  state TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  next_settlement_at INTEGER,
  version INTEGER NOT NULL CHECK (version >= 0)
) STRICT;
CREATE UNIQUE INDEX accounts_login ON accounts (login);
CREATE INDEX accounts_due ON accounts (next_settlement_at, id) WHERE next_settlement_at IS NOT NULL;

CREATE TABLE tokens (
  id TEXT NOT NULL PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id) DEFERRABLE INITIALLY DEFERRED,
  kind TEXT NOT NULL,
  instance_id TEXT,
  name TEXT NOT NULL,
  secret_hash TEXT NOT NULL,
  scopes TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER
) STRICT;
CREATE INDEX tokens_of_account ON tokens (account_id, created_at, id);
CREATE INDEX tokens_of_instance ON tokens (instance_id) WHERE instance_id IS NOT NULL;
CREATE INDEX tokens_expiring ON tokens (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE ssh_keys (
  id TEXT NOT NULL PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id) DEFERRABLE INITIALLY DEFERRED,
  name TEXT NOT NULL,
  public_key TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
-- An account has a key once.
CREATE UNIQUE INDEX ssh_keys_fingerprint ON ssh_keys (account_id, fingerprint);
CREATE INDEX ssh_keys_of_account ON ssh_keys (account_id, created_at, id);

CREATE TABLE invitations (
  id TEXT NOT NULL PRIMARY KEY,
  code_hash TEXT NOT NULL,
  created_by TEXT NOT NULL REFERENCES accounts (id) DEFERRABLE INITIALLY DEFERRED,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  used_by TEXT REFERENCES accounts (id) DEFERRABLE INITIALLY DEFERRED
) STRICT;
CREATE UNIQUE INDEX invitations_code ON invitations (code_hash);
