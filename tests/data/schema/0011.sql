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
CREATE TABLE adoptions (
  instance_id TEXT NOT NULL PRIMARY KEY REFERENCES instances (id) DEFERRABLE INITIALLY DEFERRED,
  kind TEXT NOT NULL,
  engine_account TEXT NOT NULL,
  generation INTEGER NOT NULL,
  found_at INTEGER NOT NULL
) STRICT;
INSERT INTO "adoptions" VALUES('istopped000001','instance','anobody0000001',4,1764550800000);
CREATE TABLE allocations (
  id TEXT NOT NULL PRIMARY KEY,
  card_uuid TEXT NOT NULL REFERENCES cards (uuid) DEFERRABLE INITIALLY DEFERRED,
  instance_id TEXT NOT NULL REFERENCES instances (id) DEFERRABLE INITIALLY DEFERRED,
  granted_at INTEGER NOT NULL,
  released_at INTEGER
) STRICT;
INSERT INTO "allocations" VALUES('lallocation001','GPU-00000001','irunning000001',1764547200000,NULL);
INSERT INTO "allocations" VALUES('lallocation002','GPU-00000002','irunning000001',1764540000000,1764543600000);
CREATE TABLE cards (
  uuid TEXT NOT NULL PRIMARY KEY,
  host_id TEXT NOT NULL REFERENCES hosts (id) DEFERRABLE INITIALLY DEFERRED,
  model TEXT NOT NULL,
  driver_name TEXT NOT NULL,
  pci_address TEXT NOT NULL,
  card_index INTEGER NOT NULL,
  vram_bytes INTEGER NOT NULL CHECK (vram_bytes >= 0),
  numa_node INTEGER,
  simulated INTEGER NOT NULL CHECK (simulated IN (0, 1)),
  present INTEGER NOT NULL CHECK (present IN (0, 1)),
  fault TEXT NOT NULL
) STRICT;
INSERT INTO "cards" VALUES('GPU-00000001','hhost000000001','rtx-4090','NVIDIA GeForce RTX 4090','0000:01:00.0',0,25757220864,0,0,1,'');
INSERT INTO "cards" VALUES('GPU-00000002','hhost000000001','rtx-4090','NVIDIA GeForce RTX 4090','0000:02:00.0',1,25757220864,NULL,0,1,'');
CREATE TABLE claims (
  host_id TEXT NOT NULL REFERENCES hosts (id) DEFERRABLE INITIALLY DEFERRED,
  kind TEXT NOT NULL,
  number INTEGER NOT NULL CHECK (number >= 0),
  instance_id TEXT NOT NULL REFERENCES instances (id) DEFERRABLE INITIALLY DEFERRED,
  PRIMARY KEY (host_id, kind, number)
) STRICT;
INSERT INTO "claims" VALUES('hhost000000001','ssh_port',22000,'irunning000001');
INSERT INTO "claims" VALUES('hhost000000001','ipv4',256,'irunning000001');
INSERT INTO "claims" VALUES('hhost000000001','idmap',1,'irunning000001');
INSERT INTO "claims" VALUES('hhost000000001','ssh_port',22001,'istopped000001');
INSERT INTO "claims" VALUES('hhost000000001','ipv4',257,'istopped000001');
INSERT INTO "claims" VALUES('hhost000000001','idmap',2,'istopped000001');
CREATE TABLE events (
  seq INTEGER NOT NULL PRIMARY KEY CHECK (seq > 0),
  at INTEGER NOT NULL,
  account_id TEXT,
  instance_id TEXT,
  kind TEXT NOT NULL,
  actor TEXT NOT NULL,
  reason TEXT NOT NULL,
  detail TEXT NOT NULL
) STRICT;
INSERT INTO "events" VALUES(1,1764547200000,'arenter0000001','irunning000001','instance.creating','renter1','renter','mode=on_demand');
INSERT INTO "events" VALUES(2,1764547203000,'arenter0000001','irunning000001','instance.running','system:operations','ready','');
CREATE TABLE hosts (
  id TEXT NOT NULL PRIMARY KEY,
  name TEXT NOT NULL,
  cpu_total INTEGER NOT NULL CHECK (cpu_total >= 0),
  memory_bytes INTEGER NOT NULL CHECK (memory_bytes >= 0),
  pool_total_bytes INTEGER NOT NULL CHECK (pool_total_bytes >= 0),
  pool_used_bytes INTEGER NOT NULL CHECK (pool_used_bytes >= 0),
  driver_version TEXT NOT NULL,
  cuda_version TEXT NOT NULL,
  last_seen_at INTEGER NOT NULL,
  reachable INTEGER NOT NULL CHECK (reachable IN (0, 1))
) STRICT;
INSERT INTO "hosts" VALUES('hhost000000001','box',64,274877906944,4398046511104,1073741824,'550.54.14','12.4',1764550800000,1);
CREATE TABLE idempotent_answers (
  account TEXT NOT NULL,
  idempotency_key TEXT NOT NULL,
  body_hash TEXT NOT NULL,
  result TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (account, idempotency_key)
) STRICT;
INSERT INTO "idempotent_answers" VALUES('arenter0000001','key','hash','irunning000001',1764547200000);
CREATE TABLE instances (
  id TEXT NOT NULL PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id) DEFERRABLE INITIALLY DEFERRED,
  name TEXT NOT NULL,
  image TEXT NOT NULL,
  purpose TEXT NOT NULL,
  host_id TEXT NOT NULL REFERENCES hosts (id) DEFERRABLE INITIALLY DEFERRED,
  desired TEXT NOT NULL,
  observed TEXT NOT NULL,
  reachable INTEGER NOT NULL CHECK (reachable IN (0, 1)),
  mode TEXT NOT NULL,
  gpu_model TEXT NOT NULL,
  gpu_count INTEGER NOT NULL CHECK (gpu_count >= 0),
  millicores INTEGER NOT NULL CHECK (millicores >= 0),
  memory_bytes INTEGER NOT NULL CHECK (memory_bytes >= 0),
  system_disk_bytes INTEGER NOT NULL CHECK (system_disk_bytes >= 0),
  data_disk_bytes INTEGER NOT NULL CHECK (data_disk_bytes >= 0),
  nesting INTEGER NOT NULL CHECK (nesting IN (0, 1)),
  ssh_port INTEGER NOT NULL CHECK (ssh_port BETWEEN 0 AND 65535),
  ipv4 TEXT NOT NULL,
  idmap_base INTEGER NOT NULL,
  host_key_fingerprint TEXT NOT NULL,
  secrets_sealed TEXT NOT NULL,
  run_id TEXT,
  rate_per_hour INTEGER NOT NULL CHECK (rate_per_hour >= 0),
  held INTEGER NOT NULL CHECK (held >= 0),
  engine_run TEXT NOT NULL,
  ready_at INTEGER,
  notice_reason TEXT NOT NULL,
  notice_deadline INTEGER,
  guest_current INTEGER NOT NULL CHECK (guest_current IN (0, 1)),
  fault_code TEXT NOT NULL,
  fault_what_en TEXT NOT NULL,
  fault_what_zh TEXT NOT NULL,
  fault_next_en TEXT NOT NULL,
  fault_next_zh TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  stopped_at INTEGER,
  bin_until INTEGER,
  version INTEGER NOT NULL CHECK (version >= 0)
) STRICT;
INSERT INTO "instances" VALUES('irunning000001','arenter0000001','box','base','','hhost000000001','running','running',1,'on_demand','rtx-4090',1,31000,133143986176,32212254720,53687091200,0,22000,'10.177.1.0',1065536,'SHA256:abc','sealed','rrun0000000002',1980000,0,'2025-12-01T00:00:03Z',1764547203000,'',NULL,1,'','','','','',1764547200000,NULL,NULL,5);
INSERT INTO "instances" VALUES('istopped000001','arenter0000001','盒子','base','a test','hhost000000001','stopped','stopped',1,'no_gpu','',0,500,2147483648,32212254720,53687091200,1,22001,'10.177.1.1',1131072,'SHA256:abd','sealed',NULL,100000,0,'',NULL,'',NULL,0,'arrears','the balance reached zero','余额已用完','top up','请充值',1764547200000,1764550800000,NULL,9);
INSERT INTO "instances" VALUES('ipurged0000001','arenter0000001','old','base','','hhost000000001','purged','purged',1,'no_gpu','',0,500,2147483648,32212254720,0,0,22002,'10.177.1.2',1196608,'','',NULL,100000,0,'',NULL,'',NULL,1,'','','','','',1764540000000,1764543600000,NULL,12);
CREATE TABLE invitations (
  id TEXT NOT NULL PRIMARY KEY,
  code_hash TEXT NOT NULL,
  created_by TEXT NOT NULL REFERENCES accounts (id) DEFERRABLE INITIALLY DEFERRED,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  used_by TEXT REFERENCES accounts (id) DEFERRABLE INITIALLY DEFERRED
) STRICT;
INSERT INTO "invitations" VALUES('ninvitation001','hash','aoperator00001',1764547200000,1765756800000,'arenter0000001');
CREATE TABLE ledger_balances (
  ledger_account TEXT NOT NULL PRIMARY KEY,
  balance INTEGER NOT NULL
) STRICT;
INSERT INTO "ledger_balances" VALUES('clearing',-100000000);
INSERT INTO "ledger_balances" VALUES('wallet:arenter0000001',98020000);
INSERT INTO "ledger_balances" VALUES('revenue:on_demand',1980000);
CREATE TABLE ledger_transactions (
  id TEXT NOT NULL PRIMARY KEY,
  kind TEXT NOT NULL,
  account_id TEXT NOT NULL REFERENCES accounts (id) DEFERRABLE INITIALLY DEFERRED,
  at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  note TEXT NOT NULL,
  instance_id TEXT,
  corrects TEXT REFERENCES ledger_transactions (id) DEFERRABLE INITIALLY DEFERRED
) STRICT;
INSERT INTO "ledger_transactions" VALUES('xtopup00000001','topup','arenter0000001',1764547200000,'operator','receipt 17',NULL,NULL);
INSERT INTO "ledger_transactions" VALUES('xusage00000001','usage','arenter0000001',1764550803000,'system:settle','usage',NULL,NULL);
CREATE TABLE operations (
  id TEXT NOT NULL PRIMARY KEY,
  instance_id TEXT NOT NULL REFERENCES instances (id) DEFERRABLE INITIALLY DEFERRED,
  kind TEXT NOT NULL,
  step TEXT NOT NULL,
  state TEXT NOT NULL,
  attempt INTEGER NOT NULL CHECK (attempt >= 0),
  created_at INTEGER NOT NULL,
  not_before INTEGER NOT NULL,
  deadline INTEGER,
  lock_token TEXT NOT NULL,
  lock_expires_at INTEGER,
  last_error TEXT NOT NULL
, last_error_zh TEXT NOT NULL DEFAULT '') STRICT;
INSERT INTO "operations" VALUES('ooperation0001','irunning000001','start','verify','done',0,1764547200000,1764547203000,NULL,'',NULL,'','');
INSERT INTO "operations" VALUES('ooperation0002','irunning000001','refresh','deliver','pending',2,1764550000000,1764550800000,NULL,'lsomebody',1764551400000,'no answer','');
CREATE TABLE postings (
  transaction_id TEXT NOT NULL REFERENCES ledger_transactions (id) DEFERRABLE INITIALLY DEFERRED,
  position INTEGER NOT NULL CHECK (position >= 0),
  ledger_account TEXT NOT NULL,
  amount INTEGER NOT NULL,
  segment_id TEXT,
  PRIMARY KEY (transaction_id, position)
) STRICT;
INSERT INTO "postings" VALUES('xtopup00000001',0,'clearing',-100000000,NULL);
INSERT INTO "postings" VALUES('xtopup00000001',1,'wallet:arenter0000001',100000000,NULL);
INSERT INTO "postings" VALUES('xusage00000001',0,'revenue:on_demand',1980000,'ssegment000001');
INSERT INTO "postings" VALUES('xusage00000001',1,'wallet:arenter0000001',-1980000,NULL);
CREATE TABLE prices (
  model TEXT NOT NULL,
  mode TEXT NOT NULL,
  per_hour INTEGER NOT NULL CHECK (per_hour >= 0),
  PRIMARY KEY (model, mode)
) STRICT;
INSERT INTO "prices" VALUES('rtx-4090','on_demand',1980000);
INSERT INTO "prices" VALUES('','no_gpu',100000);
CREATE TABLE restores (
  restored_at INTEGER NOT NULL PRIMARY KEY,
  file TEXT NOT NULL,
  rested_at INTEGER,
  reconciled_at INTEGER
) STRICT;
INSERT INTO "restores" VALUES(1764550000000,'cardhour-20251201T000000Z.db',1764550001000,NULL);
CREATE TABLE schema_version (version INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL) STRICT;
INSERT INTO "schema_version" VALUES(1,'0001_accounts');
INSERT INTO "schema_version" VALUES(2,'0002_hosts');
INSERT INTO "schema_version" VALUES(3,'0003_instances');
INSERT INTO "schema_version" VALUES(4,'0004_allocations');
INSERT INTO "schema_version" VALUES(5,'0005_ledger');
INSERT INTO "schema_version" VALUES(6,'0006_events');
INSERT INTO "schema_version" VALUES(7,'0007_keys');
INSERT INTO "schema_version" VALUES(8,'0008_browser_sessions');
INSERT INTO "schema_version" VALUES(9,'0009_waiting_reasons');
INSERT INTO "schema_version" VALUES(10,'0010_adoptions');
INSERT INTO "schema_version" VALUES(11,'0011_restores');
CREATE TABLE segments (
  id TEXT NOT NULL PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id) DEFERRABLE INITIALLY DEFERRED,
  instance_id TEXT NOT NULL REFERENCES instances (id) DEFERRABLE INITIALLY DEFERRED,
  run_id TEXT NOT NULL,
  meter TEXT NOT NULL,
  quantity INTEGER NOT NULL CHECK (quantity >= 0),
  rate_per_hour INTEGER NOT NULL CHECK (rate_per_hour >= 0),
  unit INTEGER NOT NULL CHECK (unit >= 0),
  carried INTEGER NOT NULL CHECK (carried >= 0),
  opened_at INTEGER NOT NULL,
  closed_at INTEGER,
  open_cause TEXT NOT NULL,
  close_cause TEXT,
  posted INTEGER NOT NULL,
  booked_until INTEGER NOT NULL,
  gpu_model TEXT NOT NULL,
  card_uuids TEXT NOT NULL,
  CHECK (closed_at IS NULL OR closed_at >= opened_at),
  CHECK ((closed_at IS NULL) = (close_cause IS NULL))
) STRICT;
INSERT INTO "segments" VALUES('ssegment000001','arenter0000001','irunning000001','rrun0000000002','on_demand',1,1980000,1000,0,1764547203000,NULL,'ready',NULL,1980000,1764550803000,'rtx-4090','GPU-00000001');
CREATE TABLE settings (
  name TEXT NOT NULL PRIMARY KEY,
  value TEXT NOT NULL
) STRICT;
INSERT INTO "settings" VALUES('deployment','local');
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
, cookie_hash TEXT) STRICT;
INSERT INTO "tokens" VALUES('tsession000001','arenter0000001','session',NULL,'laptop','hash','read instances money',1764547200000,1767139200000,NULL);
INSERT INTO "tokens" VALUES('tinstance00001','arenter0000001','instance','irunning000001','irunning000001','hash','',1764547200000,NULL,NULL);
CREATE UNIQUE INDEX accounts_login ON accounts (login);
CREATE INDEX accounts_due ON accounts (next_settlement_at, id) WHERE next_settlement_at IS NOT NULL;
CREATE INDEX tokens_of_account ON tokens (account_id, created_at, id);
CREATE INDEX tokens_of_instance ON tokens (instance_id) WHERE instance_id IS NOT NULL;
CREATE INDEX tokens_expiring ON tokens (expires_at) WHERE expires_at IS NOT NULL;
CREATE UNIQUE INDEX ssh_keys_fingerprint ON ssh_keys (account_id, fingerprint);
CREATE INDEX ssh_keys_of_account ON ssh_keys (account_id, created_at, id);
CREATE UNIQUE INDEX invitations_code ON invitations (code_hash);
CREATE INDEX cards_of_host ON cards (host_id, pci_address, uuid);
CREATE INDEX instances_of_account ON instances (account_id, created_at, id);
CREATE INDEX instances_newest ON instances (created_at, id);
CREATE INDEX instances_of_host ON instances (host_id) WHERE observed <> 'purged';
CREATE INDEX instances_alive_of_account ON instances (account_id, id) WHERE observed <> 'purged';
CREATE INDEX instances_alive ON instances (id) WHERE observed <> 'purged';
CREATE INDEX instances_bin ON instances (bin_until, id) WHERE observed = 'in_bin';
CREATE INDEX instances_moving ON instances (id)
  WHERE (observed IN ('creating', 'starting', 'stopping', 'releasing')
         OR (observed = 'in_bin' AND desired = 'purged')
         OR (observed = 'running' AND guest_current = 0));
CREATE UNIQUE INDEX operations_pending ON operations (instance_id) WHERE state = 'pending';
CREATE INDEX operations_due ON operations (not_before, id) WHERE state = 'pending';
CREATE UNIQUE INDEX allocations_active ON allocations (card_uuid) WHERE released_at IS NULL;
CREATE INDEX allocations_active_of_instance ON allocations (instance_id) WHERE released_at IS NULL;
CREATE INDEX claims_of_instance ON claims (instance_id);
CREATE INDEX ledger_transactions_of_account ON ledger_transactions (account_id, at, id);
CREATE INDEX postings_of_segment ON postings (segment_id) WHERE segment_id IS NOT NULL;
CREATE INDEX segments_open_of_account ON segments (account_id) WHERE closed_at IS NULL;
CREATE INDEX segments_open_of_instance ON segments (instance_id) WHERE closed_at IS NULL;
CREATE INDEX segments_of_run ON segments (run_id);
CREATE INDEX segments_of_account ON segments (account_id, opened_at, id);
CREATE INDEX events_of_account ON events (account_id, seq) WHERE account_id IS NOT NULL;
CREATE INDEX events_of_instance ON events (instance_id, seq) WHERE instance_id IS NOT NULL;
CREATE INDEX idempotent_answers_old ON idempotent_answers (at);
COMMIT;
