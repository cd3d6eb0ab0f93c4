//! Budgets' counts. A charge is judged and added inside the commit of what it is for.

use effectgate_core::{budget::Charge, time::Timestamp};
use rusqlite::params;

use super::tx::Tx;
use crate::{
    Result,
    row::{self, charge_columns},
    types::{ChargeRow, Commit},
};

const USED: &str = "SELECT used FROM charges WHERE scope = ?1 AND window_start = ?2";

/// The first count without room, if there is one. Nobody else writes until this operation has added what it found room
/// for: there is one writer.
pub(super) fn in_the_way(tx: &Tx<'_>, charges: &[Charge]) -> Result<Option<Commit>> {
    for charge in charges {
        let Some(max) = charge.max else { continue };
        let used = tx.count(USED, params![charge.scope, charge.start.micros()])?;
        if used.saturating_add(charge.amount) > max {
            return Ok(Some(Commit::OverBudget { scope: charge.scope.clone(), until: charge.end }));
        }
    }
    Ok(None)
}

const ADD: &str = "INSERT INTO charges (scope, window_start, window_end, used) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT (scope, window_start) DO UPDATE SET used = used + excluded.used";
/// A window that was purged has nothing to take off.
const TAKE_OFF: &str = "UPDATE charges SET used = max(0, used + ?3) WHERE scope = ?1 AND window_start = ?2";

pub(super) fn add(tx: &Tx<'_>, charges: &[Charge]) -> Result<()> {
    for c in charges.iter().filter(|c| c.amount != 0) {
        let (start, end) = (c.start.micros(), c.end.micros());
        if c.amount > 0 {
            tx.run(ADD, params![c.scope, start, end, c.amount])?;
        } else {
            tx.run(TAKE_OFF, params![c.scope, start, c.amount])?;
        }
    }
    Ok(())
}

pub(super) const LIST: &str = concat!(
    "SELECT ",
    charge_columns!(),
    " FROM charges g WHERE g.scope IN (SELECT value FROM json_each(?1)) AND g.window_end > ?2
ORDER BY g.scope, g.window_start"
);

pub(super) fn list(tx: &Tx<'_>, scopes: &[String], since: Timestamp) -> Result<Vec<ChargeRow>> {
    tx.list(LIST, params![row::json(scopes)?, since.micros()], |r| row::charge(r))
}

/// How long the count of a window that is over stays, in milliseconds: a day, against clocks that are off.
const KEPT_MS: i64 = 86_400_000;

pub(super) const DROP_OVER: &str = "DELETE FROM charges WHERE (scope, window_start) IN
  (SELECT scope, window_start FROM charges WHERE window_end <= ?1 ORDER BY window_end LIMIT ?2)";

pub(super) fn drop_over(tx: &Tx<'_>, limit: u32) -> Result<()> {
    tx.run(DROP_OVER, params![tx.now.plus_ms(-KEPT_MS).micros(), limit]).map(drop)
}
