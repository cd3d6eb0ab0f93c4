//! POST /v1/runs/claim: a worker that polls takes the oldest due run of a flow.

use axum::extract::State;
use effectgate_core::ids::FlowName;
use effectgate_engine::reserve::Reserved;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{
    Reply, detached, may_name,
    reserve::{self, ReserveAnswer},
};
use crate::{
    app::App,
    auth::allowed::{Allowed, Work},
    problem::Result,
    request::{Body, LeaseMs, Wire, given},
};

/// A claim.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"flow": "ticket-reply", "owner": "worker-1", "lease_ms": 300_000}))]
pub(crate) struct ClaimRequest {
    flow: String,
    owner: Option<String>,
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<i64>)]
    lease_ms: Option<LeaseMs>,
}

impl Wire for ClaimRequest {}

/// Nothing is due.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct NoneAnswer {
    /// `none`.
    answer: &'static str,
    retry_after_ms: i64,
}

/// Runs become due by the second (backoff, lease ends); polling faster finds nothing more.
const POLL_MS: i64 = 1_000;

/// Claim a due run of a flow.
///
/// Queued, failed_retryable whose time has come, or left behind by a worker whose lease is over. The answer has the
/// payload: this worker did not bring it.
#[utoipa::path(post, path = "/v1/runs/claim", tag = "runs", request_body = ClaimRequest,
    responses(
        (status = 201, description = "Granted", body = ReserveAnswer),
        (status = 200, description = "Nothing is due", body = NoneAnswer)))]
pub(crate) async fn claim(
    State(app): State<App>,
    Allowed { who, .. }: Allowed<Work>,
    body: Body<ClaimRequest>,
) -> Result<Reply> {
    let ClaimRequest { flow, owner, lease_ms } = body.value;
    may_name(&who, &flow)?;
    let lease_ms = LeaseMs::read(lease_ms)?;
    detached(async move {
        let claimed = app.engine.claim(&who.caller(), &FlowName::new(flow), owner.as_deref(), lease_ms).await;
        match claimed.map_err(reserve::at_flow)? {
            Some(reserved) => {
                let payload = match &reserved {
                    Reserved::Granted { run, .. } => app.engine.payload(who.tenant(), run.id).await?,
                    _ => None,
                };
                reserve::answer_with(reserved, payload)
            }
            None => Ok(Reply::ok(&NoneAnswer { answer: "none", retry_after_ms: POLL_MS }).retry_after_ms(POLL_MS)),
        }
    })
    .await
}
