//! Whether the database answers, and how much of what stands open in it.

use effectgate_core::time::Timestamp;
use tokio_postgres::Row;

use super::{
    pool::Pool,
    tx::{computed, moment, now},
};
use crate::{
    Result,
    types::{Gauge, Health},
};

const HEALTH: &str = concat!("SELECT max(number), ", now!(), " FROM schema_migrations");

pub(super) async fn health(pool: &Pool) -> Result<Health> {
    let found = pool
        .first(HEALTH, &[], |r| {
            let schema: Option<i64> = computed(r, 0)?;
            Ok(Health { backend: "postgres", schema: schema.unwrap_or(0), clock: moment(r, 1)? })
        })
        .await?;
    Ok(found.expect("an aggregate without GROUP BY gives one row"))
}

/// Two parts, because processing has an index of its own.
pub(super) const RUNS: &str = concat!(
    "SELECT state, count(*), min(updated_at), ",
    now!(),
    " FROM runs
  WHERE state IN ('queued', 'awaiting_human', 'approved', 'failed_retryable', 'quarantined') GROUP BY state
UNION ALL SELECT state, count(*), min(updated_at), ",
    now!(),
    " FROM runs WHERE state = 'processing' GROUP BY state"
);
pub(super) const EFFECTS: &str = concat!(
    "SELECT state, count(*), min(updated_at), ",
    now!(),
    " FROM effects
  WHERE state IN ('scheduled', 'pending', 'sending', 'unknown', 'review') GROUP BY state"
);

/// A gauge's age is the time since the oldest of the state was last changed.
pub(super) async fn gauges(pool: &Pool) -> Result<Vec<Gauge>> {
    let mut gauges = pool.list(RUNS, &[], |r| gauge("run", r)).await?;
    gauges.extend(pool.list(EFFECTS, &[], |r| gauge("effect", r)).await?);
    Ok(gauges)
}

fn gauge(what: &'static str, r: &Row) -> Result<Gauge> {
    let oldest = Timestamp::from_micros(computed(r, 2)?);
    let oldest_ms = moment(r, 3)?.ms_since(oldest).max(0);
    Ok(Gauge { what, state: computed(r, 0)?, count: computed(r, 1)?, oldest_ms })
}
