//! Budgets' counts. Differs: a charge is judged and added inside the statement of [`super::charged`], because a commit
//! is one statement here.

use std::collections::BTreeMap;

use effectgate_core::{budget::Charge, ids::RunId, time::Timestamp};

use super::{
    columns::{Kind::*, Rows, Shape},
    connect::Link,
    pool::Pool,
    tx::{self, Fault, now},
};
use crate::{
    Result,
    row::{self, charge_columns},
    types::ChargeRow,
};

/// What a transition adds to counts and takes off them. `most` is NULL for what is taken off.
pub(super) const CHARGES: Shape = Shape {
    name: "g",
    columns: &[
        ("run_id", Blob),
        ("scope", Text),
        ("window_start", Int),
        ("window_end", Int),
        ("amount", Int),
        ("most", Int),
    ],
};

/// Each count once, in the order of the key: rows are locked in it, so that replicas do not lock crosswise.
pub(super) fn push_all<'a>(rows: &mut Rows<'a>, run: &'a RunId, charges: &'a [Charge]) {
    let mut once: BTreeMap<(&str, Timestamp), (Timestamp, i64, Option<i64>)> = BTreeMap::new();
    for c in charges {
        let line = once.entry((&c.scope, c.start)).or_insert((c.end, 0, None));
        line.1 = line.1.saturating_add(c.amount);
        line.2 = line.2.or(c.max);
    }
    for ((scope, start), (end, amount, most)) in once {
        let (start, end) = (start.micros(), end.micros());
        rows.push([run.as_bytes().into(), scope.into(), start.into(), end.into(), amount.into(), most.into()]);
    }
}

const BEGIN: &str = "INSERT INTO charges (scope, window_start, window_end, used)
SELECT u.scope, u.start, u.ends, 0 FROM unnest($1::text[], $2::bigint[], $3::bigint[]) AS u (scope, start, ends)
ORDER BY u.scope, u.start ON CONFLICT (scope, window_start) DO NOTHING";

/// Sees to it that the counts have rows, so that the statement has something to lock. By itself it charges nothing: a
/// row with zero is worth as much as none.
pub(super) async fn begin(link: &mut Link, charges: &[Charge]) -> Result<(), Fault> {
    let new: Vec<&Charge> = charges.iter().filter(|c| c.max.is_some()).collect();
    if new.is_empty() {
        return Ok(());
    }
    let scopes: Vec<&str> = new.iter().map(|c| c.scope.as_str()).collect();
    let starts: Vec<i64> = new.iter().map(|c| c.start.micros()).collect();
    let ends: Vec<i64> = new.iter().map(|c| c.end.micros()).collect();
    link.run(BEGIN, &[&scopes, &starts, &ends]).await.map(drop).map_err(Fault::from)
}

pub(super) const LIST: &str = concat!(
    "SELECT ",
    charge_columns!(),
    " FROM charges g WHERE g.scope = ANY ($1) AND g.window_end > $2 ORDER BY g.scope, g.window_start"
);

pub(super) async fn list(pool: &Pool, scopes: &[String], since: Timestamp) -> Result<Vec<ChargeRow>> {
    pool.list(LIST, &[&scopes, &since.micros()], row::charge).await
}

/// How long the count of a window that is over stays, in microseconds: a day, against clocks that are off.
const KEPT_US: i64 = 86_400_000_000;

/// The rows are in hand, so their places hold still.
pub(super) const DROP_OVER: &str = concat!(
    "DELETE FROM charges WHERE ctid = ANY (ARRAY(SELECT ctid FROM charges WHERE window_end <= (SELECT ",
    now!(),
    ") - $1 ORDER BY window_end LIMIT $2 FOR UPDATE SKIP LOCKED))"
);

pub(super) async fn drop_over(pool: &Pool, limit: u32) -> Result<()> {
    pool.write(DROP_OVER, &[&KEPT_US, &i64::from(limit)]).await.map(drop)
}

/// The count that was in the way, and when its window ends.
pub(super) fn over(row: &tokio_postgres::Row) -> Result<Option<(String, Timestamp)>> {
    let (scope, until): (Option<String>, Option<i64>) = (tx::computed(row, 5)?, tx::computed(row, 6)?);
    Ok(scope.zip(until.map(Timestamp::from_micros)))
}
