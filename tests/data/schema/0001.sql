BEGIN TRANSACTION;
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
INSERT INTO "accounts" VALUES('aoperator00001','operator','x','admin','active',1764547200000,NULL,0);
INSERT INTO "accounts" VALUES('arenter0000001','renter1','x','renter','active',1764547200000,1764554400000,3);
CREATE TABLE invitations (
  id TEXT NOT NULL PRIMARY KEY,
  code_hash TEXT NOT NULL,
  created_by TEXT NOT NULL REFERENCES accounts (id) DEFERRABLE INITIALLY DEFERRED,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  used_by TEXT REFERENCES accounts (id) DEFERRABLE INITIALLY DEFERRED
) STRICT;
INSERT INTO "invitations" VALUES('ninvitation001','hash','aoperator00001',1764547200000,1765756800000,'arenter0000001');
CREATE TABLE schema_version (version INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL) STRICT;
INSERT INTO "schema_version" VALUES(1,'0001_accounts');
CREATE TABLE ssh_keys (
  id TEXT NOT NULL PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id) DEFERRABLE INITIALLY DEFERRED,
  name TEXT NOT NULL,
  public_key TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
INSERT INTO "ssh_keys" VALUES('kkey0000000001','arenter0000001','laptop','ssh-ed25519 AAAA renter1','SHA256:abc',1764547200000);
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
INSERT INTO "tokens" VALUES('tsession000001','arenter0000001','session',NULL,'laptop','hash','read instances money',1764547200000,1767139200000);
INSERT INTO "tokens" VALUES('tinstance00001','arenter0000001','instance','irunning000001','irunning000001','hash','',1764547200000,NULL);
CREATE UNIQUE INDEX accounts_login ON accounts (login);
CREATE INDEX accounts_due ON accounts (next_settlement_at, id) WHERE next_settlement_at IS NOT NULL;
CREATE INDEX tokens_of_account ON tokens (account_id, created_at, id);
CREATE INDEX tokens_of_instance ON tokens (instance_id) WHERE instance_id IS NOT NULL;
CREATE INDEX tokens_expiring ON tokens (expires_at) WHERE expires_at IS NOT NULL;
CREATE UNIQUE INDEX ssh_keys_fingerprint ON ssh_keys (account_id, fingerprint);
CREATE INDEX ssh_keys_of_account ON ssh_keys (account_id, created_at, id);
CREATE UNIQUE INDEX invitations_code ON invitations (code_hash);
COMMIT;
