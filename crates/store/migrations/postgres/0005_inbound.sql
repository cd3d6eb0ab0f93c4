-- Runs that came in at a source, and what of them the gate still has to bring to their worker.

-- The source's name, from the run's origin, so that an index can lead with it. NULL: a worker reserved it.
ALTER TABLE runs ADD COLUMN inbound TEXT;

-- Not delivered yet, and due: a source's queue, in its order.
CREATE INDEX runs_undelivered ON runs (inbound, next_attempt_at, updated_at)
  WHERE inbound IS NOT NULL AND state IN ('queued', 'failed_retryable');
-- Delivered, and the worker's lease may be over.
CREATE INDEX runs_delivered ON runs (inbound, lease_expires_at) WHERE inbound IS NOT NULL AND state = 'processing';
