-- Budgets: how much of each has been charged in which window.

-- What an effect has been charged: JSON, so that it can be given back whatever the config says by then. NULL: nothing.
ALTER TABLE effects ADD COLUMN charged TEXT;

-- One row for each count and window. A window that is over is purged after a day: by then no clock of a replica that
-- is off by hours can still be in it. No foreign key: counts are of providers and flows, which are config.
CREATE TABLE charges (
  scope        TEXT    NOT NULL,
  window_start BIGINT  NOT NULL,
  window_end   BIGINT  NOT NULL CHECK (window_end > window_start),
  used         BIGINT  NOT NULL CHECK (used >= 0),
  PRIMARY KEY (scope, window_start)
);
CREATE INDEX charges_over ON charges (window_end);

-- Those that wait for room in a budget, the first to go first: looked at when a charge is given back.
CREATE INDEX effects_waiting ON effects (provider, due_at)
  WHERE state = 'pending' AND executor = 'dispatcher' AND reason IN ('budget_used_up', 'budget_too_small');
