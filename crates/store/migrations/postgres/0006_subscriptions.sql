-- Subscriptions: who wants to hear of events, and what is on its way to them. Stands by itself: nothing of 0005 is used.

-- The id is derived from API key and URL, so a URL that is registered again is the same row. events: JSON, a list of words.
-- How sending goes is kept beside it and not journalled: gone_count answers in a row said that nobody is there.
CREATE TABLE subscriptions (
  subscription_id   BYTEA   NOT NULL PRIMARY KEY CHECK (length(subscription_id) = 20),
  tenant            TEXT    NOT NULL,
  api_key           TEXT    NOT NULL REFERENCES api_keys (public_id),
  url               TEXT    NOT NULL,
  events            TEXT    NOT NULL,
  flow              TEXT,
  created_at        BIGINT  NOT NULL,
  failing_since     BIGINT,
  gone_since        BIGINT,
  gone_count        BIGINT  NOT NULL CHECK (gone_count >= 0),
  last_delivered_at BIGINT,
  CHECK ((gone_count = 0) = (gone_since IS NULL))
);
CREATE INDEX subscriptions_of ON subscriptions (tenant, created_at, subscription_id);

-- One event on its way to one subscription: the run, the journal entry that tells of it, its place among that entry's
-- events. The key makes a second fan-out of the same notice write nothing. A row that is done stays for a day, without
-- its body, for the same reason.
CREATE TABLE deliveries (
  subscription_id BYTEA   NOT NULL REFERENCES subscriptions (subscription_id) ON DELETE CASCADE,
  run_id          BYTEA   NOT NULL CHECK (length(run_id) = 20),
  seq             BIGINT  NOT NULL,
  place           BIGINT  NOT NULL,
  event           TEXT    NOT NULL,
  body            TEXT    NOT NULL,
  state           TEXT    NOT NULL CHECK (state IN ('pending', 'sent', 'given_up')),
  attempts        BIGINT  NOT NULL CHECK (attempts >= 0),
  due_at          BIGINT  NOT NULL,
  created_at      BIGINT  NOT NULL,
  PRIMARY KEY (subscription_id, run_id, seq, place)
);
CREATE INDEX deliveries_due ON deliveries (subscription_id, due_at) WHERE state = 'pending';
CREATE INDEX deliveries_over ON deliveries (due_at) WHERE state IN ('sent', 'given_up');
