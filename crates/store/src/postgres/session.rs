//! Sessions of signed-in people, by the hash of their secret. Expired ones are removed by the purge.

use effectgate_core::{digest::Digest, ids::Tenant};

use super::pool::Pool;
use crate::{
    Result,
    row::{self, session_columns},
    types::SessionRow,
};

const PUT: &str = "INSERT INTO sessions (hash, tenant, user_name, data, created_at, seen_at, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (hash) DO UPDATE SET tenant = excluded.tenant, user_name = excluded.user_name, data = excluded.data,
  created_at = excluded.created_at, seen_at = excluded.seen_at, expires_at = excluded.expires_at";

pub(super) async fn put(pool: &Pool, s: &SessionRow) -> Result<()> {
    let (created, seen, expires) = (s.created_at.micros(), s.seen_at.micros(), s.expires_at.micros());
    let hash = &s.hash.as_bytes()[..];
    pool.write(PUT, &[&hash, &s.tenant.as_str(), &s.user, &s.data, &created, &seen, &expires]).await.map(drop)
}

pub(super) const FIND: &str = concat!("SELECT ", session_columns!(), " FROM sessions s WHERE s.hash = $1");

/// Found although expired: the caller says so.
pub(super) async fn find(pool: &Pool, hash: &Digest) -> Result<Option<SessionRow>> {
    pool.first(FIND, &[&&hash.as_bytes()[..]], row::session).await
}

const DELETE: &str = "DELETE FROM sessions WHERE hash = $1";

pub(super) async fn delete(pool: &Pool, hash: &Digest) -> Result<()> {
    pool.write(DELETE, &[&&hash.as_bytes()[..]]).await.map(drop)
}

pub(super) const LIST_OF: &str = concat!(
    "SELECT ",
    session_columns!(),
    " FROM sessions s WHERE s.tenant = $1 AND s.user_name = $2 ORDER BY s.created_at DESC, s.hash LIMIT 100"
);

pub(super) async fn list_of(pool: &Pool, tenant: &Tenant, user: &str) -> Result<Vec<SessionRow>> {
    pool.list(LIST_OF, &[&tenant.as_str(), &user], row::session).await
}

pub(super) const DELETE_OF: &str = "DELETE FROM sessions WHERE tenant = $1 AND user_name = $2";

pub(super) async fn delete_of(pool: &Pool, tenant: &Tenant, user: &str) -> Result<()> {
    pool.write(DELETE_OF, &[&tenant.as_str(), &user]).await.map(drop)
}
