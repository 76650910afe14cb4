-- Each time that this database was put back from a backup. Until reconciled_at the engine may
-- run what the rows do not know.
CREATE TABLE restores (
  restored_at INTEGER NOT NULL PRIMARY KEY,
  file TEXT NOT NULL,
  rested_at INTEGER,
  reconciled_at INTEGER
) STRICT;
