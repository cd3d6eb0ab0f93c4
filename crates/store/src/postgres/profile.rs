//! What is known of people beside their accounts.

use effectgate_core::ids::Tenant;

use super::pool::Pool;
use crate::{
    Result,
    row::{self, profile_columns},
    types::ProfileRow,
};

pub(super) const FIND: &str =
    concat!("SELECT ", profile_columns!(), " FROM profiles f WHERE f.tenant = $1 AND f.subject = $2");

pub(super) async fn find(pool: &Pool, tenant: &Tenant, subject: &str) -> Result<Option<ProfileRow>> {
    pool.first(FIND, &[&tenant.as_str(), &subject], row::profile).await
}

/// The day a person was first known stays.
const PUT: &str =
    "INSERT INTO profiles (tenant, subject, source, name, email, roles, language, zone, created_at, seen_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
ON CONFLICT (tenant, subject) DO UPDATE SET source = excluded.source, name = excluded.name, email = excluded.email,
  roles = excluded.roles, language = excluded.language, zone = excluded.zone, seen_at = excluded.seen_at";

pub(super) async fn put(pool: &Pool, p: &ProfileRow) -> Result<()> {
    let (tenant, source, roles) = (p.tenant.as_str(), p.source.as_str(), row::json(&p.roles)?);
    let (created, seen) = (p.created_at.micros(), p.seen_at.micros());
    let values: &[&(dyn tokio_postgres::types::ToSql + Sync)] =
        &[&tenant, &p.subject, &source, &p.name, &p.email, &roles, &p.language, &p.zone, &created, &seen];
    pool.write(PUT, values).await.map(drop)
}

const LIST: &str = concat!("SELECT ", profile_columns!(), " FROM profiles f WHERE f.tenant = $1 ORDER BY f.subject");

pub(super) async fn list(pool: &Pool, tenant: &Tenant) -> Result<Vec<ProfileRow>> {
    pool.list(LIST, &[&tenant.as_str()], row::profile).await
}
