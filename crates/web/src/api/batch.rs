//! POST /v1/runs/batch: many reservations in one request, each answered as if it had come alone.

use axum::extract::State;
use futures_util::future::join_all;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::{
    Reply, detached,
    reserve::{self, ReserveRequest},
};
use crate::{
    app::App,
    auth::{
        Identity,
        allowed::{Allowed, Work},
    },
    problem::{Code, Problem, Result},
    request::{Body, Wire, decode},
};

/// Enough for one poll of a mailbox or a queue; the body limit bounds the rest.
const RUNS_MAX: usize = 100;

/// Reservations, at most 100.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BatchRequest {
    #[schema(value_type = Vec<ReserveRequest>, max_items = 100)]
    runs: Vec<Box<RawValue>>,
}

impl Wire for BatchRequest {
    /// Each reservation is read by itself, so that a bad one fails alone.
    const STRICT_BY_PARTS: bool = true;
}

/// The answers, in the order of the reservations.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BatchAnswer {
    answers: Vec<BatchItem>,
}

/// What the reservation would have been answered alone.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BatchItem {
    status: u16,
    #[schema(value_type = Object)]
    body: Box<RawValue>,
}

/// Reserve many keys at once.
///
/// Reservations run side by side; each has its own status and body, in order. The request's status is 200 if it could be
/// read at all: look at each answer.
#[utoipa::path(post, path = "/v1/runs/batch", operation_id = "reserve_batch", tag = "runs", request_body = BatchRequest,
    responses((status = 200, description = "One answer each", body = BatchAnswer)))]
pub(crate) async fn batch(
    State(app): State<App>,
    Allowed { who, .. }: Allowed<Work>,
    body: Body<BatchRequest>,
) -> Result<Reply> {
    let runs = body.value.runs;
    if !(1..=RUNS_MAX).contains(&runs.len()) {
        return Err(Problem::new(Code::BadMember, format!("1 to {RUNS_MAX} reservations")).at("/runs"));
    }
    let answers = runs.into_iter().map(|run| {
        let (app, who) = (app.clone(), who.clone());
        detached(async move { Ok(item(app, who, &run).await) })
    });
    let answers: Result<Vec<BatchItem>> = join_all(answers).await.into_iter().collect();
    Ok(Reply::ok(&BatchAnswer { answers: answers? }))
}

async fn item(app: App, who: Identity, run: &RawValue) -> BatchItem {
    let public_url = app.settings.public_url.clone();
    let answered = match decode::<ReserveRequest>(run.get().as_bytes()) {
        Ok(asked) => reserve::one(app, who, asked, None).await,
        Err(problem) => Err(problem),
    };
    match answered {
        Ok(reply) => BatchItem { status: reply.status.as_u16(), body: reply.body },
        Err(problem) => BatchItem { status: problem.status().as_u16(), body: problem.body(&public_url) },
    }
}
