//! Propose: validate what the model produced, ask the gate, queue or wait for people. Validation reads and never
//! mends: no coercion, no closing of what was cut off.

use effectgate_core::{
    approval::{ApprovalState, Resume},
    ids::Tenant,
    json::{self, Json},
    proposal::{self, INVALID_OUTPUT, Model, Proposed, Valid},
    run::{Aggregate, RunState},
    transition::ContentWrite,
};
use effectgate_rules::extract::{extract, is_cut};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::{
    call::{Answered, LeaseCall, Moved},
    check,
    engine::Engine,
    error::{EngineError, Result},
    gate,
    policy::{FlowPolicy, Policy},
    settle_run::refused,
    view::{self, ApprovalView, FindingView, Findings, RunView},
};

pub use crate::check::Asked;

/// A proposal as it came in.
#[derive(Debug, Clone, Default)]
pub struct Request {
    pub output: Output,
    pub finish_reason: Option<String>,
    /// `None`: the flow maps the output to effects.
    pub effects: Option<Vec<Asked>>,
    pub model: Model,
    pub agent_iterations: Option<i64>,
    pub requested_by: Option<String>,
    pub source_url: Option<String>,
    pub summary: Option<String>,
    /// Where an execution waits for the approval, should people be asked ([`Engine::resume_place`]).
    pub resume: Option<Resume>,
}

#[derive(Debug, Clone, Default)]
pub enum Output {
    #[default]
    None,
    /// The JSON text of `output`.
    Json(String),
    /// Model text from which the one JSON value is taken.
    Text(String),
}

/// The answer to a proposal. An invalid one is stored and repeated like a valid one.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(tag = "answer", rename_all = "snake_case")]
#[allow(clippy::large_enum_variant, reason = "there is one answer to a call, and it is not kept")]
pub enum Proposal {
    Queued { run: RunView },
    Waiting { run: RunView, approval: Option<ApprovalView> },
    Invalid { findings: Findings, repairs_left: i32, run: RunView },
}

/// Effects in one proposal: a run is one business event, not a batch.
pub const EFFECTS_MAX: usize = 32;
/// The text on the card, bounded like every text a worker hands in.
pub const SUMMARY_CHARS_MAX: usize = 4_000;

/// What validation found, or the proposal ready for core.
struct Read {
    output: Option<Json>,
    output_text: Option<String>,
    extracted: bool,
    findings: Findings,
    reason: &'static str,
}

impl Engine {
    /// Takes a proposal: validates, asks the gate, queues the effects or asks people.
    ///
    /// Guarantees: one transition for state, outbox, approval and journal; fenced by owner, fence and the live lease;
    /// idempotent for the same call.
    ///
    /// # Errors
    /// Lease lost, not found, the store. An invalid proposal is an answer.
    pub async fn propose(&self, call: &LeaseCall, request: &Request) -> Result<Answered<Proposal>> {
        let call = &self.trusted(call).await?;
        let content = self.store().run_content(&call.tenant, call.run).await?.unwrap_or_default();
        let mut answered = self
            .moved(call, |agg, now| {
                if !agg.holds_lease(&call.owner, call.fence) {
                    return Err(EngineError::LeaseLost { run: Box::new(view::run_view(agg, None, &[])) });
                }
                let flow = self.flow_of(agg)?;
                let mut read = read(flow, request);
                let effects = effects(self.policy(), flow, request, &read, content.payload.as_deref());
                let effects = effects.unwrap_or_else(|findings| {
                    read.findings.extend(findings);
                    Vec::new()
                });
                read.findings.extend(there_already(agg, &effects));
                if !read.findings.is_empty() {
                    return Ok(invalid(agg, flow, call, read, now));
                }
                let facts = gate::facts(agg, content.payload.as_deref(), read.output.as_ref(), request);
                let passage = gate::passage(flow, &effects, agg.run.key.as_str(), &facts, now);
                let valid = Valid {
                    effects,
                    passage,
                    model: request.model.clone(),
                    requested_by: request.requested_by.clone(),
                    content: ContentWrite {
                        output: read.output_text,
                        proposal: Some(card_facts(request, read.extracted)),
                        ..ContentWrite::default()
                    },
                    extracted: read.extracted,
                    resume: request.resume.clone(),
                };
                let transition = proposal::accept(agg, &flow.flow, &call.owner, valid, now);
                let transition = transition.map_err(|r| refused(r, agg))?;
                Ok(Moved::new(Box::new(transition), Box::new(accepted)))
            })
            .await?;
        if let Proposal::Waiting { approval: Some(approval), .. } = &mut answered.answer {
            self.add_link(&call.tenant, approval).await?;
        }
        Ok(answered)
    }

    /// The link, where the flow says that the caller delivers it. Minted for each answer, also a repeated one: it is
    /// never stored.
    async fn add_link(&self, tenant: &Tenant, approval: &mut ApprovalView) -> Result<()> {
        let agg = self.load(tenant, approval.run_id).await?;
        let policy = self.flow_of(&agg)?.flow.approval.as_ref();
        let is_open = agg.approval().is_some_and(|a| a.id == approval.id && a.state == ApprovalState::Open);
        if is_open && policy.is_some_and(|p| p.link_in_answer) {
            let audience = approval.audience.first().cloned().unwrap_or_default();
            approval.link = Some(self.mint_link(tenant, approval.id, &audience).await?);
        }
        Ok(())
    }
}

fn accepted(after: &Aggregate) -> Proposal {
    let run = view::run_view(after, None, &[]);
    match after.run.state {
        RunState::AwaitingHuman { .. } => Proposal::Waiting { approval: run.approval.clone(), run },
        _ => Proposal::Queued { run },
    }
}

fn invalid(
    agg: &Aggregate,
    flow: &FlowPolicy,
    call: &LeaseCall,
    read: Read,
    now: effectgate_core::time::Timestamp,
) -> Moved<Proposal> {
    metrics::counter!("effectgate_invalid_outputs_total", "flow" => flow.flow.name.as_str().to_owned()).increment(1);
    let codes: Vec<String> = read.findings.iter().map(|f| format!("{} {}", f.pointer, f.keyword)).collect();
    let invalid = proposal::reject(agg, &flow.flow, &call.owner, read.reason, &codes, now);
    let (findings, repairs_left) = (read.findings, invalid.repairs_left);
    Moved::new(
        Box::new(invalid.transition),
        Box::new(move |after| Proposal::Invalid { findings, repairs_left, run: view::run_view(after, None, &[]) }),
    )
}

/// Reads the output: the cap on iterations, a reported cut, extraction, strict JSON, the schema.
fn read(flow: &FlowPolicy, request: &Request) -> Read {
    let mut read =
        Read { output: None, output_text: None, extracted: false, findings: Vec::new(), reason: INVALID_OUTPUT };
    if let (Some(cap), Some(n)) = (flow.flow.agent_iterations_max, request.agent_iterations)
        && n > cap
    {
        read.reason = "agent_limit";
        read.findings.push(FindingView::new(
            "/agent_iterations",
            "maximum",
            format!("{n} iterations, the cap is {cap}"),
        ));
        return read;
    }
    if request.finish_reason.as_deref().is_some_and(is_cut) {
        let said = "the model reported that its answer was cut off";
        read.findings.push(FindingView::new("/finish_reason", "cut_off", said));
        return read;
    }
    take_output(&request.output, &mut read);
    match (&flow.output_schema, &read.output) {
        (Some(schema), Some(output)) if read.findings.is_empty() => {
            let found = schema.validate(&output.to_value());
            read.findings.extend(found.into_iter().map(|f| FindingView::new(f.pointer, &f.keyword, f.message)));
        }
        (Some(_), None) if read.findings.is_empty() => {
            read.findings.push(FindingView::new("", "required", "this flow wants an output"));
        }
        _ => {}
    }
    read
}

fn take_output(output: &Output, read: &mut Read) {
    match output {
        Output::None => {}
        Output::Json(text) => match json::parse(text.as_bytes()) {
            Ok(json) => (read.output, read.output_text) = (Some(json), Some(text.clone())),
            Err(e) => read.findings.push(FindingView::new(e.pointer, e.code.as_str(), e.detail)),
        },
        Output::Text(text) => match extract(text) {
            Ok(found) => {
                (read.output, read.output_text) = (Some(found.json), Some(found.text));
                read.extracted = found.extracted;
            }
            Err(e) => read.findings.push(FindingView::new("", e.code(), e.to_string())),
        },
    }
}

/// The effects of a proposal, checked one by one: those it names, or those the flow maps from the output.
fn effects(
    policy: &Policy,
    flow: &FlowPolicy,
    request: &Request,
    read: &Read,
    payload: Option<&str>,
) -> Result<Vec<Proposed>, Findings> {
    let asked = match (&request.effects, &read.output) {
        (Some(asked), _) => asked.clone(),
        (None, Some(output)) => mapped(flow, output),
        (None, None) => Vec::new(),
    };
    if asked.len() > EFFECTS_MAX {
        let said = format!("{} effects, the limit is {EFFECTS_MAX}", asked.len());
        return Err(vec![FindingView::new("/effects", "maxItems", said)]);
    }
    let (mut proposed, mut findings): (Vec<Proposed>, Findings) = (Vec::new(), Vec::new());
    for (n, one) in asked.iter().enumerate() {
        match check::one_effect(policy, flow, one, payload, &format!("/effects/{n}")) {
            Ok(effect) => {
                if proposed.iter().any(|p| p.effect_type == effect.effect_type && p.target == effect.target) {
                    let said = "this type and target is in the list already: one effect per type and target";
                    findings.push(FindingView::new(format!("/effects/{n}"), "uniqueItems", said));
                }
                proposed.push(effect);
            }
            Err(found) => findings.extend(found),
        }
    }
    if findings.is_empty() { Ok(proposed) } else { Err(findings) }
}

/// One effect per type and target in a run: what its worker performed inline is not queued again.
fn there_already(agg: &Aggregate, effects: &[Proposed]) -> Findings {
    let is_there = |p: &Proposed| agg.effects.iter().any(|e| e.effect_type == p.effect_type && e.target == p.target);
    let there = effects.iter().enumerate().filter(|(_, p)| is_there(p));
    let said = "this run has an effect of this type and target already";
    there.map(|(n, _)| FindingView::new(format!("/effects/{n}"), "uniqueItems", said)).collect()
}

/// Effects that the flow takes out of the output.
fn mapped(flow: &FlowPolicy, output: &Json) -> Vec<Asked> {
    let wanted = flow.effects.iter().filter_map(|(effect_type, rules)| {
        let payload = output.pointer(rules.payload_from.as_deref()?)?;
        Some(Asked { effect_type: effect_type.as_str().into(), target: None, payload: payload.to_text() })
    });
    wanted.collect()
}

/// What the card shows besides the effects; lies with the content, not in the journal.
fn card_facts(request: &Request, extracted: bool) -> String {
    #[derive(Serialize)]
    struct Card<'a> {
        summary: Option<String>,
        source_url: Option<&'a str>,
        requested_by: Option<&'a str>,
        finish_reason: Option<&'a str>,
        model: &'a Model,
        agent_iterations: Option<i64>,
        extracted: bool,
    }
    let card = Card {
        summary: request.summary.as_ref().map(|s| s.chars().take(SUMMARY_CHARS_MAX).collect()),
        source_url: request.source_url.as_deref(),
        requested_by: request.requested_by.as_deref(),
        finish_reason: request.finish_reason.as_deref(),
        model: &request.model,
        agent_iterations: request.agent_iterations,
        extracted,
    };
    serde_json::to_string(&card).expect("strings and numbers always serialise")
}

/// For the gate's facts: JSON as the rules library reads it.
pub(crate) fn value_of(text: Option<&str>) -> Value {
    text.and_then(|t| json::parse(t.as_bytes()).ok()).map_or(Value::Null, |json| json.to_value())
}
