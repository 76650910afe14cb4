-- Double entry and metering. Rows of ledger_transactions and postings are never updated or
-- deleted. Money is in micro-units.
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
CREATE INDEX ledger_transactions_of_account ON ledger_transactions (account_id, at, id);

CREATE TABLE postings (
  transaction_id TEXT NOT NULL REFERENCES ledger_transactions (id) DEFERRABLE INITIALLY DEFERRED,
  position INTEGER NOT NULL CHECK (position >= 0),
  ledger_account TEXT NOT NULL,
  amount INTEGER NOT NULL,
  segment_id TEXT,
  PRIMARY KEY (transaction_id, position)
) STRICT;
CREATE INDEX postings_of_segment ON postings (segment_id) WHERE segment_id IS NOT NULL;

-- A cache: the sum of the postings of each ledger account, kept in the same transaction.
CREATE TABLE ledger_balances (
  ledger_account TEXT NOT NULL PRIMARY KEY,
  balance INTEGER NOT NULL
) STRICT;

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
CREATE INDEX segments_open_of_account ON segments (account_id) WHERE closed_at IS NULL;
CREATE INDEX segments_open_of_instance ON segments (instance_id) WHERE closed_at IS NULL;
CREATE INDEX segments_of_run ON segments (run_id);
CREATE INDEX segments_of_account ON segments (account_id, opened_at, id);
