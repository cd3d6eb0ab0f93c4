//! POST /v1/runs/{id}/proposal: what the model produced. Validated, gated, queued or put before people.

use axum::extract::State;
use effectgate_core::{ids::RunId, proposal::Model};
use effectgate_engine::{
    Engine,
    propose::{Asked, Output, Proposal, Request},
    view::{ApprovalView, RunView},
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::{Reply, detached, lease_call, may_touch, resume::ResumeRequest};
use crate::{
    app::App,
    auth::allowed::{Allowed, Work},
    problem::{Code, Problem, Result},
    request::{Body, Id, Wire, raw, text},
};

/// A proposal: `output` or `output_text`, and the effects it asks for.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "owner": "worker-1", "fence": 1, "output": {"label": "question"}, "finish_reason": "stop",
    "effects": [{"type": "customer_mail", "target": "a@example.test",
                 "payload": {"to": "a@example.test", "subject": "Your ticket", "text": "…"}}],
    "model": {"provider_class": "local-openai", "name": "m", "revision": "1", "prompt_revision": "7"}
}))]
pub(crate) struct ProposalRequest {
    owner: String,
    fence: i64,
    #[serde(default, deserialize_with = "raw")]
    #[schema(value_type = Option<Object>)]
    output: Option<Box<RawValue>>,
    /// Model text from which the one JSON value is taken; a text with a choice is invalid.
    output_text: Option<String>,
    /// `length` and its like say that the answer was cut off, which makes it invalid.
    finish_reason: Option<String>,
    /// Left out: the flow maps the output to effects.
    effects: Option<Vec<EffectAsked>>,
    model: Option<ModelGiven>,
    agent_iterations: Option<i64>,
    /// Who asked for it (`user:…`, `mail:…`); cannot be the only one who approves.
    requested_by: Option<String>,
    source_url: Option<String>,
    /// For the card.
    summary: Option<String>,
    /// Where an execution waits for the decision, should people be asked.
    resume: Option<ResumeRequest>,
}

impl Wire for ProposalRequest {}

/// An effect that is asked for.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EffectAsked {
    #[serde(rename = "type")]
    pub(super) effect_type: String,
    pub(super) target: Option<String>,
    /// Goes out byte for byte as it came in.
    #[schema(value_type = Object)]
    pub(super) payload: Box<RawValue>,
}

/// The model's part of the story, for the journal.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ModelGiven {
    provider_class: Option<String>,
    name: Option<String>,
    revision: Option<String>,
    prompt_revision: Option<String>,
}

/// The answer to a valid proposal.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ProposalAnswer {
    /// `queued` (it goes by itself) or `waiting` (people decide).
    answer: &'static str,
    repeated: bool,
    run: RunView,
    #[serde(skip_serializing_if = "Option::is_none")]
    approval: Option<ApprovalView>,
}

/// Propose what the model produced.
///
/// An invalid one is the problem `invalid_output` with every finding and the repairs that are left.
#[utoipa::path(post, path = "/v1/runs/{id}/proposal", tag = "lease", request_body = ProposalRequest,
    params(("id" = String, Path, description = "The run")),
    responses((status = 200, description = "Queued, or waiting for people", body = ProposalAnswer)))]
pub(crate) async fn propose(
    State(app): State<App>,
    Allowed { who, .. }: Allowed<Work>,
    Id(run): Id<RunId>,
    body: Body<ProposalRequest>,
) -> Result<Reply> {
    let asked = body.value;
    let call = lease_call(&who, run, &asked.owner, asked.fence, "proposal", &body.bytes)?;
    let request = asked.into_request(&app.engine)?;
    may_touch(&app, &who, run).await?;
    detached(async move {
        let answered = app.engine.propose(&call, &request).await?;
        answer(answered.repeated, answered.answer)
    })
    .await
}

fn answer(repeated: bool, proposal: Proposal) -> Result<Reply> {
    let (answer, run, approval) = match proposal {
        Proposal::Queued { run } => ("queued", run, None),
        Proposal::Waiting { run, approval } => ("waiting", run, approval),
        Proposal::Invalid { findings, repairs_left, run } => {
            let said = match findings.first() {
                Some(first) if first.pointer.is_empty() => format!("the proposal is invalid: {}", first.message),
                Some(first) => format!("the proposal is invalid: {} {}", first.pointer, first.message),
                None => "the proposal is invalid".to_owned(),
            };
            return Err(Problem::new(Code::InvalidOutput, said)
                .with("errors", &findings)
                .with("repairs_left", &repairs_left)
                .with("repeated", &repeated)
                .with("run", &run));
        }
    };
    Ok(Reply::ok(&ProposalAnswer { answer, repeated, run, approval }))
}

/// Names and versions, and an address; the summary is cut by the engine.
const NAME_CHARS_MAX: usize = 200;
const URL_CHARS_MAX: usize = 2_000;

impl ProposalRequest {
    fn into_request(self, engine: &Engine) -> Result<Request> {
        let model = self.model.unwrap_or_default();
        let named = [
            (&self.finish_reason, NAME_CHARS_MAX, "/finish_reason"),
            (&self.requested_by, NAME_CHARS_MAX, "/requested_by"),
            (&self.source_url, URL_CHARS_MAX, "/source_url"),
            (&model.provider_class, NAME_CHARS_MAX, "/model/provider_class"),
            (&model.name, NAME_CHARS_MAX, "/model/name"),
            (&model.revision, NAME_CHARS_MAX, "/model/revision"),
            (&model.prompt_revision, NAME_CHARS_MAX, "/model/prompt_revision"),
        ];
        for (word, chars_max, pointer) in named {
            text(word.as_deref().unwrap_or_default(), chars_max, pointer)?;
        }
        let resume = self.resume.map(|resume| resume.given("/resume")).transpose()?;
        Ok(Request {
            output: output(self.output, self.output_text)?,
            finish_reason: self.finish_reason,
            effects: self.effects.map(|list| list.into_iter().map(asked).collect()),
            model: Model {
                provider_class: model.provider_class,
                name: model.name,
                revision: model.revision,
                prompt_revision: model.prompt_revision,
            },
            agent_iterations: self.agent_iterations,
            requested_by: self.requested_by,
            source_url: self.source_url,
            summary: self.summary,
            resume: resume.map(|given| engine.resume_place(&given, "/resume")).transpose()?,
        })
    }
}

/// A workflow tool sends `null` for a branch that produced nothing; beside a text it means nothing.
fn output(json: Option<Box<RawValue>>, text: Option<String>) -> Result<Output> {
    match (json.filter(|json| text.is_none() || json.get() != "null"), text) {
        (None, None) => Ok(Output::None),
        (Some(json), None) => Ok(Output::Json(Box::<str>::from(json).into_string())),
        (None, Some(text)) => Ok(Output::Text(text)),
        (Some(_), Some(_)) => {
            Err(Problem::new(Code::BadMember, "either output or output_text, not both").at("/output_text"))
        }
    }
}

fn asked(effect: EffectAsked) -> Asked {
    Asked {
        effect_type: effect.effect_type,
        target: effect.target,
        payload: Box::<str>::from(effect.payload).into_string(),
    }
}
