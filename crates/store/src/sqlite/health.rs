//! Whether the database answers, and how much of what stands open in it.

use effectgate_core::time::Timestamp;
use rusqlite::{Row, params};

use super::tx::{Tx, failed};
use crate::{
    Result,
    types::{Gauge, Health},
};

const SCHEMA: &str = "SELECT max(number) FROM schema_migrations";

pub(super) fn health(tx: &Tx<'_>) -> Result<Health> {
    Ok(Health { backend: "sqlite", schema: tx.count(SCHEMA, [])?, clock: tx.now })
}

/// Two parts, because processing has an index of its own.
pub(super) const RUNS: &str = "SELECT state, count(*), min(updated_at) FROM runs
  WHERE state IN ('queued', 'awaiting_human', 'approved', 'failed_retryable', 'quarantined') GROUP BY state
UNION ALL SELECT state, count(*), min(updated_at) FROM runs WHERE state = 'processing' GROUP BY state";
pub(super) const EFFECTS: &str = "SELECT state, count(*), min(updated_at) FROM effects
  WHERE state IN ('scheduled', 'pending', 'sending', 'unknown', 'review') GROUP BY state";

/// A gauge's age is the time since the oldest of the state was last changed.
pub(super) fn gauges(tx: &Tx<'_>) -> Result<Vec<Gauge>> {
    let mut gauges = tx.list(RUNS, params![], |r| gauge("run", r, tx.now))?;
    gauges.extend(tx.list(EFFECTS, params![], |r| gauge("effect", r, tx.now))?);
    Ok(gauges)
}

fn gauge(what: &'static str, r: &Row<'_>, now: Timestamp) -> Result<Gauge> {
    let read = || Ok((r.get(0)?, r.get(1)?, r.get(2)?));
    let (state, count, oldest): (_, _, i64) = read().map_err(failed)?;
    Ok(Gauge { what, state, count, oldest_ms: now.ms_since(Timestamp::from_micros(oldest)).max(0) })
}
