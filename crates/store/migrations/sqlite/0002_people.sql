-- People: whom an open approval asks, who signed in, what changed in a draft, and what is counted by the day.

-- What people changed before they agreed: JSON, erased with the content. NULL: nothing.
ALTER TABLE approvals ADD COLUMN edits TEXT;

-- How long the journal stays once the run is purged, in milliseconds, as the flow said when the run ended. NULL: not said.
ALTER TABLE runs ADD COLUMN journal_kept_ms INTEGER;

-- An inbox is a seek: one row for each member of an open approval's audience, and one for everybody (member ''). Rows
-- exist exactly while the approval is open; they are written with it. risk_rank: 0 high, 1 normal, 2 low, so that the
-- order of the index is the order of the list and one comparison of rows is a page's beginning.
-- Approvals that are open already get their rows by the program, in the same transaction: a mail address is compared in
-- a form that SQL cannot make.
CREATE TABLE asked (
  run_id     BLOB    NOT NULL,
  n          INTEGER NOT NULL,
  member     TEXT    NOT NULL,
  tenant     TEXT    NOT NULL,
  risk_rank  INTEGER NOT NULL CHECK (risk_rank BETWEEN 0 AND 2),
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (run_id, n, member),
  FOREIGN KEY (run_id, n) REFERENCES approvals (run_id, n) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX asked_by_risk ON asked (tenant, member, risk_rank, created_at, run_id, n);
CREATE INDEX asked_by_age ON asked (tenant, member, created_at, run_id, n);
CREATE INDEX asked_by_due ON asked (tenant, member, expires_at, run_id, n);

-- Every flow that ever had a run: a key without its flow is looked up by the ids it would have.
CREATE TABLE flows (
  tenant TEXT NOT NULL,
  flow   TEXT NOT NULL,
  PRIMARY KEY (tenant, flow)
) STRICT, WITHOUT ROWID;
INSERT INTO flows SELECT DISTINCT tenant, flow FROM runs;

-- What is known of a person beside the account: for single sign-on what the last sign-in told.
CREATE TABLE profiles (
  tenant     TEXT    NOT NULL,
  subject    TEXT    NOT NULL,
  source     TEXT    NOT NULL CHECK (source IN ('local', 'oidc')),
  name       TEXT    NOT NULL,
  email      TEXT,
  roles      TEXT    NOT NULL,
  language   TEXT,
  zone       TEXT,
  created_at INTEGER NOT NULL,
  seen_at    INTEGER NOT NULL,
  PRIMARY KEY (tenant, subject)
) STRICT, WITHOUT ROWID;

CREATE INDEX sessions_of ON sessions (tenant, user_name);

-- Counts by the day (days since 1970, UTC), for charts.
CREATE TABLE tallies (
  tenant TEXT    NOT NULL,
  day    INTEGER NOT NULL,
  name   TEXT    NOT NULL,
  bucket INTEGER NOT NULL,
  count  INTEGER NOT NULL,
  PRIMARY KEY (tenant, day, name, bucket)
) STRICT, WITHOUT ROWID;
