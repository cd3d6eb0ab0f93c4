//! Sessions of signed-in people, by the hash of their secret. Expired ones are removed by the purge.

use effectgate_core::{digest::Digest, ids::Tenant};
use rusqlite::params;

use super::tx::Tx;
use crate::{
    Result,
    row::{self, session_columns},
    types::SessionRow,
};

const PUT: &str = "INSERT INTO sessions (hash, tenant, user_name, data, created_at, seen_at, expires_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
ON CONFLICT (hash) DO UPDATE SET tenant = excluded.tenant, user_name = excluded.user_name, data = excluded.data,
  created_at = excluded.created_at, seen_at = excluded.seen_at, expires_at = excluded.expires_at";

pub(super) fn put(tx: &Tx<'_>, s: &SessionRow) -> Result<()> {
    let values = params![
        &s.hash.as_bytes()[..],
        s.tenant.as_str(),
        s.user,
        s.data,
        s.created_at.micros(),
        s.seen_at.micros(),
        s.expires_at.micros(),
    ];
    tx.run(PUT, values).map(drop)
}

const FIND: &str = concat!("SELECT ", session_columns!(), " FROM sessions s WHERE s.hash = ?1");

/// Found although expired: the caller says so.
pub(super) fn find(tx: &Tx<'_>, hash: &Digest) -> Result<Option<SessionRow>> {
    tx.first(FIND, params![&hash.as_bytes()[..]], |r| row::session(r))
}

const DELETE: &str = "DELETE FROM sessions WHERE hash = ?1";

pub(super) fn delete(tx: &Tx<'_>, hash: &Digest) -> Result<()> {
    tx.run(DELETE, params![&hash.as_bytes()[..]]).map(drop)
}

const LIST_OF: &str = concat!(
    "SELECT ",
    session_columns!(),
    " FROM sessions s WHERE s.tenant = ?1 AND s.user_name = ?2 ORDER BY s.created_at DESC, s.hash LIMIT 100"
);

pub(super) fn list_of(tx: &Tx<'_>, tenant: &Tenant, user: &str) -> Result<Vec<SessionRow>> {
    tx.list(LIST_OF, params![tenant.as_str(), user], |r| row::session(r))
}

pub(super) const DELETE_OF: &str = "DELETE FROM sessions WHERE tenant = ?1 AND user_name = ?2";

pub(super) fn delete_of(tx: &Tx<'_>, tenant: &Tenant, user: &str) -> Result<()> {
    tx.run(DELETE_OF, params![tenant.as_str(), user]).map(drop)
}
