-- Answers to requests with an Idempotency-Key, and small facts of the deployment.
CREATE TABLE idempotent_answers (
  account TEXT NOT NULL,
  idempotency_key TEXT NOT NULL,
  body_hash TEXT NOT NULL,
  result TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (account, idempotency_key)
) STRICT;
CREATE INDEX idempotent_answers_old ON idempotent_answers (at);

CREATE TABLE settings (
  name TEXT NOT NULL PRIMARY KEY,
  value TEXT NOT NULL
) STRICT;
