-- Instances and the operations that change them. Money is in micro-units.
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
CREATE INDEX instances_of_account ON instances (account_id, created_at, id);
CREATE INDEX instances_newest ON instances (created_at, id);
CREATE INDEX instances_of_host ON instances (host_id) WHERE observed <> 'purged';
CREATE INDEX instances_alive_of_account ON instances (account_id, id) WHERE observed <> 'purged';
CREATE INDEX instances_alive ON instances (id) WHERE observed <> 'purged';
CREATE INDEX instances_bin ON instances (bin_until, id) WHERE observed = 'in_bin';
-- Those that need an operation, unless they have one.
CREATE INDEX instances_moving ON instances (id)
  WHERE (observed IN ('creating', 'starting', 'stopping', 'releasing')
         OR (observed = 'in_bin' AND desired = 'purged')
         OR (observed = 'running' AND guest_current = 0));

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
) STRICT;
-- An instance has at most one pending operation.
CREATE UNIQUE INDEX operations_pending ON operations (instance_id) WHERE state = 'pending';
CREATE INDEX operations_due ON operations (not_before, id) WHERE state = 'pending';
