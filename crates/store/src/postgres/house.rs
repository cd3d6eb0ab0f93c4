//! What belongs to no run: switches, API keys, people, and the chain that records their changes.

use effectgate_core::{
    ids::{RunId, Tenant},
    journal::Head,
    switch::{Receipt, Switch},
};
use tokio_postgres::Transaction;

use super::{
    batch::OpId,
    columns::{Rows, expand, params},
    connect::Link,
    journal::{self, ENTRIES},
    notice::{self, NOTICES},
    pool::{CONFLICTS_MAX, IN_THE_WAY, Pool, pause},
    replay, subscription,
    tx::{self, Fault, now},
};
use crate::{
    Result, StoreError,
    row::{self, api_key_columns, switch_columns, user_columns},
    types::{ApiKeyRow, HouseCommit, HouseWrite, UserRow},
};

pub(super) const SWITCHES: &str = concat!("SELECT ", switch_columns!(), " FROM switches s ORDER BY s.scope, s.name");

pub(super) async fn switches(pool: &Pool) -> Result<Vec<Switch>> {
    pool.list(SWITCHES, &[], row::switch).await
}

pub(super) async fn head(pool: &Pool, house: RunId) -> Result<Head> {
    Ok(journal::head(pool, house).await?.unwrap_or(Head::EMPTY))
}

/// Differs: a transaction of several statements, on a writer's connection and in its task; rare enough not to be
/// batched.
pub(super) async fn commit(link: &mut Link, write: &HouseWrite) -> Result<HouseCommit> {
    for conflict in 0..CONFLICTS_MAX {
        match attempt(link, write).await {
            Ok(HouseCommit::Committed { .. }) if link.take_unreplicated() => {
                return Err(StoreError::CommitUnknown { what: "the wait for the standby was cancelled".into() });
            }
            Ok(answer) => return Ok(answer),
            Err(Fault::Conflict(_)) => pause(conflict).await,
            Err(fault) => return Err(fault.of_write()),
        }
    }
    Err(StoreError::Unavailable { what: IN_THE_WAY.into() })
}

async fn attempt(link: &mut Link, write: &HouseWrite) -> Result<HouseCommit, Fault> {
    let house = RunId::house(&write.tenant);
    let transaction = link.client.transaction().await?;
    if !move_head(&transaction, house, write).await? {
        transaction.rollback().await?;
        return Ok(HouseCommit::Lost);
    }
    if let Some(change) = &write.replay
        && !replay::write(&transaction, &write.tenant, change).await?
    {
        transaction.rollback().await?;
        return Ok(HouseCommit::Lost);
    }
    let receipt = match &write.switch {
        Some(switch) => Some(turn(&transaction, switch).await?),
        None => None,
    };
    if let Some(key) = &write.api_key {
        put_api_key(&transaction, key).await?;
    }
    if let Some(user) = &write.user {
        put_user(&transaction, user).await?;
    }
    if let Some(change) = &write.subscription
        && !subscription::write(&transaction, &write.tenant, change).await?
    {
        transaction.rollback().await?;
        return Ok(HouseCommit::Lost);
    }
    append(&transaction, house, write).await?;
    transaction.commit().await?;
    Ok(HouseCommit::Committed { receipt })
}

const FIRST_HEAD: &str =
    "INSERT INTO heads (run_id, tenant, seq, hash) VALUES ($1, $2, $3, $4) ON CONFLICT (run_id) DO NOTHING";
const NEXT_HEAD: &str = "UPDATE heads SET seq = $3, hash = $4 WHERE run_id = $1 AND tenant = $2 AND seq = $5";

/// Compare-and-set on the chain's length; true if it held.
async fn move_head(tx: &Transaction<'_>, house: RunId, write: &HouseWrite) -> Result<bool, Fault> {
    let (id, tenant, seq) = (house.as_bytes(), write.tenant.as_str(), write.head.seq);
    let hash = write.head.hash.as_ref().map(|h| &h.as_bytes()[..]);
    let moved = if write.expected_seq == 0 {
        tx.execute(FIRST_HEAD, &[&id, &tenant, &seq, &hash]).await?
    } else {
        tx.execute(NEXT_HEAD, &[&id, &tenant, &seq, &hash, &write.expected_seq]).await?
    };
    Ok(moved == 1)
}

const NOTICES_IN: &str =
    "INSERT INTO notices (run_id, n, tenant, kind, dedupe, state, attempts, due_at) SELECT * FROM {m}";
const ENTRIES_IN: &str = "INSERT INTO journal (run_id, seq, at, kind, entry, hash, op) SELECT * FROM {j}";

async fn append(tx: &Transaction<'_>, house: RunId, write: &HouseWrite) -> Result<(), Fault> {
    let mut notices = Rows::new(&NOTICES);
    for told in &write.notices {
        notice::push(&mut notices, &write.tenant, &house, told)?;
    }
    let mut entries = Rows::new(&ENTRIES);
    let id = OpId::next();
    write.entries.iter().for_each(|entry| journal::push(&mut entries, entry, id));
    tx.execute(&expand(NOTICES_IN, &[&NOTICES]), &params(&[notices])).await?;
    tx.execute(&expand(ENTRIES_IN, &[&ENTRIES]), &params(&[entries])).await?;
    Ok(())
}

const TURN: &str = "INSERT INTO switches (scope, name, enabled, reason, turned_by, turned_at)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (scope, name) DO UPDATE SET enabled = excluded.enabled, reason = excluded.reason,
  turned_by = excluded.turned_by, turned_at = excluded.turned_at";

async fn turn(tx: &Transaction<'_>, s: &Switch) -> Result<Receipt, Fault> {
    tx.execute(TURN, &[&s.scope.as_str(), &s.name, &s.enabled, &s.reason, &s.by, &s.at.micros()]).await?;
    let (queued, scheduled, in_flight) = count_effects(tx, s).await?;
    let (leased, awaiting) = (count(tx, LEASED, s).await?, count(tx, AWAITING, s).await?);
    Ok(Receipt { queued, scheduled, leased, in_flight, awaiting })
}

pub(super) const EFFECTS: &str =
    "SELECT count(*) FILTER (WHERE e.state = 'pending'), count(*) FILTER (WHERE e.state = 'scheduled'),
  count(*) FILTER (WHERE e.state = 'sending')
FROM effects e JOIN runs r ON r.run_id = e.run_id
WHERE e.state IN ('scheduled', 'pending', 'sending')
  AND CASE $1::text WHEN 'all' THEN true WHEN 'tenant' THEN r.tenant = $2 WHEN 'flow' THEN r.flow = $2
    WHEN 'provider' THEN e.provider = $2 WHEN 'effect_type' THEN e.type = $2 ELSE false END";

/// Pending, scheduled and sending effects within the switch's scope.
async fn count_effects(tx: &Transaction<'_>, s: &Switch) -> Result<(i64, i64, i64), Fault> {
    let row = tx.query_one(EFFECTS, &[&s.scope.as_str(), &s.name]).await?;
    Ok((tx::computed(&row, 0)?, tx::computed(&row, 1)?, tx::computed(&row, 2)?))
}

/// Runs that a worker holds. One counts for a provider or an effect type if it has an open effect of it.
const LEASED: &str = concat!(
    "SELECT count(*) FROM runs r WHERE r.state = 'processing' AND r.lease_expires_at > (SELECT ",
    now!(),
    ")
  AND CASE $1::text WHEN 'all' THEN true WHEN 'tenant' THEN r.tenant = $2 WHEN 'flow' THEN r.flow = $2
    ELSE EXISTS (SELECT 1 FROM effects e WHERE e.run_id = r.run_id AND e.state NOT IN ('completed', 'failed', 'cancelled')
      AND CASE $1::text WHEN 'provider' THEN e.provider WHEN 'effect_type' THEN e.type END = $2) END"
);
/// Runs that wait for a person. One counts for a provider or an effect type also if its open approval asks for one.
const AWAITING: &str = "SELECT count(*) FROM runs r WHERE r.state = 'awaiting_human'
  AND CASE $1::text WHEN 'all' THEN true WHEN 'tenant' THEN r.tenant = $2 WHEN 'flow' THEN r.flow = $2
    ELSE EXISTS (SELECT 1 FROM effects e WHERE e.run_id = r.run_id AND e.state NOT IN ('completed', 'failed', 'cancelled')
        AND CASE $1::text WHEN 'provider' THEN e.provider WHEN 'effect_type' THEN e.type END = $2)
      OR EXISTS (SELECT 1 FROM approvals p, json_array_elements(p.proposed::json) x
        WHERE p.run_id = r.run_id AND p.state = 'open'
          AND CASE $1::text WHEN 'provider' THEN x.value ->> 'provider' WHEN 'effect_type' THEN x.value ->> 'type' END
            = $2) END";

async fn count(tx: &Transaction<'_>, sql: &str, s: &Switch) -> Result<i64, Fault> {
    let row = tx.query_one(sql, &[&s.scope.as_str(), &s.name]).await?;
    Ok(tx::computed(&row, 0)?)
}

const API_KEY: &str = concat!("SELECT ", api_key_columns!(), " FROM api_keys k WHERE k.public_id = $1");

pub(super) async fn api_key(pool: &Pool, public_id: &str) -> Result<Option<ApiKeyRow>> {
    pool.first(API_KEY, &[&public_id], row::api_key).await
}

const API_KEYS: &str =
    concat!("SELECT ", api_key_columns!(), " FROM api_keys k WHERE k.tenant = $1 ORDER BY k.created_at, k.public_id");

pub(super) async fn api_keys(pool: &Pool, tenant: &Tenant) -> Result<Vec<ApiKeyRow>> {
    pool.list(API_KEYS, &[&tenant.as_str()], row::api_key).await
}

const ANY_API_KEY: &str = "SELECT EXISTS (SELECT 1 FROM api_keys)";

pub(super) async fn api_key_none(pool: &Pool) -> Result<bool> {
    Ok(!pool.first(ANY_API_KEY, &[], |r| tx::computed(r, 0)).await?.unwrap_or(false))
}

/// A key's id belongs to one tenant for good.
const PUT_API_KEY: &str = "INSERT INTO api_keys (public_id, tenant, name, secret_hash, scopes, flows, created_at, revoked_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (public_id) DO UPDATE SET name = excluded.name, secret_hash = excluded.secret_hash, scopes = excluded.scopes,
  flows = excluded.flows, revoked_at = excluded.revoked_at
WHERE api_keys.tenant = excluded.tenant";

async fn put_api_key(tx: &Transaction<'_>, k: &ApiKeyRow) -> Result<(), Fault> {
    let (scopes, flows) = (row::json(&k.scopes)?, row::json(&k.flows)?);
    let (created, revoked) = (k.created_at.micros(), k.revoked_at.map(|at| at.micros()));
    let (tenant, hash) = (k.tenant.as_str(), &k.secret_hash.as_bytes()[..]);
    let put =
        tx.execute(PUT_API_KEY, &[&k.public_id, &tenant, &k.name, &hash, &scopes, &flows, &created, &revoked]).await?;
    match put {
        1 => Ok(()),
        _ => Err(StoreError::Rejected { what: format!("API key {} belongs to another tenant", k.public_id) }.into()),
    }
}

const USER: &str = concat!("SELECT ", user_columns!(), " FROM users u WHERE u.tenant = $1 AND u.name = $2");

pub(super) async fn user(pool: &Pool, tenant: &Tenant, name: &str) -> Result<Option<UserRow>> {
    pool.first(USER, &[&tenant.as_str(), &name], row::user).await
}

const USERS: &str = concat!("SELECT ", user_columns!(), " FROM users u WHERE u.tenant = $1 ORDER BY u.name");

pub(super) async fn users(pool: &Pool, tenant: &Tenant) -> Result<Vec<UserRow>> {
    pool.list(USERS, &[&tenant.as_str()], row::user).await
}

const PUT_USER: &str = "INSERT INTO users (tenant, name, email, password_hash, roles, disabled, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (tenant, name) DO UPDATE SET email = excluded.email, password_hash = excluded.password_hash,
  roles = excluded.roles, disabled = excluded.disabled, updated_at = excluded.updated_at";

async fn put_user(tx: &Transaction<'_>, u: &UserRow) -> Result<(), Fault> {
    let (tenant, roles) = (u.tenant.as_str(), row::json(&u.roles)?);
    let (created, updated) = (u.created_at.micros(), u.updated_at.micros());
    tx.execute(PUT_USER, &[&tenant, &u.name, &u.email, &u.password_hash, &roles, &u.disabled, &created, &updated])
        .await?;
    Ok(())
}
