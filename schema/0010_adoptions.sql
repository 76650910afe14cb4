-- What was found in the engine and not in the database, as after the restore of an older
-- backup: the instance is kept, uncharged, until the operator decides. A row goes with that.
CREATE TABLE adoptions (
  instance_id TEXT NOT NULL PRIMARY KEY REFERENCES instances (id) DEFERRABLE INITIALLY DEFERRED,
  kind TEXT NOT NULL,
  engine_account TEXT NOT NULL,
  generation INTEGER NOT NULL,
  found_at INTEGER NOT NULL
) STRICT;
