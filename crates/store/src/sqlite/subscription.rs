//! Subscriptions and what is on its way to them: which are due, who sends one, and how it went.

use effectgate_core::{
    ids::{FlowName, SubscriptionId, Tenant},
    time::Timestamp,
};
use rusqlite::params;

use super::tx::Tx;
use crate::{
    Result,
    row::{self, delivery_columns, subscription_columns},
    types::{DELIVERED_KEPT_MS, DeliveryRow, Heard, SubscriptionRow, SubscriptionWrite},
};

pub(super) const FIND: &str =
    concat!("SELECT ", subscription_columns!(), " FROM subscriptions b WHERE b.subscription_id = ?1 AND b.tenant = ?2");

pub(super) fn find(tx: &Tx<'_>, tenant: &Tenant, id: SubscriptionId) -> Result<Option<SubscriptionRow>> {
    tx.first(FIND, params![id.as_bytes(), tenant.as_str()], |r| row::subscription(r))
}

/// Every one there is: API keys bound how many.
const LIST: &str = concat!(
    "SELECT ",
    subscription_columns!(),
    " FROM subscriptions b WHERE ?1 IS NULL OR b.tenant = ?1 ORDER BY b.created_at, b.subscription_id"
);

pub(super) fn list(tx: &Tx<'_>, tenant: Option<&Tenant>) -> Result<Vec<SubscriptionRow>> {
    tx.list(LIST, params![tenant.map(Tenant::as_str)], |r| row::subscription(r))
}

/// A seek for each subscription.
pub(super) const DUE_SUBSCRIPTIONS: &str = concat!(
    "SELECT ",
    subscription_columns!(),
    " FROM subscriptions b WHERE EXISTS (SELECT 1 FROM deliveries d WHERE d.subscription_id = b.subscription_id
    AND d.state = 'pending' AND d.due_at <= ?1) ORDER BY b.subscription_id"
);

pub(super) fn due_subscriptions(tx: &Tx<'_>) -> Result<Vec<SubscriptionRow>> {
    tx.list(DUE_SUBSCRIPTIONS, params![tx.now.micros()], |r| row::subscription(r))
}

const PUT: &str =
    "INSERT INTO subscriptions (subscription_id, tenant, api_key, url, events, flow, created_at, gone_count)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 0)
ON CONFLICT (subscription_id) DO UPDATE SET events = excluded.events, flow = excluded.flow";
const DROP: &str = "DELETE FROM subscriptions WHERE subscription_id = ?1 AND tenant = ?2";

/// Makes a change; false if it cannot be made. Differs: SQLite asks first, because the caller cannot roll back.
pub(super) fn may(tx: &Tx<'_>, tenant: &Tenant, write: &SubscriptionWrite) -> Result<bool> {
    match write {
        SubscriptionWrite::Put(_) => Ok(true),
        SubscriptionWrite::Drop(id) => Ok(find(tx, tenant, *id)?.is_some()),
    }
}

pub(super) fn write(tx: &Tx<'_>, tenant: &Tenant, write: &SubscriptionWrite) -> Result<()> {
    match write {
        SubscriptionWrite::Drop(id) => tx.run(DROP, params![id.as_bytes(), tenant.as_str()]).map(drop),
        SubscriptionWrite::Put(b) => {
            let values = params![
                b.id.as_bytes(),
                tenant.as_str(),
                b.api_key,
                b.url,
                row::json(&b.events)?,
                b.flow.as_ref().map(FlowName::as_str),
                b.created_at.micros(),
            ];
            tx.run(PUT, values).map(drop)
        }
    }
}

/// Only where the subscription still is. One that is there already stays as it is.
const ADD: &str = "INSERT INTO deliveries
  (subscription_id, run_id, seq, place, event, body, state, attempts, due_at, created_at)
SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10 WHERE EXISTS (SELECT 1 FROM subscriptions WHERE subscription_id = ?1)
ON CONFLICT (subscription_id, run_id, seq, place) DO NOTHING";

pub(super) fn add(tx: &Tx<'_>, rows: &[DeliveryRow]) -> Result<()> {
    for d in rows {
        let values = params![
            d.subscription.as_bytes(),
            d.event.run.as_bytes(),
            d.event.seq,
            d.event.place,
            d.kind.as_str(),
            d.body,
            d.state.as_str(),
            d.attempts,
            d.due_at.micros(),
            d.created_at.micros(),
        ];
        tx.run(ADD, values)?;
    }
    Ok(())
}

pub(super) const DUE: &str = concat!(
    "SELECT ",
    delivery_columns!(),
    " FROM deliveries d WHERE d.subscription_id = ?1 AND d.state = 'pending' AND d.due_at <= ?2
ORDER BY d.due_at, d.run_id, d.seq, d.place LIMIT ?3"
);

pub(super) fn due(tx: &Tx<'_>, subscription: SubscriptionId, limit: u32) -> Result<Vec<DeliveryRow>> {
    tx.list(DUE, params![subscription.as_bytes(), tx.now.micros(), limit], |r| row::delivery(r))
}

const CLAIM: &str = "UPDATE deliveries SET attempts = attempts + 1, due_at = ?6
WHERE subscription_id = ?1 AND run_id = ?2 AND seq = ?3 AND place = ?4 AND state = 'pending' AND attempts = ?5";

pub(super) fn claim(tx: &Tx<'_>, due: &DeliveryRow, until: Timestamp) -> Result<bool> {
    let (id, event) = (due.subscription.as_bytes(), due.event);
    let values = params![id, event.run.as_bytes(), event.seq, event.place, due.attempts, until.micros()];
    Ok(tx.run(CLAIM, values)? == 1)
}

/// Never out of an end: a slow sender does not take back what a later one has done. Attempts only rise.
const SETTLE: &str = "UPDATE deliveries SET state = ?5, due_at = ?6, attempts = max(attempts, ?7),
  body = CASE WHEN ?5 = 'pending' THEN body ELSE '' END
WHERE subscription_id = ?1 AND run_id = ?2 AND seq = ?3 AND place = ?4 AND state = 'pending'";
/// What the other side made of it, counted where it stands: no two senders lose each other's.
const GOING: &str = "UPDATE subscriptions SET
  failing_since = CASE ?2 WHEN 'yes' THEN NULL ELSE coalesce(failing_since, ?3) END,
  gone_since = CASE ?2 WHEN 'gone' THEN coalesce(gone_since, ?3) END,
  gone_count = CASE ?2 WHEN 'gone' THEN gone_count + 1 ELSE 0 END,
  last_delivered_at = CASE ?2 WHEN 'yes' THEN ?3 ELSE last_delivered_at END
WHERE subscription_id = ?1";
pub(super) const BY_ID: &str =
    concat!("SELECT ", subscription_columns!(), " FROM subscriptions b WHERE b.subscription_id = ?1");

pub(super) fn settle(tx: &Tx<'_>, d: &DeliveryRow, heard: Heard) -> Result<Option<SubscriptionRow>> {
    let (id, event) = (d.subscription.as_bytes(), d.event);
    let (state, due) = (d.state.as_str(), d.due_at.micros());
    tx.run(SETTLE, params![id, event.run.as_bytes(), event.seq, event.place, state, due, d.attempts])?;
    tx.run(GOING, params![id, heard.as_str(), tx.now.micros()])?;
    tx.first(BY_ID, params![id], |r| row::subscription(r))
}

pub(super) const DROP_OVER: &str = "DELETE FROM deliveries WHERE (subscription_id, run_id, seq, place) IN (
  SELECT subscription_id, run_id, seq, place FROM deliveries
  WHERE state IN ('sent', 'given_up') AND due_at <= ?1 ORDER BY due_at LIMIT ?2)";

/// Forgets what was done a day ago.
pub(super) fn purge(tx: &Tx<'_>, limit: u32) -> Result<()> {
    tx.run(DROP_OVER, params![tx.now.plus_ms(-DELIVERED_KEPT_MS).micros(), limit]).map(drop)
}
