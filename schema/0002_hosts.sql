-- Hosts and their cards as last seen, and the price book. Money is in micro-units.
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
CREATE INDEX cards_of_host ON cards (host_id, pci_address, uuid);

-- A model is for rent in a mode when it has a row here; no_gpu has the empty model.
CREATE TABLE prices (
  model TEXT NOT NULL,
  mode TEXT NOT NULL,
  per_hour INTEGER NOT NULL CHECK (per_hour >= 0),
  PRIMARY KEY (model, mode)
) STRICT;
