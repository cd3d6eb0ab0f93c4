-- Replay plans with their items, and the way from a run to its corrections.

-- The run that this one corrects; NULL for nearly all. Set once, with the row.
ALTER TABLE runs ADD COLUMN corrects BLOB CHECK (length(corrects) = 20);
CREATE INDEX runs_correcting ON runs (corrects, run_id) WHERE corrects IS NOT NULL;

-- A plan is made, executed at most once, and forgotten after a time. held_until: a replica is at its items until then;
-- another one goes on where it is over. filter, summary: JSON of the program's.
CREATE TABLE replays (
  replay_id    BLOB    NOT NULL PRIMARY KEY CHECK (length(replay_id) = 20),
  tenant       TEXT    NOT NULL,
  flow         TEXT    NOT NULL,
  filter       TEXT    NOT NULL,
  run_limit    INTEGER NOT NULL CHECK (run_limit > 0),
  summary      TEXT    NOT NULL,
  made_by      TEXT    NOT NULL,
  reason       TEXT    NOT NULL,
  stage        TEXT    NOT NULL CHECK (stage IN ('planned', 'running', 'done')),
  made_at      INTEGER NOT NULL,
  expires_at   INTEGER NOT NULL,
  started_at   INTEGER,
  started_by   TEXT,
  start_reason TEXT,
  ended_at     INTEGER,
  held_by      TEXT,
  held_until   INTEGER NOT NULL,
  purge_after  INTEGER NOT NULL,
  CHECK ((stage = 'planned') = (started_at IS NULL)),
  CHECK ((started_at IS NULL) = (started_by IS NULL)),
  CHECK ((stage = 'done') = (ended_at IS NOT NULL))
) STRICT;
CREATE INDEX replays_recent ON replays (tenant, made_at, replay_id);
CREATE INDEX replays_running ON replays (held_until) WHERE stage = 'running';
CREATE INDEX replays_over ON replays (purge_after) WHERE stage IN ('planned', 'done');

CREATE TABLE replay_items (
  replay_id BLOB    NOT NULL REFERENCES replays (replay_id) ON DELETE CASCADE,
  n         INTEGER NOT NULL CHECK (n > 0),
  run_id    BLOB    NOT NULL CHECK (length(run_id) = 20),
  -- The run's version when the plan was made: what changed since is skipped.
  version   INTEGER NOT NULL,
  state     TEXT    NOT NULL CHECK (state IN ('refused', 'waiting', 'done', 'skipped')),
  planned   TEXT    NOT NULL,
  why       TEXT,
  outcome   TEXT,
  PRIMARY KEY (replay_id, n),
  CHECK ((state IN ('refused', 'skipped')) = (why IS NOT NULL)),
  CHECK ((state = 'done') = (outcome IS NOT NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX replay_items_waiting ON replay_items (replay_id, n) WHERE state = 'waiting';
