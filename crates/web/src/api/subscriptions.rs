//! POST, GET and DELETE /v1/subscriptions: who wants to hear of events. A subscription belongs to the API key that made
//! it; others do not see it, but for administrators.

use axum::extract::State;
use effectgate_core::ids::SubscriptionId;
use effectgate_engine::{
    keys::KeyScope,
    subscriptions::{Subscribed, SubscriptionView, Wish},
};
use http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Reply, detached, may_name};
use crate::{
    app::App,
    auth::{
        Identity,
        allowed::{Allowed, OfKey, Work},
    },
    problem::Result,
    request::{Body, Id, Wire},
};

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"url": "https://n8n.example.com/webhook/2f8f1d0a/webhook", "events": ["approval.decided"], "flow": null}))]
pub(crate) struct SubscribeRequest {
    /// Where events are sent, by POST. At a base of `[n8n]` and below its path.
    url: String,
    /// `approval.requested`, `approval.decided`, `approval.expired`, `approval.withdrawn`, `run.completed`, `run.failed`,
    /// `run.quarantined`, `effect.completed`, `effect.failed`, `effect.review`.
    events: Vec<String>,
    /// Only of this flow; left out, of every flow that the API key may touch.
    #[serde(default)]
    flow: Option<String>,
}

impl Wire for SubscribeRequest {}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SubscriptionList {
    data: Vec<SubscriptionView>,
}

/// Register a URL for events.
///
/// The same URL again is the same subscription, with these events. Each event is sent at least once, signed as Standard
/// Webhooks says with a key made of this API key; a repeat has the same `webhook-id`.
#[utoipa::path(post, path = "/v1/subscriptions", operation_id = "subscribe", tag = "subscriptions",
    request_body = SubscribeRequest,
    responses(
        (status = 201, description = "Registered", body = SubscriptionView),
        (status = 200, description = "Registered before: the same subscription, with these events", body = SubscriptionView)
    ))]
pub(crate) async fn create(
    State(app): State<App>,
    OfKey { who, key, .. }: OfKey<Work>,
    body: Body<SubscribeRequest>,
) -> Result<Reply> {
    let SubscribeRequest { url, events, flow } = body.value;
    if let Some(flow) = &flow {
        may_name(&who, flow)?;
    }
    let wish = Wish { url, events, flow };
    detached(async move {
        let Subscribed { is_new, subscription } =
            app.engine.subscribe(who.tenant(), &who.actor(), &key.public_id, &wish).await?;
        let status = if is_new { StatusCode::CREATED } else { StatusCode::OK };
        Ok(Reply::new(status, &subscription))
    })
    .await
}

/// List subscriptions.
///
/// Those of this API key; an administrator sees all of the tenant.
#[utoipa::path(get, path = "/v1/subscriptions", operation_id = "list_subscriptions", tag = "subscriptions",
    responses((status = 200, description = "The first made first", body = SubscriptionList)))]
pub(crate) async fn list(State(app): State<App>, Allowed { who, .. }: Allowed<Work>) -> Result<Reply> {
    let data = app.engine.subscriptions(who.tenant(), only(&who)).await?;
    Ok(Reply::ok(&SubscriptionList { data }))
}

/// Drop a subscription, with what is on its way to it.
///
/// Says 204 also if it is gone: dropping twice is harmless.
#[utoipa::path(delete, path = "/v1/subscriptions/{id}", operation_id = "unsubscribe", tag = "subscriptions",
    params(("id" = String, Path, description = "The subscription (sub_…)")),
    responses((status = 204, description = "Dropped, or gone before")))]
pub(crate) async fn delete(
    State(app): State<App>,
    Allowed { who, .. }: Allowed<Work>,
    Id(id): Id<SubscriptionId>,
) -> Result<StatusCode> {
    detached(async move {
        app.engine.unsubscribe(who.tenant(), &who.actor(), only(&who), id).await?;
        Ok(StatusCode::NO_CONTENT)
    })
    .await
}

/// Whose subscriptions the caller may see: those of one key, or all.
fn only(who: &Identity) -> Option<&str> {
    match who {
        Identity::ApiKey(key) if !key.scopes.contains(&KeyScope::Admin) => Some(&key.public_id),
        // People come here as administrators only.
        _ => None,
    }
}
