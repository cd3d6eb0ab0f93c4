//! Subscriptions and what is on its way to them: which are due, who sends one, and how it went.

use std::sync::LazyLock;

use effectgate_core::{
    ids::{FlowName, SubscriptionId, Tenant},
    time::Timestamp,
};
use tokio_postgres::Transaction;

use super::{
    columns::{Kind::*, Rows, Shape, expand, params},
    pool::Pool,
    tx::{Fault, now},
};
use crate::{
    Result,
    row::{self, delivery_columns, subscription_columns},
    types::{DELIVERED_KEPT_MS, DeliveryRow, Heard, SubscriptionRow, SubscriptionWrite},
};

pub(super) const FIND: &str =
    concat!("SELECT ", subscription_columns!(), " FROM subscriptions b WHERE b.subscription_id = $1 AND b.tenant = $2");

pub(super) async fn find(pool: &Pool, tenant: &Tenant, id: SubscriptionId) -> Result<Option<SubscriptionRow>> {
    pool.first(FIND, &[&id.as_bytes(), &tenant.as_str()], row::subscription).await
}

/// Every one there is: API keys bound how many.
pub(super) const LIST: &str = concat!(
    "SELECT ",
    subscription_columns!(),
    " FROM subscriptions b WHERE $1::text IS NULL OR b.tenant = $1 ORDER BY b.created_at, b.subscription_id"
);

pub(super) async fn list(pool: &Pool, tenant: Option<&Tenant>) -> Result<Vec<SubscriptionRow>> {
    pool.list(LIST, &[&tenant.map(Tenant::as_str)], row::subscription).await
}

/// A seek for each subscription.
pub(super) const DUE_SUBSCRIPTIONS: &str = concat!(
    "SELECT ",
    subscription_columns!(),
    " FROM subscriptions b WHERE EXISTS (SELECT 1 FROM deliveries d WHERE d.subscription_id = b.subscription_id
    AND d.state = 'pending' AND d.due_at <= (SELECT ",
    now!(),
    ")) ORDER BY b.subscription_id"
);

pub(super) async fn due_subscriptions(pool: &Pool) -> Result<Vec<SubscriptionRow>> {
    pool.list(DUE_SUBSCRIPTIONS, &[], row::subscription).await
}

const PUT: &str =
    "INSERT INTO subscriptions (subscription_id, tenant, api_key, url, events, flow, created_at, gone_count)
VALUES ($1, $2, $3, $4, $5, $6, $7, 0)
ON CONFLICT (subscription_id) DO UPDATE SET events = excluded.events, flow = excluded.flow";
const DROP: &str = "DELETE FROM subscriptions WHERE subscription_id = $1 AND tenant = $2";

/// Makes a change; false if it cannot be made. Differs: the caller rolls back; SQLite asks first.
pub(super) async fn write(tx: &Transaction<'_>, tenant: &Tenant, write: &SubscriptionWrite) -> Result<bool, Fault> {
    let tenant = tenant.as_str();
    let changed = match write {
        SubscriptionWrite::Drop(id) => tx.execute(DROP, &[&id.as_bytes(), &tenant]).await?,
        SubscriptionWrite::Put(b) => {
            let (events, flow) = (row::json(&b.events)?, b.flow.as_ref().map(FlowName::as_str));
            let created = b.created_at.micros();
            tx.execute(PUT, &[&b.id.as_bytes(), &tenant, &b.api_key, &b.url, &events, &flow, &created]).await?
        }
    };
    Ok(changed == 1)
}

/// Deliveries on their way into a statement.
const DELIVERIES: Shape = Shape {
    name: "d",
    columns: &[
        ("subscription_id", Blob),
        ("run_id", Blob),
        ("seq", Int),
        ("place", Int),
        ("event", Text),
        ("body", Text),
        ("state", Text),
        ("attempts", Int),
        ("due_at", Int),
        ("created_at", Int),
    ],
};

/// Only where the subscription still is. One that is there already stays as it is.
const ADD: &str = "INSERT INTO deliveries
  (subscription_id, run_id, seq, place, event, body, state, attempts, due_at, created_at)
SELECT d.* FROM {d} WHERE EXISTS (SELECT 1 FROM subscriptions b WHERE b.subscription_id = d.subscription_id)
ON CONFLICT (subscription_id, run_id, seq, place) DO NOTHING";
pub(super) static ADD_SQL: LazyLock<String> = LazyLock::new(|| expand(ADD, &[&DELIVERIES]));

pub(super) async fn add(pool: &Pool, deliveries: &[DeliveryRow]) -> Result<()> {
    if deliveries.is_empty() {
        return Ok(());
    }
    let mut rows = Rows::new(&DELIVERIES);
    for d in deliveries {
        rows.push([
            d.subscription.as_bytes().into(),
            d.event.run.as_bytes().into(),
            d.event.seq.into(),
            d.event.place.into(),
            d.kind.as_str().into(),
            (&d.body).into(),
            d.state.as_str().into(),
            d.attempts.into(),
            d.due_at.micros().into(),
            d.created_at.micros().into(),
        ]);
    }
    pool.write(ADD_SQL.as_str(), &params(&[rows])).await.map(drop)
}

pub(super) const DUE: &str = concat!(
    "SELECT ",
    delivery_columns!(),
    " FROM deliveries d WHERE d.subscription_id = $1 AND d.state = 'pending' AND d.due_at <= (SELECT ",
    now!(),
    ") ORDER BY d.due_at, d.run_id, d.seq, d.place LIMIT $2"
);

pub(super) async fn due(pool: &Pool, subscription: SubscriptionId, limit: u32) -> Result<Vec<DeliveryRow>> {
    pool.list(DUE, &[&subscription.as_bytes(), &i64::from(limit)], row::delivery).await
}

pub(super) const CLAIM: &str = "UPDATE deliveries SET attempts = attempts + 1, due_at = $6
WHERE subscription_id = $1 AND run_id = $2 AND seq = $3 AND place = $4 AND state = 'pending' AND attempts = $5";

pub(super) async fn claim(pool: &Pool, due: &DeliveryRow, until: Timestamp) -> Result<bool> {
    let (id, event) = (due.subscription.as_bytes(), due.event);
    let (place, attempts) = (i64::from(event.place), i64::from(due.attempts));
    let values: &[&(dyn tokio_postgres::types::ToSql + Sync)] =
        &[&id, &event.run.as_bytes(), &event.seq, &place, &attempts, &until.micros()];
    Ok(pool.write(CLAIM, values).await? == 1)
}

/// The delivery: never out of an end, a slow sender does not take back what a later one has done; attempts only rise.
/// The subscription: what the other side made of it, counted where it stands, so no two senders lose each other's.
pub(super) const SETTLE: &str = concat!(
    "WITH n AS MATERIALIZED (SELECT ",
    now!(),
    " AS at),
settled AS (UPDATE deliveries SET state = $5, due_at = $6, attempts = greatest(attempts, $7),
  body = CASE WHEN $5 = 'pending' THEN body ELSE '' END
  WHERE subscription_id = $1 AND run_id = $2 AND seq = $3 AND place = $4 AND state = 'pending')
UPDATE subscriptions b SET
  failing_since = CASE $8::text WHEN 'yes' THEN NULL ELSE coalesce(b.failing_since, n.at) END,
  gone_since = CASE $8::text WHEN 'gone' THEN coalesce(b.gone_since, n.at) END,
  gone_count = CASE $8::text WHEN 'gone' THEN b.gone_count + 1 ELSE 0 END,
  last_delivered_at = CASE $8::text WHEN 'yes' THEN n.at ELSE b.last_delivered_at END
FROM n WHERE b.subscription_id = $1"
);
pub(super) const BY_ID: &str =
    concat!("SELECT ", subscription_columns!(), " FROM subscriptions b WHERE b.subscription_id = $1");

pub(super) async fn settle(pool: &Pool, d: &DeliveryRow, heard: Heard) -> Result<Option<SubscriptionRow>> {
    let (id, event) = (d.subscription.as_bytes(), d.event);
    let (place, attempts) = (i64::from(event.place), i64::from(d.attempts));
    let (state, due) = (d.state.as_str(), d.due_at.micros());
    let values: &[&(dyn tokio_postgres::types::ToSql + Sync)] =
        &[&id, &event.run.as_bytes(), &event.seq, &place, &state, &due, &attempts, &heard.as_str()];
    pool.write(SETTLE, values).await?;
    pool.first(BY_ID, &[&id], row::subscription).await
}

/// By their place, which a row that is done keeps: nothing writes to it any more.
pub(super) const DROP_OVER: &str = concat!(
    "DELETE FROM deliveries WHERE ctid = ANY (ARRAY(SELECT ctid FROM deliveries
  WHERE state IN ('sent', 'given_up') AND due_at <= (SELECT ",
    now!(),
    ") - $2::bigint * 1000 ORDER BY due_at LIMIT $1 FOR UPDATE SKIP LOCKED))"
);

/// Forgets what was done a day ago.
pub(super) async fn purge(pool: &Pool, limit: u32) -> Result<()> {
    pool.write(DROP_OVER, &[&i64::from(limit), &DELIVERED_KEPT_MS]).await.map(drop)
}
