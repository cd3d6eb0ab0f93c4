-- Every table leads with the run, so one schema serves one file, one PostgreSQL, and an engine that shards by it.
-- Times are microseconds since 1970 UTC. States are words; CHECKs tie them to what must exist in them.

CREATE TABLE runs (
  run_id            BLOB    NOT NULL PRIMARY KEY CHECK (length(run_id) = 20),
  tenant            TEXT    NOT NULL,
  flow              TEXT    NOT NULL,
  flow_revision     TEXT    NOT NULL,
  key               TEXT    NOT NULL,
  state             TEXT    NOT NULL CHECK (state IN ('queued', 'processing', 'awaiting_human', 'approved', 'completed',
                                                      'failed_retryable', 'failed_terminal', 'quarantined')),
  reason            TEXT,
  version           INTEGER NOT NULL,
  payload_hash      BLOB    NOT NULL CHECK (length(payload_hash) = 32),
  identity_rule     TEXT    NOT NULL,
  owner             TEXT,
  fence             INTEGER NOT NULL,
  lease_since       INTEGER,
  lease_expires_at  INTEGER,
  attempts          INTEGER NOT NULL CHECK (attempts BETWEEN 0 AND attempts_max),
  attempts_max      INTEGER NOT NULL,
  repairs_used      INTEGER NOT NULL,
  takeovers         INTEGER NOT NULL,
  effects_total     INTEGER NOT NULL,
  effects_open      INTEGER NOT NULL,
  effects_failed    INTEGER NOT NULL,
  effects_cancelled INTEGER NOT NULL,
  refusals          INTEGER NOT NULL,
  next_attempt_at   INTEGER,
  journal_seq       INTEGER NOT NULL CHECK (journal_seq > 0),
  journal_head      BLOB    NOT NULL CHECK (length(journal_head) = 32),
  origin            TEXT    NOT NULL,
  created_at        INTEGER NOT NULL,
  updated_at        INTEGER NOT NULL,
  expires_at        INTEGER,
  content_expires_at INTEGER,
  -- A lease is bounded to be a lease: no run in processing without an end (HC-04), none with one outside of it.
  CHECK ((state = 'processing') = (lease_expires_at IS NOT NULL)),
  CHECK ((lease_expires_at IS NULL) = (lease_since IS NULL)),
  CHECK (lease_expires_at > lease_since),
  CHECK (state <> 'processing' OR (owner IS NOT NULL AND fence > 0 AND attempts > 0)),
  CHECK ((state IN ('awaiting_human', 'failed_retryable', 'failed_terminal', 'quarantined')) = (reason IS NOT NULL)),
  CHECK ((state = 'failed_retryable') = (next_attempt_at IS NOT NULL)),
  CHECK ((state IN ('completed', 'failed_terminal')) = (expires_at IS NOT NULL)),
  CHECK (state NOT IN ('completed', 'failed_terminal') OR effects_open = 0),
  CHECK (effects_open BETWEEN 0 AND effects_total AND effects_failed + effects_cancelled <= effects_total)
) STRICT;
CREATE INDEX runs_leased ON runs (lease_expires_at) WHERE state = 'processing';
CREATE INDEX runs_overtaken ON runs (lease_expires_at) WHERE state = 'processing' AND (attempts >= attempts_max OR effects_open > 0);
CREATE INDEX runs_waiting ON runs (tenant, flow, next_attempt_at, updated_at) WHERE state IN ('queued', 'failed_retryable');
CREATE INDEX runs_open ON runs (state, updated_at) WHERE state IN ('queued', 'awaiting_human', 'approved', 'failed_retryable', 'quarantined');
CREATE INDEX runs_expiring ON runs (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX runs_content_expiring ON runs (content_expires_at) WHERE content_expires_at IS NOT NULL;

CREATE TABLE contents (
  run_id   BLOB NOT NULL PRIMARY KEY REFERENCES runs (run_id) ON DELETE CASCADE,
  payload  TEXT,
  output   TEXT,
  result   TEXT,
  proposal TEXT
) STRICT;

CREATE TABLE effects (
  run_id           BLOB    NOT NULL REFERENCES runs (run_id) ON DELETE CASCADE,
  n                INTEGER NOT NULL CHECK (n > 0),
  type             TEXT    NOT NULL,
  target           TEXT    NOT NULL,
  provider         TEXT    NOT NULL,
  executor         TEXT    NOT NULL CHECK (executor IN ('dispatcher', 'inline')),
  state            TEXT    NOT NULL CHECK (state IN ('scheduled', 'pending', 'sending', 'unknown', 'review', 'completed',
                                                     'failed', 'cancelled')),
  reason           TEXT,
  payload          TEXT    NOT NULL,
  decided          BLOB    CHECK (length(decided) = 32),
  provider_key     TEXT    NOT NULL,
  external_id      TEXT,
  fence            INTEGER NOT NULL,
  attempts         INTEGER NOT NULL CHECK (attempts >= 0),
  due_at           INTEGER,
  lease_expires_at INTEGER,
  first_sent_at    INTEGER,
  unknown_since    INTEGER,
  created_at       INTEGER NOT NULL,
  updated_at       INTEGER NOT NULL,
  PRIMARY KEY (run_id, n),
  -- One row per intention: two identical proposals are one effect.
  UNIQUE (run_id, type, target),
  CHECK ((state IN ('scheduled', 'pending', 'unknown', 'review')) = (due_at IS NOT NULL)),
  CHECK ((state = 'sending' AND executor = 'dispatcher') = (lease_expires_at IS NOT NULL)),
  -- Nothing is sent, or was sent, that nobody decided (G5).
  CHECK (decided IS NOT NULL OR state = 'cancelled'),
  CHECK (state NOT IN ('unknown') OR unknown_since IS NOT NULL)
) STRICT;
CREATE INDEX effects_due ON effects (provider, due_at) WHERE state IN ('pending', 'scheduled') AND executor = 'dispatcher';
CREATE INDEX effects_sending ON effects (lease_expires_at) WHERE state = 'sending';
CREATE INDEX effects_unknown ON effects (due_at) WHERE state = 'unknown';
CREATE INDEX effects_open ON effects (state, updated_at) WHERE state IN ('scheduled', 'pending', 'sending', 'unknown', 'review');
CREATE INDEX effects_recent ON effects (updated_at, run_id, n);

CREATE TABLE attempts (
  run_id     BLOB    NOT NULL,
  effect_n   INTEGER NOT NULL,
  fence      INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  ended_at   INTEGER,
  class      TEXT,
  phase      TEXT,
  bytes_sent INTEGER,
  status     INTEGER,
  detail     TEXT,
  handle     TEXT,
  PRIMARY KEY (run_id, effect_n, fence),
  FOREIGN KEY (run_id, effect_n) REFERENCES effects (run_id, n) ON DELETE CASCADE,
  CHECK ((ended_at IS NULL) = (class IS NULL)),
  CHECK ((ended_at IS NULL) = (phase IS NULL))
) STRICT, WITHOUT ROWID;

CREATE TABLE approvals (
  run_id       BLOB    NOT NULL REFERENCES runs (run_id) ON DELETE CASCADE,
  n            INTEGER NOT NULL CHECK (n > 0),
  state        TEXT    NOT NULL CHECK (state IN ('open', 'approved', 'rejected', 'expired', 'withdrawn')),
  effects_hash BLOB    NOT NULL CHECK (length(effects_hash) = 32),
  proposed     TEXT    NOT NULL,
  terms        TEXT    NOT NULL,
  decisions    TEXT    NOT NULL,
  created_at   INTEGER NOT NULL,
  expires_at   INTEGER NOT NULL,
  next_step_at INTEGER,
  decided_at   INTEGER,
  PRIMARY KEY (run_id, n),
  CHECK ((state = 'open') = (decided_at IS NULL)),
  CHECK (state = 'open' OR next_step_at IS NULL),
  CHECK (expires_at > created_at)
) STRICT;
-- One question at a time per run.
CREATE UNIQUE INDEX approvals_open ON approvals (run_id) WHERE state = 'open';
CREATE INDEX approvals_expiring ON approvals (expires_at) WHERE state = 'open';
CREATE INDEX approvals_recent ON approvals (created_at, run_id, n);
CREATE INDEX approvals_stepping ON approvals (next_step_at) WHERE next_step_at IS NOT NULL;

CREATE TABLE approval_tokens (
  run_id     BLOB    NOT NULL,
  approval_n INTEGER NOT NULL,
  hash       BLOB    NOT NULL CHECK (length(hash) = 32),
  audience   TEXT    NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (run_id, approval_n, hash),
  FOREIGN KEY (run_id, approval_n) REFERENCES approvals (run_id, n) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX approval_tokens_hash ON approval_tokens (hash);

CREATE TABLE answers (
  run_id BLOB NOT NULL REFERENCES runs (run_id) ON DELETE CASCADE,
  call   BLOB NOT NULL CHECK (length(call) = 32),
  body   TEXT NOT NULL,
  PRIMARY KEY (run_id, call)
) STRICT, WITHOUT ROWID;

-- No foreign key: the journal of a purged run stays until its own retention ends, and house chains have no run.
CREATE TABLE journal (
  run_id BLOB    NOT NULL,
  seq    INTEGER NOT NULL CHECK (seq > 0),
  at     INTEGER NOT NULL,
  kind   TEXT    NOT NULL,
  entry  TEXT    NOT NULL,
  hash   BLOB    NOT NULL CHECK (length(hash) = 32),
  PRIMARY KEY (run_id, seq)
) STRICT;

-- Heads of the chains that belong to no run: one house per tenant, and the last entry of each purged run.
CREATE TABLE heads (
  run_id BLOB    NOT NULL PRIMARY KEY,
  tenant TEXT    NOT NULL,
  seq    INTEGER NOT NULL CHECK (seq > 0),
  hash   BLOB    NOT NULL CHECK (length(hash) = 32),
  purge_after INTEGER
) STRICT;
CREATE INDEX heads_expiring ON heads (purge_after) WHERE purge_after IS NOT NULL;

CREATE TABLE notices (
  run_id   BLOB    NOT NULL,
  n        INTEGER NOT NULL,
  tenant   TEXT    NOT NULL,
  kind     TEXT    NOT NULL,
  dedupe   TEXT    NOT NULL,
  state    TEXT    NOT NULL CHECK (state IN ('pending', 'sent', 'undeliverable')),
  attempts INTEGER NOT NULL,
  due_at   INTEGER NOT NULL,
  PRIMARY KEY (run_id, n)
) STRICT;
CREATE INDEX notices_due ON notices (due_at) WHERE state = 'pending';
CREATE INDEX notices_dedupe ON notices (dedupe, due_at) WHERE state = 'sent';

CREATE TABLE switches (
  scope   TEXT    NOT NULL CHECK (scope IN ('all', 'tenant', 'flow', 'provider', 'effect_type')),
  name    TEXT    NOT NULL,
  enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  reason  TEXT    NOT NULL,
  turned_by TEXT  NOT NULL,
  turned_at INTEGER NOT NULL,
  PRIMARY KEY (scope, name),
  CHECK ((scope = 'all') = (name = ''))
) STRICT, WITHOUT ROWID;

CREATE TABLE api_keys (
  public_id   TEXT    NOT NULL PRIMARY KEY,
  tenant      TEXT    NOT NULL,
  name        TEXT    NOT NULL,
  secret_hash BLOB    NOT NULL CHECK (length(secret_hash) = 32),
  scopes      TEXT    NOT NULL,
  flows       TEXT    NOT NULL,
  created_at  INTEGER NOT NULL,
  revoked_at  INTEGER
) STRICT;

CREATE TABLE users (
  tenant        TEXT    NOT NULL,
  name          TEXT    NOT NULL,
  email         TEXT,
  password_hash TEXT    NOT NULL,
  roles         TEXT    NOT NULL,
  disabled      INTEGER NOT NULL CHECK (disabled IN (0, 1)),
  created_at    INTEGER NOT NULL,
  updated_at    INTEGER NOT NULL,
  PRIMARY KEY (tenant, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE sessions (
  hash       BLOB    NOT NULL PRIMARY KEY CHECK (length(hash) = 32),
  tenant     TEXT    NOT NULL,
  user_name  TEXT    NOT NULL,
  data       TEXT    NOT NULL,
  created_at INTEGER NOT NULL,
  seen_at    INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;
