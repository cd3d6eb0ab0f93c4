//! Explain: did we process this key, did we send, why not, who approved, which model version wrote it, what would make
//! it go. One reason code, in words.

use effectgate_core::{
    approval::ApprovalState,
    budget,
    delivery::UNDELIVERED,
    effect::{Attempt, Effect, EffectState},
    ids::{RunId, Tenant},
    journal::{EntryKind, SealedEntry},
    retry::KEY_POISONED,
    run::{Aggregate, RunState},
    sending::phase_word,
    switch::Switch,
    time::Timestamp,
};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::{
    engine::Engine,
    error::Result,
    inbound::{DeliveryStory, delivery_story},
    outbound,
    view::{self, DecisionView},
};

#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Explanation {
    #[schema(value_type = String)]
    pub run_id: RunId,
    pub flow: String,
    pub key: String,
    pub state: String,
    /// Whether a worker ever had it.
    pub processed: bool,
    /// `no`, `yes`, `partly` or `unknown`.
    pub sent: &'static str,
    pub reason: Reason,
    pub approved_by: Vec<DecisionView>,
    #[schema(value_type = Object)]
    pub model: Value,
    /// How it stands with the worker of the source that it came in at; null for a run that a worker reserved.
    pub delivery: Option<DeliveryStory>,
    pub effects: Vec<EffectStory>,
    pub timeline: Vec<Moment>,
}

/// One code, what it means, and what would make it go on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Reason {
    pub code: String,
    pub text: String,
    pub next: String,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct EffectStory {
    pub id: String,
    #[serde(rename = "type")]
    pub effect_type: String,
    pub target: String,
    pub provider: String,
    pub state: String,
    pub reason: Option<String>,
    pub external_id: Option<String>,
    pub provider_key: String,
    /// What to search for at the provider.
    pub handle: Option<String>,
    pub attempts: Vec<AttemptStory>,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct AttemptStory {
    pub n: usize,
    pub fence: i64,
    /// `sending` while it is under way or was lost.
    pub outcome: &'static str,
    pub class: Option<&'static str>,
    pub phase: Option<&'static str>,
    pub bytes_sent: Option<i64>,
    pub status: Option<u16>,
    pub detail: Option<String>,
    #[schema(value_type = String)]
    pub at: Timestamp,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Moment {
    #[schema(value_type = String)]
    pub at: Timestamp,
    pub kind: String,
    pub actor: String,
    pub text: String,
}

/// Entries of one timeline. A run is bounded in attempts, repairs and refusals; this is far beyond.
const TIMELINE_MAX: u32 = 1_000;

impl Engine {
    /// Tells the story of one run.
    ///
    /// # Errors
    /// Not found, the store.
    pub async fn explain(&self, tenant: &Tenant, id: RunId) -> Result<Explanation> {
        let agg = self.load(tenant, id).await?;
        let attempts = self.store().attempt_list(id).await?;
        let entries = self.store().journal_read(id, 0, TIMELINE_MAX).await?;
        let last = self.last_entries(&agg).await?;
        let switches = self.switches_in_force().await;
        let handle = |e: &Effect| self.policy().provider(&e.provider).map(|p| p.connector.handle(e));
        let effects: Vec<EffectStory> =
            agg.effects.iter().map(|e| effect_story(e, &attempts, handle(e), &agg, &switches)).collect();
        Ok(Explanation {
            run_id: id,
            flow: agg.run.flow.as_str().to_owned(),
            key: agg.run.key.clone(),
            state: agg.run.state.as_str().to_owned(),
            processed: agg.run.attempts > 0,
            sent: sent(&agg),
            reason: reason(&agg, &switches, &entries),
            approved_by: agg.approvals.iter().flat_map(|a| view::approval_view(a).decisions).collect(),
            model: model(&entries),
            delivery: delivery_story(&agg, last.as_ref().unwrap_or(&entries)),
            effects,
            timeline: entries.iter().map(|entry| moment(entry, &agg.effects)).collect(),
        })
    }
}

impl Engine {
    /// The end of a record that is longer than a timeline: a worker that is away for days is asked again and again.
    async fn last_entries(&self, agg: &Aggregate) -> Result<Option<Vec<SealedEntry>>> {
        let after = agg.run.head.seq - i64::from(TIMELINE_MAX);
        if agg.run.origin.inbound.is_none() || after <= 0 {
            return Ok(None);
        }
        Ok(Some(self.store().journal_read(agg.run.id, after, TIMELINE_MAX).await?))
    }
}

/// Whether anything happened outside, over all effects.
fn sent(agg: &Aggregate) -> &'static str {
    let unknown = agg.effects.iter().any(|e| e.state.is_unsettled() || e.unknown_since.is_some());
    let done = agg.effects.iter().filter(|e| e.state == EffectState::Completed).count();
    match (unknown, done) {
        (true, _) => "unknown",
        (false, 0) => "no",
        (false, n) if n == agg.effects.len() => "yes",
        _ => "partly",
    }
}

/// The one reason, the most telling first.
#[must_use]
pub fn reason(agg: &Aggregate, switches: &[Switch], entries: &[SealedEntry]) -> Reason {
    let because = |code: &str, text: String, next: &str| Reason { code: code.into(), text, next: next.into() };
    if let Some(effect) = agg.effects.iter().find(|e| matches!(e.state, EffectState::Review { .. })) {
        return in_review(effect);
    }
    if let Some(effect) = agg.effects.iter().find(|e| matches!(e.state, EffectState::Unknown { .. })) {
        let text = format!("an attempt at {} has no known outcome", effect.provider);
        return because("effect_unknown", text, "the reconciler looks again; else a person settles it");
    }
    match &agg.run.state {
        RunState::Queued => match &agg.run.origin.inbound {
            Some(source) => because(
                "queued",
                format!("it came in at the source {source}, and nobody works on it yet"),
                "it is brought to the source's worker, or a worker claims it",
            ),
            None => because("queued", "nobody works on it yet".into(), "a worker claims it"),
        },
        RunState::Processing => processing(agg),
        RunState::AwaitingHuman { .. } => awaiting(agg),
        RunState::Approved => approved(agg, switches, entries),
        RunState::Completed => because("completed", "everything that was decided has happened".into(), "nothing"),
        RunState::FailedRetryable { reason, next_attempt_at } if reason == UNDELIVERED => {
            let text = format!("the worker of its source did not take it; the next call at {next_attempt_at}");
            because(UNDELIVERED, text, "the worker can be reached again, or a worker claims it")
        }
        RunState::FailedRetryable { reason, next_attempt_at } => {
            let text = format!("the last attempt failed with {reason}; the next may begin at {next_attempt_at}");
            because("failed_retryable", text, "a worker claims it again")
        }
        RunState::FailedTerminal { reason } => {
            let text = format!("it ended: {}", reason_words(reason));
            because(reason, text, "a correction is a new event with its own key, linked to this one")
        }
        RunState::Quarantined { reason } => {
            because("quarantined", format!("held back: {reason}"), "an operator releases or closes it, with a reason")
        }
    }
}

fn in_review(effect: &Effect) -> Reason {
    let why = effect.reason.as_deref().unwrap_or_default();
    let doubt = format!("whether {} happened at {} is not known", name_of(effect), effect.provider);
    let (text, next) = match why {
        KEY_POISONED => (
            format!("{doubt}: the provider keeps an error under its key and only ever repeats it"),
            "a person looks at the provider; if it did not happen, it is cancelled and a correction made, with a key of its own",
        ),
        "key_window_over" => (
            format!("{doubt}, and the provider may have forgotten its key, so the same key protects no more"),
            "a person looks at the provider and settles it on the review desk",
        ),
        _ => (format!("{doubt} ({why})"), "a person looks at the provider and settles it on the review desk"),
    };
    Reason { code: "effect_in_review".into(), text, next: next.into() }
}

fn processing(agg: &Aggregate) -> Reason {
    let owner = agg.run.owner.as_ref().map(|o| o.as_str().to_owned()).unwrap_or_default();
    match agg.lease {
        Some(lease) if lease.is_live => Reason {
            code: "processing".into(),
            text: format!("{owner} works on it until {}", lease.expires_at),
            next: "its worker proposes, completes or fails".into(),
        },
        _ => Reason {
            code: "lease_over".into(),
            text: format!("{owner} had it and its lease is over"),
            next: "the next worker that reserves or claims it takes over".into(),
        },
    }
}

fn awaiting(agg: &Aggregate) -> Reason {
    let open = agg.approvals.iter().find(|a| a.state == ApprovalState::Open);
    match open {
        Some(approval) => {
            let (asked, until) = (approval.terms.audience.join(", "), approval.expires_at);
            let (have, quorum) = (approval.approvals().count(), approval.terms.quorum);
            let reach = if approval.terms.undeliverable { "; nobody could be told of it" } else { "" };
            let next = if approval.wants().by_non_editor {
                "one of them who edited nothing approves, or one of them rejects"
            } else {
                "one of them approves or rejects"
            };
            Reason {
                code: "awaiting_approval".into(),
                text: format!("{asked} decide until {until}; {have} of {quorum} have{reach}"),
                next: next.into(),
            }
        }
        None => Reason {
            code: "effect_in_review".into(),
            text: "an inline effect was begun and never settled".into(),
            next: "a person settles it on the review desk".into(),
        },
    }
}

fn approved(agg: &Aggregate, switches: &[Switch], entries: &[SealedEntry]) -> Reason {
    let open = agg.effects.iter().filter(|e| !e.state.is_final());
    for effect in open {
        let applies = effectgate_core::sending::applies(&agg.run, effect);
        if let Some(switch) = applies.stopped_by(switches).filter(|_| effect.state != EffectState::Sending) {
            return Reason {
                code: "switch_off".into(),
                text: format!("the switch {} {} is off: {}", switch.scope.as_str(), switch.name, switch.reason),
                next: "an owner of the switch turns it on".into(),
            };
        }
        if let EffectState::Scheduled { not_before } = effect.state {
            let text = format!("{} is held back until {not_before}", name_of(effect));
            return Reason { code: "scheduled".into(), text, next: "time passes, or somebody cancels it".into() };
        }
        if let Some(reason) = over_budget(effect, entries) {
            return reason;
        }
        if effect.attempts > 0 && matches!(effect.state, EffectState::Pending { .. }) {
            let why = effect.reason.clone().unwrap_or_default();
            let text = format!("{} of {} failed without effect ({why})", effect.attempts, name_of(effect));
            return Reason { code: "retrying".into(), text, next: "the dispatcher tries again".into() };
        }
    }
    Reason {
        code: "sending".into(),
        text: "the effects are in the outbox".into(),
        next: "the dispatcher sends them".into(),
    }
}

/// Why an effect waits for a budget: which one, and when it goes on.
fn over_budget(effect: &Effect, entries: &[SealedEntry]) -> Option<Reason> {
    let EffectState::Pending { due_at } = effect.state else { return None };
    let code = effect.reason.as_deref().filter(|r| matches!(*r, budget::USED_UP | budget::TOO_SMALL))?;
    let is_its = |facts: &Value| facts["effect"] == effect.id.to_string();
    let held = entries.iter().rev().filter(|e| e.kind == EntryKind::BudgetUsedUp.as_str());
    let facts = held.map(|e| entry_member(e, "facts")).find(is_its).unwrap_or_default();
    let budget = facts["budget"].as_str().unwrap_or("one of its providers or flows");
    let (text, next) = match code {
        budget::TOO_SMALL => (
            format!(
                "{} asks for more than the whole budget of {budget}, or its amount cannot be read",
                name_of(effect)
            ),
            "somebody raises the budget in the config, or cancels the effect",
        ),
        _ => (
            format!("the budget of {budget}, is used up; goes on at {due_at}"),
            "time passes, somebody raises the budget in the config, or cancels the effect",
        ),
    };
    Some(Reason { code: code.into(), text, next: next.into() })
}

/// A final reason, as it is told.
pub(crate) fn reason_words(reason: &str) -> &str {
    match reason {
        "rejected" => "a person rejected it",
        "undeliverable" => "no worker took it for as long as its source allows",
        "approval_expired" => "nobody decided in time",
        "approval_withdrawn" => "the question was taken back before anybody decided",
        "invalid_output" => "the model never produced a valid output",
        "agent_limit" => "the agent ran longer than the flow allows",
        "abandoned" => "its workers died or went silent as often as the flow allows",
        "attempts_exhausted" => "every attempt failed",
        "effect_failed" => "an effect failed for good",
        "cancelled" => "an effect was cancelled",
        "closed" => "an operator closed it",
        other => other,
    }
}

fn effect_story(
    effect: &Effect,
    attempts: &[Attempt],
    handle: Option<String>,
    agg: &Aggregate,
    switches: &[Switch],
) -> EffectStory {
    let view = view::effect_view(&agg.run, effect, switches);
    let own = attempts.iter().filter(|a| a.effect == effect.id).enumerate();
    EffectStory {
        id: effect.id.to_string(),
        effect_type: view.effect_type,
        target: view.target,
        provider: view.provider,
        state: view.state,
        reason: view.reason,
        external_id: view.external_id,
        provider_key: view.provider_key,
        handle,
        attempts: own.map(|(n, attempt)| attempt_story(n + 1, attempt, effect)).collect(),
    }
}

fn attempt_story(n: usize, attempt: &Attempt, effect: &Effect) -> AttemptStory {
    let (fence, at) = (attempt.fence.0, attempt.started_at);
    let Some(end) = &attempt.end else {
        let under_way = effect.state == EffectState::Sending && effect.fence == attempt.fence;
        let outcome = if under_way { "sending" } else { "unknown" };
        return AttemptStory {
            n,
            fence,
            outcome,
            class: None,
            phase: None,
            bytes_sent: None,
            status: None,
            detail: None,
            at,
        };
    };
    AttemptStory {
        n,
        fence,
        outcome: end.class.outcome().as_str(),
        class: Some(end.class.as_str()),
        phase: Some(phase_word(end.phase)),
        bytes_sent: Some(end.bytes_sent),
        status: end.status,
        detail: end.detail.clone(),
        at,
    }
}

fn entry_member(entry: &SealedEntry, name: &str) -> Value {
    serde_json::from_str::<Value>(&entry.text)
        .ok()
        .and_then(|mut v| v.get_mut(name).map(Value::take))
        .unwrap_or_default()
}

fn model(entries: &[SealedEntry]) -> Value {
    let proposed = entries.iter().rev().find(|e| e.kind == "proposed");
    proposed.map(|e| entry_member(e, "facts")).and_then(|mut f| f.get_mut("model").map(Value::take)).unwrap_or_default()
}

fn name_of(effect: &Effect) -> &str {
    outbound::named(effect.effect_type.as_str(), &effect.target)
}

/// One entry of a chain as it reads. `effects` are those of its run, as far as they are known: the journal keeps no
/// targets.
#[must_use]
pub fn moment(entry: &SealedEntry, effects: &[Effect]) -> Moment {
    let facts = entry_member(entry, "facts");
    let target = effects.iter().find(|e| facts["effect"] == e.id.to_string()).map_or("", |e| e.target.as_str());
    let actor = entry_member(entry, "actor").as_str().unwrap_or_default().to_owned();
    Moment { at: entry.at, kind: entry.kind.clone(), text: crate::words::of(&entry.kind, &facts, target), actor }
}
