-- What is free where: a row for each model on a host. A cache over cards and allocations, written
-- anew for the host in the transaction that changes either; the guard of a card stays the unique
-- index allocations_active.
CREATE TABLE host_models (
  host_id TEXT NOT NULL REFERENCES hosts (id) DEFERRABLE INITIALLY DEFERRED,
  model TEXT NOT NULL,
  cards_present INTEGER NOT NULL CHECK (cards_present >= 0),
  cards_free INTEGER NOT NULL CHECK (cards_free >= 0),
  host_cards INTEGER NOT NULL CHECK (host_cards >= 0),
  host_busy INTEGER NOT NULL CHECK (host_busy >= 0),
  PRIMARY KEY (host_id, model)
) STRICT;
-- In the order in which domain/placement.h prefers hosts.
CREATE INDEX host_models_best ON host_models (model, cards_free, (host_busy = 0), host_id);
INSERT INTO host_models
  SELECT c.host_id, c.model, sum(c.present),
    sum(CASE WHEN c.present = 1 AND c.fault = '' AND a.card_uuid IS NULL THEN 1 ELSE 0 END),
    (SELECT count(*) FROM cards d WHERE d.host_id = c.host_id),
    (SELECT count(*) FROM cards d JOIN allocations b ON b.card_uuid = d.uuid
      WHERE d.host_id = c.host_id AND b.released_at IS NULL)
  FROM cards c LEFT JOIN allocations a ON a.card_uuid = c.uuid AND a.released_at IS NULL
  GROUP BY c.host_id, c.model;
CREATE INDEX instances_no_gpu ON instances (host_id)
  WHERE mode = 'no_gpu' AND run_id IS NOT NULL AND observed <> 'purged';
