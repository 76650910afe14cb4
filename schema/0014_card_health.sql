-- Why cards are out of the market, and the errors that their driver reported.
CREATE TABLE card_conditions (
  card_uuid TEXT NOT NULL REFERENCES cards (uuid) DEFERRABLE INITIALLY DEFERRED,
  kind TEXT NOT NULL,
  reason TEXT NOT NULL,
  note TEXT NOT NULL,
  actor TEXT NOT NULL,
  since INTEGER NOT NULL,
  PRIMARY KEY (card_uuid, kind)
) STRICT;

CREATE TABLE card_xids (
  card_uuid TEXT NOT NULL REFERENCES cards (uuid) DEFERRABLE INITIALLY DEFERRED,
  code INTEGER NOT NULL,
  count INTEGER NOT NULL CHECK (count > 0),
  first_at INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  PRIMARY KEY (card_uuid, code)
) STRICT;
