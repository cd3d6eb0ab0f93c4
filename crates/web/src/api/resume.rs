//! PUT /v1/approvals/{id}/resume: where a workflow execution waits for the decision. The same place can be named with the
//! proposal; this is for an execution that comes to wait later, or was tried again.

use axum::extract::State;
use effectgate_core::ids::ApprovalId;
use effectgate_engine::{resume::ResumeGiven, view::ApprovalView};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Reply, detached, may_touch};
use crate::{
    app::App,
    auth::allowed::{Allowed, Work},
    problem::Result,
    request::{Body, Id, Wire, text},
};

/// Where an execution waits.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"url": "https://n8n.example.com/webhook-waiting/4711?signature=…", "execution": "4711"}))]
pub(crate) struct ResumeRequest {
    /// Called by POST once the approval has ended. At an address that `[n8n]` allows; never shown again.
    url: String,
    /// Left out: the number in the address's path.
    execution: Option<String>,
    /// The id or name of the node that waits; a node that is called at an address of its own may be called again.
    node: Option<String>,
}

impl Wire for ResumeRequest {}

/// Far above what is allowed: the engine says why a longer one is not.
const URL_CHARS_MAX: usize = 8_192;

impl ResumeRequest {
    /// `at` is the pointer to it in the request.
    pub(super) fn given(self, at: &str) -> Result<ResumeGiven> {
        text(&self.url, URL_CHARS_MAX, &format!("{at}/url"))?;
        Ok(ResumeGiven { url: self.url, execution: self.execution, node: self.node })
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ResumeAnswer {
    approval: ApprovalView,
}

/// Say where an execution waits for an approval.
///
/// Once the approval has ended (approved, rejected, expired or withdrawn), the address is called by POST with
/// `approval_id`, `run_id` and `state`; that call is an effect of the flow `n8n-resume`. If it has ended already, the call
/// is queued at once. The same address again changes nothing; another one takes its place while the approval is open.
#[utoipa::path(put, path = "/v1/approvals/{id}/resume", operation_id = "resume_approval", tag = "approvals", request_body = ResumeRequest,
    params(("id" = String, Path, description = "The approval")),
    responses((status = 200, description = "The approval as it is now", body = ResumeAnswer)))]
pub(crate) async fn put(
    State(app): State<App>,
    Allowed { who, .. }: Allowed<Work>,
    Id(id): Id<ApprovalId>,
    body: Body<ResumeRequest>,
) -> Result<Reply> {
    let given = body.value.given("")?;
    may_touch(&app, &who, id.run).await?;
    detached(async move {
        let approval = app.engine.resume_at(who.tenant(), id, &who.actor(), &given).await?;
        Ok(Reply::ok(&ResumeAnswer { approval }))
    })
    .await
}
