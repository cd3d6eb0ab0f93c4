-- Every table leads with the run, so one schema serves one file, one PostgreSQL, and an engine that shards by it.
-- Times are microseconds since 1970 UTC. States are words; CHECKs tie them to what must exist in them.

CREATE TABLE runs (
  run_id            BYTEA   NOT NULL PRIMARY KEY,
  tenant            TEXT    NOT NULL,
  flow              TEXT    NOT NULL,
  flow_revision     TEXT    NOT NULL,
  key               TEXT    NOT NULL,
  state             TEXT    NOT NULL,
  reason            TEXT,
  version           BIGINT NOT NULL,
  payload_hash      BYTEA   NOT NULL,
  identity_rule     TEXT    NOT NULL,
  owner             TEXT,
  fence             BIGINT NOT NULL,
  lease_since       BIGINT,
  lease_expires_at  BIGINT,
  attempts          BIGINT NOT NULL,
  attempts_max      BIGINT NOT NULL,
  repairs_used      BIGINT NOT NULL,
  takeovers         BIGINT NOT NULL,
  effects_total     BIGINT NOT NULL,
  effects_open      BIGINT NOT NULL,
  effects_failed    BIGINT NOT NULL,
  effects_cancelled BIGINT NOT NULL,
  refusals          BIGINT NOT NULL,
  next_attempt_at   BIGINT,
  journal_seq       BIGINT NOT NULL,
  journal_head      BYTEA   NOT NULL,
  origin            TEXT    NOT NULL,
  created_at        BIGINT NOT NULL,
  updated_at        BIGINT NOT NULL,
  expires_at        BIGINT,
  content_expires_at BIGINT,
  -- A lease is bounded to be a lease: no run in processing without an end (HC-04), none with one outside of it.
  -- Differs: one constraint instead of sixteen; PostgreSQL reads each anew for every statement (a fifth of a small batch).
  CHECK (
    (length(run_id) = 20)
    AND (state IN ('queued', 'processing', 'awaiting_human', 'approved', 'completed', 'failed_retryable', 'failed_terminal', 'quarantined'))
    AND (length(payload_hash) = 32)
    AND (attempts BETWEEN 0 AND attempts_max)
    AND (journal_seq > 0)
    AND (length(journal_head) = 32)
    AND ((state = 'processing') = (lease_expires_at IS NOT NULL))
    AND ((lease_expires_at IS NULL) = (lease_since IS NULL))
    AND (lease_expires_at > lease_since)
    AND (state <> 'processing' OR (owner IS NOT NULL AND fence > 0 AND attempts > 0))
    AND ((state IN ('awaiting_human', 'failed_retryable', 'failed_terminal', 'quarantined')) = (reason IS NOT NULL))
    AND ((state = 'failed_retryable') = (next_attempt_at IS NOT NULL))
    AND ((state IN ('completed', 'failed_terminal')) = (expires_at IS NOT NULL))
    AND (state NOT IN ('completed', 'failed_terminal') OR effects_open = 0)
    AND (effects_open BETWEEN 0 AND effects_total AND effects_failed + effects_cancelled <= effects_total)
  )
);
-- Differs: the newest first; SQLite has its rowid for that.
CREATE INDEX runs_recent ON runs (tenant, created_at, run_id);
CREATE INDEX runs_leased ON runs (lease_expires_at) WHERE state = 'processing';
CREATE INDEX runs_overtaken ON runs (lease_expires_at) WHERE state = 'processing' AND (attempts >= attempts_max OR effects_open > 0);
CREATE INDEX runs_waiting ON runs (tenant, flow, next_attempt_at, updated_at) WHERE state IN ('queued', 'failed_retryable');
CREATE INDEX runs_open ON runs (state, updated_at) WHERE state IN ('queued', 'awaiting_human', 'approved', 'failed_retryable', 'quarantined');
CREATE INDEX runs_expiring ON runs (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX runs_content_expiring ON runs (content_expires_at) WHERE content_expires_at IS NOT NULL;

CREATE TABLE contents (
  run_id   BYTEA NOT NULL PRIMARY KEY REFERENCES runs (run_id) ON DELETE CASCADE,
  payload  TEXT,
  output   TEXT,
  result   TEXT,
  proposal TEXT
);

CREATE TABLE effects (
  run_id           BYTEA   NOT NULL REFERENCES runs (run_id) ON DELETE CASCADE,
  n                BIGINT NOT NULL CHECK (n > 0),
  type             TEXT    NOT NULL,
  target           TEXT    NOT NULL,
  provider         TEXT    NOT NULL,
  executor         TEXT    NOT NULL CHECK (executor IN ('dispatcher', 'inline')),
  state            TEXT    NOT NULL CHECK (state IN ('scheduled', 'pending', 'sending', 'unknown', 'review', 'completed',
                                                     'failed', 'cancelled')),
  reason           TEXT,
  payload          TEXT    NOT NULL,
  decided          BYTEA   CHECK (length(decided) = 32),
  provider_key     TEXT    NOT NULL,
  external_id      TEXT,
  fence            BIGINT NOT NULL,
  attempts         BIGINT NOT NULL CHECK (attempts >= 0),
  due_at           BIGINT,
  lease_expires_at BIGINT,
  first_sent_at    BIGINT,
  unknown_since    BIGINT,
  created_at       BIGINT NOT NULL,
  updated_at       BIGINT NOT NULL,
  PRIMARY KEY (run_id, n),
  -- One row per intention: two identical proposals are one effect.
  UNIQUE (run_id, type, target),
  CHECK ((state IN ('scheduled', 'pending', 'unknown', 'review')) = (due_at IS NOT NULL)),
  CHECK ((state = 'sending' AND executor = 'dispatcher') = (lease_expires_at IS NOT NULL)),
  -- Nothing is sent, or was sent, that nobody decided (G5).
  CHECK (decided IS NOT NULL OR state = 'cancelled'),
  CHECK (state NOT IN ('unknown') OR unknown_since IS NOT NULL)
);
CREATE INDEX effects_due ON effects (provider, due_at) WHERE state IN ('pending', 'scheduled') AND executor = 'dispatcher';
CREATE INDEX effects_sending ON effects (lease_expires_at) WHERE state = 'sending';
CREATE INDEX effects_unknown ON effects (due_at) WHERE state = 'unknown';
CREATE INDEX effects_open ON effects (state, updated_at) WHERE state IN ('scheduled', 'pending', 'sending', 'unknown', 'review');
CREATE INDEX effects_recent ON effects (updated_at, run_id, n);

CREATE TABLE attempts (
  run_id     BYTEA   NOT NULL,
  effect_n   BIGINT NOT NULL,
  fence      BIGINT NOT NULL,
  started_at BIGINT NOT NULL,
  ended_at   BIGINT,
  class      TEXT,
  phase      TEXT,
  bytes_sent BIGINT,
  status     BIGINT,
  detail     TEXT,
  handle     TEXT,
  PRIMARY KEY (run_id, effect_n, fence),
  FOREIGN KEY (run_id, effect_n) REFERENCES effects (run_id, n) ON DELETE CASCADE,
  CHECK ((ended_at IS NULL) = (class IS NULL)),
  CHECK ((ended_at IS NULL) = (phase IS NULL))
);

CREATE TABLE approvals (
  run_id       BYTEA   NOT NULL REFERENCES runs (run_id) ON DELETE CASCADE,
  n            BIGINT NOT NULL CHECK (n > 0),
  state        TEXT    NOT NULL CHECK (state IN ('open', 'approved', 'rejected', 'expired', 'withdrawn')),
  effects_hash BYTEA   NOT NULL CHECK (length(effects_hash) = 32),
  proposed     TEXT    NOT NULL,
  terms        TEXT    NOT NULL,
  decisions    TEXT    NOT NULL,
  created_at   BIGINT NOT NULL,
  expires_at   BIGINT NOT NULL,
  next_step_at BIGINT,
  decided_at   BIGINT,
  PRIMARY KEY (run_id, n),
  CHECK ((state = 'open') = (decided_at IS NULL)),
  CHECK (state = 'open' OR next_step_at IS NULL),
  CHECK (expires_at > created_at)
);
-- One question at a time per run.
CREATE UNIQUE INDEX approvals_open ON approvals (run_id) WHERE state = 'open';
CREATE INDEX approvals_expiring ON approvals (expires_at) WHERE state = 'open';
CREATE INDEX approvals_recent ON approvals (created_at, run_id, n);
CREATE INDEX approvals_stepping ON approvals (next_step_at) WHERE next_step_at IS NOT NULL;

CREATE TABLE approval_tokens (
  run_id     BYTEA   NOT NULL,
  approval_n BIGINT NOT NULL,
  hash       BYTEA   NOT NULL CHECK (length(hash) = 32),
  audience   TEXT    NOT NULL,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  PRIMARY KEY (run_id, approval_n, hash),
  FOREIGN KEY (run_id, approval_n) REFERENCES approvals (run_id, n) ON DELETE CASCADE
);
CREATE INDEX approval_tokens_hash ON approval_tokens (hash);

CREATE TABLE answers (
  run_id BYTEA NOT NULL REFERENCES runs (run_id) ON DELETE CASCADE,
  call   BYTEA NOT NULL CHECK (length(call) = 32),
  body   TEXT NOT NULL,
  PRIMARY KEY (run_id, call)
);

-- No foreign key: the journal of a purged run stays until its own retention ends, and house chains have no run.
CREATE TABLE journal (
  run_id BYTEA   NOT NULL,
  seq    BIGINT NOT NULL CHECK (seq > 0),
  at     BIGINT NOT NULL,
  kind   TEXT    NOT NULL,
  entry  TEXT    NOT NULL,
  hash   BYTEA   NOT NULL CHECK (length(hash) = 32),
  -- Differs: which operation of which process wrote it. When the answer to a commit is lost, two replicas may have tried
  -- the same change at the same moment, and the entry alone does not say whose it is.
  op     BIGINT  NOT NULL DEFAULT 0,
  PRIMARY KEY (run_id, seq)
);

-- Heads of the chains that belong to no run: one house per tenant, and the last entry of each purged run.
CREATE TABLE heads (
  run_id BYTEA   NOT NULL PRIMARY KEY,
  tenant TEXT    NOT NULL,
  seq    BIGINT NOT NULL CHECK (seq > 0),
  hash   BYTEA   NOT NULL CHECK (length(hash) = 32),
  purge_after BIGINT
);
CREATE INDEX heads_expiring ON heads (purge_after) WHERE purge_after IS NOT NULL;

CREATE TABLE notices (
  run_id   BYTEA   NOT NULL,
  n        BIGINT NOT NULL,
  tenant   TEXT    NOT NULL,
  kind     TEXT    NOT NULL,
  dedupe   TEXT    NOT NULL,
  state    TEXT    NOT NULL CHECK (state IN ('pending', 'sent', 'undeliverable')),
  attempts BIGINT NOT NULL,
  due_at   BIGINT NOT NULL,
  PRIMARY KEY (run_id, n)
);
CREATE INDEX notices_due ON notices (due_at) WHERE state = 'pending';
CREATE INDEX notices_dedupe ON notices (dedupe, due_at) WHERE state = 'sent';

CREATE TABLE switches (
  scope   TEXT    NOT NULL CHECK (scope IN ('all', 'tenant', 'flow', 'provider', 'effect_type')),
  name    TEXT    NOT NULL,
  enabled BOOLEAN NOT NULL,
  reason  TEXT    NOT NULL,
  turned_by TEXT  NOT NULL,
  turned_at BIGINT NOT NULL,
  PRIMARY KEY (scope, name),
  CHECK ((scope = 'all') = (name = ''))
);

CREATE TABLE api_keys (
  public_id   TEXT    NOT NULL PRIMARY KEY,
  tenant      TEXT    NOT NULL,
  name        TEXT    NOT NULL,
  secret_hash BYTEA   NOT NULL CHECK (length(secret_hash) = 32),
  scopes      TEXT    NOT NULL,
  flows       TEXT    NOT NULL,
  created_at  BIGINT NOT NULL,
  revoked_at  BIGINT
);

CREATE TABLE users (
  tenant        TEXT    NOT NULL,
  name          TEXT    NOT NULL,
  email         TEXT,
  password_hash TEXT    NOT NULL,
  roles         TEXT    NOT NULL,
  disabled      BOOLEAN NOT NULL,
  created_at    BIGINT NOT NULL,
  updated_at    BIGINT NOT NULL,
  PRIMARY KEY (tenant, name)
);

CREATE TABLE sessions (
  hash       BYTEA   NOT NULL PRIMARY KEY CHECK (length(hash) = 32),
  tenant     TEXT    NOT NULL,
  user_name  TEXT    NOT NULL,
  data       TEXT    NOT NULL,
  created_at BIGINT NOT NULL,
  seen_at    BIGINT NOT NULL,
  expires_at BIGINT NOT NULL
);
