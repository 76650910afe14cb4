-- What renters set for instances that do nothing, and where the warnings stand.
CREATE TABLE idle_rules (
  instance_id TEXT NOT NULL PRIMARY KEY REFERENCES instances (id) DEFERRABLE INITIALLY DEFERRED,
  action TEXT NOT NULL,
  after INTEGER NOT NULL CHECK (after > 0),
  hold_until INTEGER,
  warned_at INTEGER,
  deadline INTEGER,
  then_no_gpu INTEGER NOT NULL CHECK (then_no_gpu IN (0, 1))
) STRICT;
