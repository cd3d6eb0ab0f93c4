//! POST /v1/runs/{id}/correct: a new event with its own key from upstream, linked to a run that has ended.

use axum::extract::State;
use effectgate_core::ids::{FlowName, RunId};
use effectgate_engine::{
    correct::{CorrectRequest, Corrected, CorrectionView},
    view::RunView,
};
use http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::{
    Reply, detached,
    key_given::{PartsGiven, key_given},
    may_name, may_touch,
    operate::reason,
    reserve::at_flow,
};
use crate::{
    app::App,
    auth::allowed::{Allowed, Operate, Read},
    problem::{Code, Problem, Result},
    request::{Body, Given, Id, Wire, Words, given, raw},
};

/// A correction. `key` or `key_parts`: its own, from upstream.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "key": "ticket.reply:zendesk:comment_1024:1", "payload": {"customer": {"email": "a@example.test"}},
    "reason": "the first answer named the wrong order", "trigger": {"source": "zendesk", "delivery_id": "d-91"}
}))]
pub(crate) struct CorrectGiven {
    /// Left out: the original's.
    flow: Option<String>,
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<String>)]
    key: Option<Given>,
    key_parts: Option<PartsGiven>,
    /// Any JSON; kept and sent on as the text that came in.
    #[serde(default, deserialize_with = "raw")]
    #[schema(value_type = Object)]
    payload: Option<Box<RawValue>>,
    #[serde(default)]
    reason: String,
    trigger: Option<Words>,
}

impl Wire for CorrectGiven {
    /// The payload is read strictly by the engine, everything else has a type that leaves nothing free.
    const STRICT_BY_PARTS: bool = true;
}

/// The answer to a correction.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CorrectAnswer {
    /// `queued`, or `replay` where the same correction was asked for before.
    answer: &'static str,
    /// The new run, with `corrects` and `original`.
    run: RunView,
}

/// Correct a run that has ended.
///
/// Makes a new run with a key of its own, linked to this one in both records. It waits for a worker, which is shown what
/// the original had done, and goes through its own gate. A key made from the original's is refused (`correction_key`).
#[utoipa::path(post, path = "/v1/runs/{id}/correct", operation_id = "correct_run", tag = "runs", request_body = CorrectGiven,
    params(("id" = String, Path, description = "The run to correct")),
    responses(
        (status = 201, description = "Queued", body = CorrectAnswer),
        (status = 200, description = "Replay: asked for before; the state is the answer", body = CorrectAnswer)))]
pub(crate) async fn correct(
    State(app): State<App>,
    Allowed { who, .. }: Allowed<Operate>,
    Id(run): Id<RunId>,
    body: Body<CorrectGiven>,
) -> Result<Reply> {
    may_touch(&app, &who, run).await?;
    if let Some(flow) = &body.value.flow {
        may_name(&who, flow)?;
    }
    let request = body.value.into_request()?;
    detached(async move {
        let corrected = app.engine.correct(who.tenant(), &who.actor(), run, request).await;
        answer(corrected.map_err(at_flow)?)
    })
    .await
}

fn answer(corrected: Corrected) -> Result<Reply> {
    match corrected {
        Corrected::Queued { run } => {
            Ok(Reply::new(StatusCode::CREATED, &CorrectAnswer { answer: "queued", run: *run }))
        }
        Corrected::Repeated { run } => Ok(Reply::ok(&CorrectAnswer { answer: "replay", run: *run }).replayed()),
        Corrected::Conflict { run, stored, came } => {
            let said = "this key stands for a correction with another payload; nothing was merged, and it is on record";
            Err(Problem::new(Code::PayloadConflict, said)
                .at("/payload")
                .with("stored_hash", &stored)
                .with("request_hash", &came)
                .with("run", &run))
        }
    }
}

impl CorrectGiven {
    fn into_request(self) -> Result<CorrectRequest> {
        let missing = || Problem::new(Code::MissingMember, "payload is wanted").at("/payload");
        Ok(CorrectRequest {
            flow: self.flow.map(FlowName::new),
            key: key_given(self.key, self.key_parts, None)?,
            payload: Box::<str>::from(self.payload.ok_or_else(missing)?).into_string(),
            reason: reason(self.reason)?,
            trigger: Words::read(self.trigger, "/trigger")?,
        })
    }
}

/// The runs that correct one.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CorrectionList {
    corrections: Vec<CorrectionView>,
}

/// List the runs that correct this one.
#[utoipa::path(get, path = "/v1/runs/{id}/corrections", operation_id = "list_corrections", tag = "runs",
    params(("id" = String, Path, description = "The run")),
    responses((status = 200, description = "Its corrections, a hundred at most", body = CorrectionList)))]
pub(crate) async fn list(
    State(app): State<App>,
    Allowed { who, .. }: Allowed<Read>,
    Id(run): Id<RunId>,
) -> Result<Reply> {
    let original = app.engine.run(who.tenant(), run).await?;
    if !who.may_touch(&original.flow) {
        return Err(Problem::new(Code::NotFound, "there is no run of this id"));
    }
    let all = app.engine.corrections(who.tenant(), run).await?;
    let corrections = all.into_iter().filter(|correction| who.may_touch(&correction.flow)).collect();
    Ok(Reply::ok(&CorrectionList { corrections }))
}
