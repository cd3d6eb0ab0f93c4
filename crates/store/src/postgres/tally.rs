//! Counts by the day.

use effectgate_core::ids::Tenant;

use super::pool::Pool;
use crate::{
    Result,
    row::{self, tally_columns},
    types::TallyRow,
};

/// Grouped, because one statement may touch a row once; ordered, so that replicas never wait for each other in a ring.
pub(super) const ADD: &str = "INSERT INTO tallies AS y (tenant, day, name, bucket, count)
SELECT u.tenant, u.day, u.name, u.bucket, sum(u.count)::bigint
FROM unnest($1::text[], $2::bigint[], $3::text[], $4::bigint[], $5::bigint[]) AS u (tenant, day, name, bucket, count)
GROUP BY u.tenant, u.day, u.name, u.bucket ORDER BY u.tenant, u.day, u.name, u.bucket
ON CONFLICT (tenant, day, name, bucket) DO UPDATE SET count = y.count + excluded.count";

pub(super) async fn add(pool: &Pool, rows: &[TallyRow]) -> Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let tenants: Vec<&str> = rows.iter().map(|t| t.tenant.as_str()).collect();
    let days: Vec<i64> = rows.iter().map(|t| t.day.into()).collect();
    let names: Vec<&str> = rows.iter().map(|t| t.name.as_str()).collect();
    let buckets: Vec<i64> = rows.iter().map(|t| t.bucket.into()).collect();
    let counts: Vec<i64> = rows.iter().map(|t| t.count).collect();
    pool.write(ADD, &[&tenants, &days, &names, &buckets, &counts]).await.map(drop)
}

pub(super) const FIND: &str = concat!(
    "SELECT ",
    tally_columns!(),
    " FROM tallies y WHERE y.tenant = $1 AND y.day >= $2 AND y.day < $3 ORDER BY y.day, y.name, y.bucket"
);

pub(super) async fn find(pool: &Pool, tenant: &Tenant, since_day: i32, until_day: i32) -> Result<Vec<TallyRow>> {
    pool.list(FIND, &[&tenant.as_str(), &i64::from(since_day), &i64::from(until_day)], row::tally).await
}
