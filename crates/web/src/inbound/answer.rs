//! What the door answers. A sender learns that it may stop, and the id by which its operator can ask; nothing of what is
//! kept here.

use effectgate_core::ids::RunId;
use effectgate_engine::inbound::Accepted;
use http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;

use crate::api::Reply;

/// What became of a delivery.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"answer": "accepted", "run_id": "run_0123456789abcdefghjkmnpqrstvwxyz", "state": "queued"}))]
pub(crate) struct InAnswer {
    /// `accepted`, `duplicate`, `conflict` or `quarantined`.
    answer: &'static str,
    #[schema(value_type = String)]
    run_id: RunId,
    /// Where the run stands now.
    state: String,
    /// With `quarantined`: `not_json`, `no_key`, `no_identity` or `schema`.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

pub(super) fn reply(accepted: Accepted) -> Reply {
    let answer = accepted.as_str();
    let (run_id, state, reason) = match accepted {
        Accepted::Queued { run } => (run, "queued".to_owned(), None),
        Accepted::Quarantined { run, fault } => (run, "quarantined".to_owned(), Some(fault.as_str())),
        Accepted::Duplicate { run, state } | Accepted::Conflict { run, state } => (run, state, None),
    };
    let status = if answer == "accepted" { StatusCode::ACCEPTED } else { StatusCode::OK };
    Reply::new(status, &InAnswer { answer, run_id, state, reason })
}
