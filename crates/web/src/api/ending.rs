//! POST /v1/runs/{id}/complete and /fail: how a worker ends its work.

use axum::extract::State;
use effectgate_core::ids::RunId;
use effectgate_engine::settle_run::{Completed, Failed, MESSAGE_CHARS_MAX};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::{Reply, detached, lease_call, may_touch};
use crate::{
    app::App,
    auth::allowed::{Allowed, Work},
    problem::Result,
    request::{Body, Id, Wire, raw, text},
};

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"owner": "worker-1", "fence": 1, "result": {"crm_id": "N-1"}}))]
pub(crate) struct CompleteRequest {
    owner: String,
    fence: i64,
    /// Any JSON; a replay gives it back as the text that came in. Left out: `null`.
    #[serde(default, deserialize_with = "raw")]
    #[schema(value_type = Option<Object>)]
    result: Option<Box<RawValue>>,
}

impl Wire for CompleteRequest {}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"owner": "worker-1", "fence": 1, "class": "model_timeout", "message": "no answer in 60 s"}))]
pub(crate) struct FailRequest {
    owner: String,
    fence: i64,
    /// `model_timeout`, `model_unavailable`, `rate_limited`, `unparseable`, `schema_invalid`, `semantic`,
    /// `partial_success`, `agent_limit`, `lost_ownership` or `worker_error`.
    class: String,
    message: Option<String>,
}

impl Wire for FailRequest {}

/// An answer that says whether it was given before.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CompleteAnswer {
    repeated: bool,
    #[serde(flatten)]
    answer: Completed,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FailAnswer {
    repeated: bool,
    #[serde(flatten)]
    answer: Failed,
}

/// Complete a run with its result.
#[utoipa::path(post, path = "/v1/runs/{id}/complete", operation_id = "complete", tag = "lease", request_body = CompleteRequest,
    params(("id" = String, Path, description = "The run")),
    responses((status = 200, description = "Completed", body = CompleteAnswer)))]
pub(crate) async fn complete(
    State(app): State<App>,
    Allowed { who, .. }: Allowed<Work>,
    Id(run): Id<RunId>,
    body: Body<CompleteRequest>,
) -> Result<Reply> {
    let CompleteRequest { owner, fence, result } = body.value;
    let call = lease_call(&who, run, &owner, fence, "complete", &body.bytes)?;
    may_touch(&app, &who, run).await?;
    detached(async move {
        let result = result.as_deref().map_or("null", RawValue::get);
        let answered = app.engine.complete(&call, result).await?;
        Ok(Reply::ok(&CompleteAnswer { repeated: answered.repeated, answer: answered.answer }))
    })
    .await
}

/// Fail a run with a class of the retry matrix.
///
/// The answer says whether there will be another attempt, when, and how many are left: a workflow needs no retry policy
/// of its own.
#[utoipa::path(post, path = "/v1/runs/{id}/fail", operation_id = "fail", tag = "lease", request_body = FailRequest,
    params(("id" = String, Path, description = "The run")),
    responses((status = 200, description = "Noted, with what follows", body = FailAnswer)))]
pub(crate) async fn fail(
    State(app): State<App>,
    Allowed { who, .. }: Allowed<Work>,
    Id(run): Id<RunId>,
    body: Body<FailRequest>,
) -> Result<Reply> {
    let FailRequest { owner, fence, class, message } = body.value;
    let call = lease_call(&who, run, &owner, fence, "fail", &body.bytes)?;
    text(message.as_deref().unwrap_or_default(), MESSAGE_CHARS_MAX, "/message")?;
    may_touch(&app, &who, run).await?;
    detached(async move {
        let answered = app.engine.fail(&call, &class, message.as_deref()).await?;
        Ok(Reply::ok(&FailAnswer { repeated: answered.repeated, answer: answered.answer }))
    })
    .await
}
