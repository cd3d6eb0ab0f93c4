//! What belongs to no run: switches, API keys, people, and the chain that records their changes.

use effectgate_core::{
    ids::{RunId, Tenant},
    journal::Head,
    switch::{Receipt, Switch},
};
use rusqlite::{named_params, params};

use super::{journal, notice, replay, subscription, tx::Tx};
use crate::{
    Result, StoreError,
    row::{self, api_key_columns, switch_columns, user_columns},
    types::{ApiKeyRow, HouseCommit, HouseWrite, UserRow},
};

const SWITCHES: &str = concat!("SELECT ", switch_columns!(), " FROM switches s ORDER BY s.scope, s.name");

pub(super) fn switches(tx: &Tx<'_>) -> Result<Vec<Switch>> {
    tx.list(SWITCHES, [], |r| row::switch(r))
}

pub(super) fn head(tx: &Tx<'_>, house: RunId) -> Result<Head> {
    Ok(journal::head(tx, house)?.unwrap_or(Head::EMPTY))
}

pub(super) fn commit(tx: &Tx<'_>, write: &HouseWrite) -> Result<HouseCommit> {
    let house = RunId::house(&write.tenant);
    let may = write.replay.as_ref().map_or(Ok(true), |change| replay::may(tx, &write.tenant, change))?;
    let may = may && write.subscription.as_ref().map_or(Ok(true), |w| subscription::may(tx, &write.tenant, w))?;
    if !may || !move_head(tx, house, write)? {
        return Ok(HouseCommit::Lost);
    }
    if let Some(change) = &write.replay {
        replay::write(tx, change)?;
    }
    let receipt = write.switch.as_ref().map(|switch| turn(tx, switch)).transpose()?;
    if let Some(key) = &write.api_key {
        put_api_key(tx, key)?;
    }
    if let Some(user) = &write.user {
        put_user(tx, user)?;
    }
    if let Some(change) = &write.subscription {
        subscription::write(tx, &write.tenant, change)?;
    }
    for told in &write.notices {
        notice::write(tx, &write.tenant, house, told)?;
    }
    journal::append(tx, &write.entries)?;
    Ok(HouseCommit::Committed { receipt })
}

const FIRST_HEAD: &str =
    "INSERT INTO heads (run_id, tenant, seq, hash) VALUES (?1, ?2, ?3, ?4) ON CONFLICT (run_id) DO NOTHING";
const NEXT_HEAD: &str = "UPDATE heads SET seq = ?3, hash = ?4 WHERE run_id = ?1 AND tenant = ?2 AND seq = ?5";

/// Compare-and-set on the chain's length; true if it held.
fn move_head(tx: &Tx<'_>, house: RunId, write: &HouseWrite) -> Result<bool> {
    let (id, tenant, seq) = (house.as_bytes(), write.tenant.as_str(), write.head.seq);
    let hash = write.head.hash.as_ref().map(|h| &h.as_bytes()[..]);
    let moved = if write.expected_seq == 0 {
        tx.run(FIRST_HEAD, params![id, tenant, seq, hash])?
    } else {
        tx.run(NEXT_HEAD, params![id, tenant, seq, hash, write.expected_seq])?
    };
    Ok(moved == 1)
}

const TURN: &str = "INSERT INTO switches (scope, name, enabled, reason, turned_by, turned_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6)
ON CONFLICT (scope, name) DO UPDATE SET enabled = excluded.enabled, reason = excluded.reason,
  turned_by = excluded.turned_by, turned_at = excluded.turned_at";

fn turn(tx: &Tx<'_>, s: &Switch) -> Result<Receipt> {
    tx.run(TURN, params![s.scope.as_str(), s.name, s.enabled, s.reason, s.by, s.at.micros()])?;
    let (queued, scheduled, in_flight) = count_effects(tx, s)?;
    let (leased, awaiting) = (count(tx, LEASED, s)?, count(tx, AWAITING, s)?);
    Ok(Receipt { queued, scheduled, leased, in_flight, awaiting })
}

const EFFECTS: &str =
    "SELECT count(*) FILTER (WHERE e.state = 'pending'), count(*) FILTER (WHERE e.state = 'scheduled'),
  count(*) FILTER (WHERE e.state = 'sending')
FROM effects e CROSS JOIN runs r ON r.run_id = e.run_id
WHERE e.state IN ('scheduled', 'pending', 'sending')
  AND CASE :scope WHEN 'all' THEN 1 WHEN 'tenant' THEN r.tenant = :name WHEN 'flow' THEN r.flow = :name
    WHEN 'provider' THEN e.provider = :name WHEN 'effect_type' THEN e.type = :name ELSE 0 END";

/// Pending, scheduled and sending effects within the switch's scope.
fn count_effects(tx: &Tx<'_>, s: &Switch) -> Result<(i64, i64, i64)> {
    let found = tx.first(EFFECTS, named_params! {":scope": s.scope.as_str(), ":name": s.name}, |r| {
        let cell = |place| r.get(place).map_err(super::tx::failed);
        Ok((cell(0)?, cell(1)?, cell(2)?))
    })?;
    Ok(found.unwrap_or_default())
}

/// Runs that a worker holds. One counts for a provider or an effect type if it has an open effect of it.
const LEASED: &str = "SELECT count(*) FROM runs r WHERE r.state = 'processing' AND r.lease_expires_at > :now
  AND CASE :scope WHEN 'all' THEN 1 WHEN 'tenant' THEN r.tenant = :name WHEN 'flow' THEN r.flow = :name
    ELSE EXISTS (SELECT 1 FROM effects e WHERE e.run_id = r.run_id AND e.state NOT IN ('completed', 'failed', 'cancelled')
      AND CASE :scope WHEN 'provider' THEN e.provider WHEN 'effect_type' THEN e.type END = :name) END";
/// Runs that wait for a person. One counts for a provider or an effect type also if its open approval asks for one.
const AWAITING: &str = "SELECT count(*) FROM runs r WHERE r.state = 'awaiting_human' AND :now IS NOT NULL
  AND CASE :scope WHEN 'all' THEN 1 WHEN 'tenant' THEN r.tenant = :name WHEN 'flow' THEN r.flow = :name
    ELSE EXISTS (SELECT 1 FROM effects e WHERE e.run_id = r.run_id AND e.state NOT IN ('completed', 'failed', 'cancelled')
        AND CASE :scope WHEN 'provider' THEN e.provider WHEN 'effect_type' THEN e.type END = :name)
      OR EXISTS (SELECT 1 FROM approvals p, json_each(p.proposed) x WHERE p.run_id = r.run_id AND p.state = 'open'
        AND CASE :scope WHEN 'provider' THEN x.value ->> '$.provider' WHEN 'effect_type' THEN x.value ->> '$.type' END
          = :name) END";

fn count(tx: &Tx<'_>, sql: &str, s: &Switch) -> Result<i64> {
    tx.count(sql, named_params! {":now": tx.now.micros(), ":scope": s.scope.as_str(), ":name": s.name})
}

const API_KEY: &str = concat!("SELECT ", api_key_columns!(), " FROM api_keys k WHERE k.public_id = ?1");

pub(super) fn api_key(tx: &Tx<'_>, public_id: &str) -> Result<Option<ApiKeyRow>> {
    tx.first(API_KEY, params![public_id], |r| row::api_key(r))
}

const API_KEYS: &str =
    concat!("SELECT ", api_key_columns!(), " FROM api_keys k WHERE k.tenant = ?1 ORDER BY k.created_at, k.public_id");

pub(super) fn api_keys(tx: &Tx<'_>, tenant: &Tenant) -> Result<Vec<ApiKeyRow>> {
    tx.list(API_KEYS, params![tenant.as_str()], |r| row::api_key(r))
}

const ANY_API_KEY: &str = "SELECT EXISTS (SELECT 1 FROM api_keys)";

pub(super) fn api_key_none(tx: &Tx<'_>) -> Result<bool> {
    Ok(tx.count(ANY_API_KEY, [])? == 0)
}

/// A key's id belongs to one tenant for good.
const PUT_API_KEY: &str = "INSERT INTO api_keys (public_id, tenant, name, secret_hash, scopes, flows, created_at, revoked_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
ON CONFLICT (public_id) DO UPDATE SET name = excluded.name, secret_hash = excluded.secret_hash, scopes = excluded.scopes,
  flows = excluded.flows, revoked_at = excluded.revoked_at
WHERE api_keys.tenant = excluded.tenant";

fn put_api_key(tx: &Tx<'_>, k: &ApiKeyRow) -> Result<()> {
    let values = params![
        k.public_id,
        k.tenant.as_str(),
        k.name,
        &k.secret_hash.as_bytes()[..],
        row::json(&k.scopes)?,
        row::json(&k.flows)?,
        k.created_at.micros(),
        k.revoked_at.map(|at| at.micros()),
    ];
    match tx.run(PUT_API_KEY, values)? {
        1 => Ok(()),
        _ => Err(StoreError::Rejected { what: format!("API key {} belongs to another tenant", k.public_id) }),
    }
}

const USER: &str = concat!("SELECT ", user_columns!(), " FROM users u WHERE u.tenant = ?1 AND u.name = ?2");

pub(super) fn user(tx: &Tx<'_>, tenant: &Tenant, name: &str) -> Result<Option<UserRow>> {
    tx.first(USER, params![tenant.as_str(), name], |r| row::user(r))
}

const USERS: &str = concat!("SELECT ", user_columns!(), " FROM users u WHERE u.tenant = ?1 ORDER BY u.name");

pub(super) fn users(tx: &Tx<'_>, tenant: &Tenant) -> Result<Vec<UserRow>> {
    tx.list(USERS, params![tenant.as_str()], |r| row::user(r))
}

const PUT_USER: &str = "INSERT INTO users (tenant, name, email, password_hash, roles, disabled, created_at, updated_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
ON CONFLICT (tenant, name) DO UPDATE SET email = excluded.email, password_hash = excluded.password_hash,
  roles = excluded.roles, disabled = excluded.disabled, updated_at = excluded.updated_at";

fn put_user(tx: &Tx<'_>, u: &UserRow) -> Result<()> {
    let values = params![
        u.tenant.as_str(),
        u.name,
        u.email,
        u.password_hash,
        row::json(&u.roles)?,
        u.disabled,
        u.created_at.micros(),
        u.updated_at.micros(),
    ];
    tx.run(PUT_USER, values).map(drop)
}
