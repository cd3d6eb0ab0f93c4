//! POST /v1/runs/{id}/renew: the owner prolongs its lease.

use axum::extract::State;
use effectgate_core::ids::{Fence, RunId};
use effectgate_engine::{call, view::LeaseView};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Reply, detached, may_touch};
use crate::{
    app::App,
    auth::allowed::{Allowed, Work},
    problem::Result,
    request::{Body, Id, LeaseMs, Wire, given},
};

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"owner": "worker-1", "fence": 1, "lease_ms": 300_000}))]
pub(crate) struct RenewRequest {
    owner: String,
    fence: i64,
    /// From now. Left out: the flow's default.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<i64>)]
    lease_ms: Option<LeaseMs>,
}

impl Wire for RenewRequest {}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RenewAnswer {
    lease: LeaseView,
}

/// Renew a lease that lives.
///
/// The total life of one chain of renewals is bounded by the flow (`lease_total_ms_max`); a lease that is over cannot be
/// renewed.
#[utoipa::path(post, path = "/v1/runs/{id}/renew", tag = "lease", request_body = RenewRequest,
    params(("id" = String, Path, description = "The run")),
    responses((status = 200, description = "Prolonged", body = RenewAnswer)))]
pub(crate) async fn renew(
    State(app): State<App>,
    Allowed { who, .. }: Allowed<Work>,
    Id(run): Id<RunId>,
    body: Body<RenewRequest>,
) -> Result<Reply> {
    let RenewRequest { owner, fence, lease_ms } = body.value;
    let (owner, lease_ms) = (call::owner(&owner)?, LeaseMs::read(lease_ms)?);
    may_touch(&app, &who, run).await?;
    detached(async move {
        let lease = app.engine.renew(who.tenant(), run, &owner, Fence(fence), lease_ms).await?;
        Ok(Reply::ok(&RenewAnswer { lease }))
    })
    .await
}
