-- What is scarce. These unique indexes are the only guards: the engine checks none of it.
CREATE TABLE allocations (
  id TEXT NOT NULL PRIMARY KEY,
  card_uuid TEXT NOT NULL REFERENCES cards (uuid) DEFERRABLE INITIALLY DEFERRED,
  instance_id TEXT NOT NULL REFERENCES instances (id) DEFERRABLE INITIALLY DEFERRED,
  granted_at INTEGER NOT NULL,
  released_at INTEGER
) STRICT;
-- A card has at most one active owner.
CREATE UNIQUE INDEX allocations_active ON allocations (card_uuid) WHERE released_at IS NULL;
CREATE INDEX allocations_active_of_instance ON allocations (instance_id) WHERE released_at IS NULL;

-- SSH ports, addresses and id-map ranges: a number of a kind has one owner per host.
CREATE TABLE claims (
  host_id TEXT NOT NULL REFERENCES hosts (id) DEFERRABLE INITIALLY DEFERRED,
  kind TEXT NOT NULL,
  number INTEGER NOT NULL CHECK (number >= 0),
  instance_id TEXT NOT NULL REFERENCES instances (id) DEFERRABLE INITIALLY DEFERRED,
  PRIMARY KEY (host_id, kind, number)
) STRICT;
CREATE INDEX claims_of_instance ON claims (instance_id);
