//! Rows of `subscriptions` and `deliveries`.

use effectgate_core::{
    event::EventKind,
    ids::{EventId, FlowName, SubscriptionId, Tenant},
};

use super::{Cells, Reader, table};
use crate::{
    Result,
    types::{DeliveryRow, DeliveryState, Going, SubscriptionRow},
};

table!(
    SUBSCRIPTIONS,
    subscription_columns,
    "subscriptions",
    "b",
    subscription_id,
    tenant,
    api_key,
    url,
    events,
    flow,
    created_at,
    failing_since,
    gone_since,
    gone_count,
    last_delivered_at,
);
table!(
    DELIVERIES,
    delivery_columns,
    "deliveries",
    "d",
    subscription_id,
    run_id,
    seq,
    place,
    event,
    body,
    state,
    attempts,
    due_at,
    created_at,
);

fn id<C: Cells>(r: &Reader<'_, C>) -> Result<SubscriptionId> {
    let id = r.opt_blob("subscription_id")?.and_then(|bytes| SubscriptionId::from_bytes(&bytes));
    id.ok_or_else(|| r.corrupt("subscription_id"))
}

pub(crate) fn subscription<C: Cells>(cells: &C) -> Result<SubscriptionRow> {
    let r = Reader::new(cells, &SUBSCRIPTIONS, 0);
    Ok(SubscriptionRow {
        id: id(&r)?,
        tenant: Tenant::new(r.text("tenant")?),
        api_key: r.text("api_key")?,
        url: r.text("url")?,
        events: r.json("events")?,
        flow: r.opt_text("flow")?.map(FlowName::new),
        created_at: r.time("created_at")?,
        going: Going {
            failing_since: r.opt_time("failing_since")?,
            gone_since: r.opt_time("gone_since")?,
            gone_count: r.small("gone_count")?,
            last_delivered_at: r.opt_time("last_delivered_at")?,
        },
    })
}

pub(crate) fn delivery<C: Cells>(cells: &C) -> Result<DeliveryRow> {
    let r = Reader::new(cells, &DELIVERIES, 0);
    Ok(DeliveryRow {
        subscription: id(&r)?,
        event: EventId { run: r.run_id("run_id")?, seq: r.int("seq")?, place: r.small("place")? },
        kind: r.word("event", EventKind::parse)?,
        body: r.text("body")?,
        state: r.word("state", DeliveryState::parse)?,
        attempts: r.small("attempts")?,
        due_at: r.time("due_at")?,
        created_at: r.time("created_at")?,
    })
}
