//! POST /v1/runs/{id}/effects and /v1/effects/{id}/settle: the worker calls the provider itself, between the two.

use axum::extract::State;
use effectgate_core::{
    ids::{EffectId, RunId},
    inline::Reported,
    retry::Outcome,
};
use effectgate_engine::{
    inline::{Begun, Settled},
    propose::Asked,
};
use http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::{Reply, detached, lease_call, may_touch};
use crate::{
    app::App,
    auth::allowed::{Allowed, Work},
    problem::Result,
    request::{Body, Id, Wire, text},
};

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"owner": "worker-1", "fence": 1, "type": "crm_note", "target": "A-17",
    "payload": {"note": "…"}}))]
pub(crate) struct BeginRequest {
    owner: String,
    fence: i64,
    #[serde(rename = "type")]
    effect_type: String,
    target: Option<String>,
    #[schema(value_type = Object)]
    payload: Box<RawValue>,
}

impl Wire for BeginRequest {}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"owner": "worker-1", "fence": 1, "outcome": "applied", "external_id": "N-1"}))]
pub(crate) struct SettleRequest {
    owner: String,
    fence: i64,
    /// `applied`, `refused`, `not_sent` or `unknown`. When in doubt: `unknown`.
    #[schema(value_type = String)]
    outcome: Outcome,
    external_id: Option<String>,
    message: Option<String>,
}

impl Wire for SettleRequest {}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BeginAnswer {
    repeated: bool,
    #[serde(flatten)]
    answer: Begun,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SettleAnswer {
    repeated: bool,
    #[serde(flatten)]
    answer: Settled,
}

/// Ids that providers give are short; this is far beyond.
pub(crate) const EXTERNAL_ID_CHARS_MAX: usize = 500;
const MESSAGE_CHARS_MAX: usize = 10_000;

/// Begin an inline effect: the marker is durable before the worker calls the provider.
///
/// `begun: false` says that it was begun before, with what is known of it: do not call the provider again.
#[utoipa::path(post, path = "/v1/runs/{id}/effects", operation_id = "begin_effect", tag = "effects", request_body = BeginRequest,
    params(("id" = String, Path, description = "The run")),
    responses(
        (status = 201, description = "Begun: call the provider now", body = BeginAnswer),
        (status = 200, description = "Begun before: what is known", body = BeginAnswer)))]
pub(crate) async fn begin(
    State(app): State<App>,
    Allowed { who, .. }: Allowed<Work>,
    Id(run): Id<RunId>,
    body: Body<BeginRequest>,
) -> Result<Reply> {
    let BeginRequest { owner, fence, effect_type, target, payload } = body.value;
    let call = lease_call(&who, run, &owner, fence, "effects", &body.bytes)?;
    may_touch(&app, &who, run).await?;
    detached(async move {
        let asked = Asked { effect_type, target, payload: Box::<str>::from(payload).into_string() };
        let answered = app.engine.begin(&call, &asked).await?;
        let status = if answered.answer.begun { StatusCode::CREATED } else { StatusCode::OK };
        Ok(Reply::new(status, &BeginAnswer { repeated: answered.repeated, answer: answered.answer }))
    })
    .await
}

/// Settle an inline effect by what the provider answered.
#[utoipa::path(post, path = "/v1/effects/{id}/settle", operation_id = "settle_effect", tag = "effects", request_body = SettleRequest,
    params(("id" = String, Path, description = "The effect")),
    responses((status = 200, description = "Recorded; `changed: false` if it was final before", body = SettleAnswer)))]
pub(crate) async fn settle(
    State(app): State<App>,
    Allowed { who, .. }: Allowed<Work>,
    Id(effect): Id<EffectId>,
    body: Body<SettleRequest>,
) -> Result<Reply> {
    let SettleRequest { owner, fence, outcome, external_id, message } = body.value;
    text(external_id.as_deref().unwrap_or_default(), EXTERNAL_ID_CHARS_MAX, "/external_id")?;
    text(message.as_deref().unwrap_or_default(), MESSAGE_CHARS_MAX, "/message")?;
    // One run has several effects: the same report about another one is another call.
    let operation = format!("settle {effect}");
    let call = lease_call(&who, effect.run, &owner, fence, &operation, &body.bytes)?;
    may_touch(&app, &who, effect.run).await?;
    detached(async move {
        let reported = Reported { outcome, external_id, message };
        let answered = app.engine.settle_inline(&call, effect, &reported).await?;
        Ok(Reply::ok(&SettleAnswer { repeated: answered.repeated, answer: answered.answer }))
    })
    .await
}
