//! What is known of people beside their accounts.

use effectgate_core::ids::Tenant;
use rusqlite::params;

use super::tx::Tx;
use crate::{
    Result,
    row::{self, profile_columns},
    types::ProfileRow,
};

const FIND: &str = concat!("SELECT ", profile_columns!(), " FROM profiles f WHERE f.tenant = ?1 AND f.subject = ?2");

pub(super) fn find(tx: &Tx<'_>, tenant: &Tenant, subject: &str) -> Result<Option<ProfileRow>> {
    tx.first(FIND, params![tenant.as_str(), subject], |r| row::profile(r))
}

/// The day a person was first known stays.
const PUT: &str =
    "INSERT INTO profiles (tenant, subject, source, name, email, roles, language, zone, created_at, seen_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
ON CONFLICT (tenant, subject) DO UPDATE SET source = excluded.source, name = excluded.name, email = excluded.email,
  roles = excluded.roles, language = excluded.language, zone = excluded.zone, seen_at = excluded.seen_at";

pub(super) fn put(tx: &Tx<'_>, p: &ProfileRow) -> Result<()> {
    let values = params![
        p.tenant.as_str(),
        p.subject,
        p.source.as_str(),
        p.name,
        p.email,
        row::json(&p.roles)?,
        p.language,
        p.zone,
        p.created_at.micros(),
        p.seen_at.micros(),
    ];
    tx.run(PUT, values).map(drop)
}

const LIST: &str = concat!("SELECT ", profile_columns!(), " FROM profiles f WHERE f.tenant = ?1 ORDER BY f.subject");

pub(super) fn list(tx: &Tx<'_>, tenant: &Tenant) -> Result<Vec<ProfileRow>> {
    tx.list(LIST, params![tenant.as_str()], |r| row::profile(r))
}
