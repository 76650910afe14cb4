-- The append-only history: audit log, event feed, and the answer to "why". seq is the highest
-- one plus one, so whatever prunes old events leaves the newest.
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
CREATE INDEX events_of_account ON events (account_id, seq) WHERE account_id IS NOT NULL;
CREATE INDEX events_of_instance ON events (instance_id, seq) WHERE instance_id IS NOT NULL;
