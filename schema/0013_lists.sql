-- What a list of instances shows beside each, and what the settle loop takes back, by index.
CREATE INDEX segments_closed_of_instance ON segments (instance_id, posted)
  WHERE closed_at IS NOT NULL;
CREATE INDEX instances_warned ON instances (account_id, id) WHERE notice_reason <> '';
