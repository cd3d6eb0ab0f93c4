//! POST /v1/runs: reserve the key of one business event. Journey (a) begins here.

use axum::extract::State;
use effectgate_core::{ids::FlowName, payload::PayloadHash, run::Origin};
use effectgate_engine::{
    reserve::{PayloadGiven, Request, Reserved},
    view::{LeaseView, RunView},
};
use http::{HeaderMap, StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::{
    Reply,
    key_given::{PartsGiven, header_key, key_given},
    may_name,
};
use crate::{
    app::App,
    auth::{
        Identity,
        allowed::{Allowed, Work},
    },
    problem::{Code, Problem, Result},
    request::{Body, Given, LeaseMs, Wire, Words, given, raw, text},
};

/// A reservation. `key` or `key_parts` (or the header `Idempotency-Key`), `payload` or `payload_hash`.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "flow": "ticket-reply", "key": "ticket.reply:zendesk:comment_987:1",
    "payload": {"customer": {"email": "a@example.test"}}, "owner": "6c0f2d0e-6f0b-4f43-9d0f-0d6a3f0a9c11",
    "lease_ms": 300_000, "trigger": {"source": "zendesk", "delivery_id": "d-77"}
}))]
pub(crate) struct ReserveRequest {
    flow: String,
    /// 1 to 255 Unicode characters that name one event.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<String>)]
    key: Option<Given>,
    key_parts: Option<PartsGiven>,
    /// Any JSON; kept and sent on as the text that came in.
    #[serde(default, deserialize_with = "raw")]
    #[schema(value_type = Option<Object>)]
    payload: Option<Box<RawValue>>,
    /// `v1:sha256:` and 64 hex digits, instead of the payload.
    payload_hash: Option<String>,
    /// Who works on it; one is made if it is left out.
    owner: Option<String>,
    /// Left out: the flow's default.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<i64>)]
    lease_ms: Option<LeaseMs>,
    correlation_id: Option<String>,
    trigger: Option<Words>,
    execution: Option<Words>,
    source_url: Option<String>,
}

impl Wire for ReserveRequest {
    /// The payload is read strictly by the engine, everything else has a type that leaves nothing free.
    const STRICT_BY_PARTS: bool = true;
}

/// The answer to a reservation or a claim.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ReserveAnswer)]
pub(crate) struct ReserveAnswer {
    /// `granted`, `busy` or `replay`.
    answer: &'static str,
    /// With `granted`: the same owner had asked before.
    #[serde(skip_serializing_if = "Option::is_none")]
    repeated: Option<bool>,
    run: RunView,
    /// With `granted`.
    #[serde(skip_serializing_if = "Option::is_none")]
    lease: Option<LeaseView>,
    /// With `busy`.
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after_ms: Option<i64>,
    /// With a claim: the payload as it came, which the worker did not bring.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    payload: Option<Box<RawValue>>,
}

/// Reserve the key of one business event.
///
/// Exactly one of: `granted` (201), `busy` (202 with `Retry-After`), `replay` (200 with `Idempotent-Replayed: true`),
/// the problem `payload_conflict` (422), or a refusal (400). Safe to repeat: the same owner gets the same grant.
#[utoipa::path(post, path = "/v1/runs", tag = "runs", request_body = ReserveRequest,
    params(("Idempotency-Key" = Option<String>, Header, description = "The key, instead of the member `key`")),
    responses(
        (status = 201, description = "Granted: the caller owns it now", body = ReserveAnswer),
        (status = 202, description = "Busy: another owner's lease lives", body = ReserveAnswer),
        (status = 200, description = "Replay: it does not start again; the state is the answer", body = ReserveAnswer)))]
pub(crate) async fn reserve(
    State(app): State<App>,
    Allowed { who, .. }: Allowed<Work>,
    headers: HeaderMap,
    body: Body<ReserveRequest>,
) -> Result<Reply> {
    let header_key = header_key(&headers)?;
    one(app, who, body.value, header_key).await
}

/// One reservation, by itself or in a batch.
pub(crate) async fn one(app: App, who: Identity, asked: ReserveRequest, header: Option<String>) -> Result<Reply> {
    may_name(&who, &asked.flow)?;
    let request = asked.into_request(header)?;
    // Not in a task of its own: each step of it is one write that the store's writer owns once it is queued, so a caller
    // that hangs up loses its answer and nothing else. A task more for each reservation is a tenth of its cost.
    let reserved = app.engine.reserve(&who.caller(), request).await;
    reserved.map_err(at_flow).and_then(answer)
}

/// Says where the flow was named.
pub(crate) fn at_flow(error: effectgate_engine::EngineError) -> Problem {
    let problem = Problem::from(error);
    if problem.code() == Code::UnknownFlow { problem.at("/flow") } else { problem }
}

/// Says what a reservation came to.
pub(crate) fn answer(reserved: Reserved) -> Result<Reply> {
    answer_with(reserved, None)
}

/// The same of a claim, with the payload.
pub(crate) fn answer_with(reserved: Reserved, payload: Option<Box<RawValue>>) -> Result<Reply> {
    let bare = |answer, run: Box<RunView>| ReserveAnswer {
        answer,
        repeated: None,
        run: *run,
        lease: None,
        retry_after_ms: None,
        payload: None,
    };
    match reserved {
        Reserved::Granted { repeated, run, lease } => {
            let granted =
                ReserveAnswer { repeated: Some(repeated), lease: Some(lease), payload, ..bare("granted", run) };
            Ok(Reply::new(StatusCode::CREATED, &granted))
        }
        Reserved::Busy { run, retry_after_ms } => {
            let busy = ReserveAnswer { retry_after_ms: Some(retry_after_ms), ..bare("busy", run) };
            Ok(Reply::new(StatusCode::ACCEPTED, &busy).retry_after_ms(retry_after_ms))
        }
        Reserved::Replay { run } => Ok(Reply::ok(&bare("replay", run)).replayed()),
        Reserved::Conflict { run, stored, came, differs } => {
            let said = "this key stands for another payload; nothing was merged, and it is on record";
            Err(Problem::new(Code::PayloadConflict, said)
                .at("/payload")
                .with("stored_hash", &stored)
                .with("request_hash", &came)
                .with("differs", &differs)
                .with("run", &run))
        }
    }
}

/// A correlation id is an id, and an address is an address.
const ID_CHARS_MAX: usize = 200;
const URL_CHARS_MAX: usize = 2_000;

impl ReserveRequest {
    fn into_request(self, header: Option<String>) -> Result<Request> {
        let key = key_given(self.key, self.key_parts, header)?;
        if let Some(id) = &self.correlation_id {
            text(id, ID_CHARS_MAX, "/correlation_id")?;
        }
        if let Some(url) = &self.source_url {
            text(url, URL_CHARS_MAX, "/source_url")?;
        }
        Ok(Request {
            flow: FlowName::new(self.flow),
            key,
            payload: payload_given(self.payload, self.payload_hash)?,
            owner: self.owner,
            lease_ms: LeaseMs::read(self.lease_ms)?,
            origin: Origin {
                correlation_id: self.correlation_id,
                trigger: Words::read(self.trigger, "/trigger")?,
                execution: Words::read(self.execution, "/execution")?,
                source_url: self.source_url,
                ..Origin::default()
            },
        })
    }
}

fn payload_given(payload: Option<Box<RawValue>>, hash: Option<String>) -> Result<PayloadGiven> {
    match (payload, hash) {
        (Some(payload), None) => Ok(PayloadGiven::Text(Box::<str>::from(payload).into_string())),
        (None, Some(hash)) => {
            let bad = |e: effectgate_core::payload::PayloadHashError| Problem::new(Code::BadMember, e.to_string());
            PayloadHash::parse(&hash).map(PayloadGiven::Hash).map_err(|e| bad(e).at("/payload_hash"))
        }
        (Some(_), Some(_)) => {
            Err(Problem::new(Code::BadMember, "either payload or payload_hash, not both").at("/payload_hash"))
        }
        (None, None) => Err(Problem::new(Code::MissingMember, "payload or payload_hash is wanted").at("/payload")),
    }
}
