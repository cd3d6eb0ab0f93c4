//! Counts by the day.

use effectgate_core::ids::Tenant;
use rusqlite::params;

use super::tx::Tx;
use crate::{
    Result,
    row::{self, tally_columns},
    types::TallyRow,
};

const ADD: &str = "INSERT INTO tallies (tenant, day, name, bucket, count) VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT (tenant, day, name, bucket) DO UPDATE SET count = count + excluded.count";

pub(super) fn add(tx: &Tx<'_>, rows: &[TallyRow]) -> Result<()> {
    for t in rows {
        tx.run(ADD, params![t.tenant.as_str(), t.day, t.name, t.bucket, t.count])?;
    }
    Ok(())
}

pub(super) const FIND: &str = concat!(
    "SELECT ",
    tally_columns!(),
    " FROM tallies y WHERE y.tenant = ?1 AND y.day >= ?2 AND y.day < ?3 ORDER BY y.day, y.name, y.bucket"
);

pub(super) fn find(tx: &Tx<'_>, tenant: &Tenant, since_day: i32, until_day: i32) -> Result<Vec<TallyRow>> {
    tx.list(FIND, params![tenant.as_str(), since_day, until_day], |r| row::tally(r))
}
