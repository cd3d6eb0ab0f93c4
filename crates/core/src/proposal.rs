//! A proposal: what the model produced, with the effects it asks for. Here a valid one becomes a transition (to
//! awaiting_human or to approved), an invalid one a repair or the end. Validation itself is done by the rules crate
//! and the gate; their findings come in as arguments.

use serde::{Deserialize, Serialize};

use crate::{
    actor::{Actor, Subject},
    approval::{Approval, ApprovalState, Resume, Terms},
    digest::Digest,
    effect::{Effect, EffectState, Executor, decided_hash, provider_key},
    ending::EndRefused,
    facts,
    flow::{ApprovalPolicy, Flow},
    gate::Passage,
    ids::{ApprovalId, EffectId, EffectType, Fence, Owner, ProviderName},
    journal::EntryKind,
    lease::{self, Doubt},
    notice::{Alert, Notice, NoticeKind, Urgency},
    run::{Aggregate, AwaitReason, RunState},
    time::Timestamp,
    transition::{ContentWrite, Draft, LeaseGuard, Transition},
};

/// An effect that is asked for; nothing of it is in the outbox yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proposed {
    #[serde(rename = "type")]
    pub effect_type: EffectType,
    pub target: String,
    pub provider: ProviderName,
    /// The text that goes out, byte for byte.
    pub payload: String,
    /// The cancel window, in milliseconds; 0 without one.
    #[serde(default)]
    pub window_ms: i64,
    /// `high`, `normal` or `low`, for the card.
    pub impact: String,
    /// The gate's name, for the card.
    pub gate: String,
}

/// The model's part of the story, for the journal and the card. Words only, no output.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Model {
    #[serde(default)]
    pub provider_class: Option<String>,
    #[serde(default)]
    pub name: Option<String>,
    #[serde(default)]
    pub revision: Option<String>,
    #[serde(default)]
    pub prompt_revision: Option<String>,
}

/// A proposal that passed validation.
#[derive(Debug, Clone)]
pub struct Valid {
    pub effects: Vec<Proposed>,
    pub passage: Passage,
    pub model: Model,
    pub requested_by: Option<String>,
    pub content: ContentWrite,
    /// True if the JSON had to be taken out of surrounding text.
    pub extracted: bool,
    /// Where an execution waits for the approval, should there be one.
    pub resume: Option<Resume>,
}

/// The hash an approval is bound to: over every effect, in order.
#[must_use]
pub fn effects_hash(effects: &[Proposed]) -> Digest {
    let hashes: Vec<Digest> = effects.iter().map(|e| decided_hash(&e.effect_type, &e.target, &e.payload)).collect();
    let parts: Vec<&[u8]> = hashes.iter().map(|h| &h.as_bytes()[..]).collect();
    Digest::of_parts(&parts)
}

/// Puts an effect into the outbox, bound to its bytes. Called with a decision in hand, a person's or a rule's.
pub(crate) fn queue(draft: &mut Draft, proposed: &Proposed, actor: &Actor) {
    let now = draft.now();
    let mut effect = new_effect(draft, proposed, Executor::Dispatcher);
    effect.decided = Some(effect.bytes_hash());
    effect.state = match proposed.window_ms {
        0 => EffectState::Pending { due_at: now },
        window => EffectState::Scheduled { not_before: now.plus_ms(window) },
    };
    draft.entry(
        EntryKind::EffectQueued,
        actor,
        facts! {
            "effect" => effect.id, "type" => effect.effect_type.as_str(), "provider" => effect.provider.as_str(),
            "bytes_hash" => effect.decided, "not_before" => (proposed.window_ms > 0).then(|| now.plus_ms(proposed.window_ms)),
        },
    );
    draft.effect(None, effect, None);
}

/// A fresh row with the next number of its run.
pub(crate) fn new_effect(draft: &Draft, proposed: &Proposed, executor: Executor) -> Effect {
    let now = draft.now();
    let run = draft.run();
    Effect {
        id: EffectId { run: run.id, n: run.effects.total + 1 },
        effect_type: proposed.effect_type.clone(),
        target: proposed.target.clone(),
        provider: proposed.provider.clone(),
        executor,
        state: EffectState::Sending,
        reason: None,
        payload: proposed.payload.clone(),
        decided: None,
        provider_key: provider_key(run.id, &proposed.effect_type, &proposed.target),
        external_id: None,
        fence: Fence(0),
        attempts: 0,
        first_sent_at: None,
        unknown_since: None,
        charged: Vec::new(),
        created_at: now,
        updated_at: now,
    }
}

/// Accepts a valid proposal: to the outbox, or to the people.
///
/// # Errors
/// Inline effects are open: with the lease nobody could settle them any more.
pub fn accept(
    agg: &Aggregate,
    flow: &Flow,
    owner: &Owner,
    valid: Valid,
    now: Timestamp,
) -> Result<Transition, EndRefused> {
    if agg.effects.iter().any(Effect::is_open_inline) {
        return Err(EndRefused::EffectsOpen);
    }
    let mut draft = Draft::on(&agg.run, now);
    draft.require(LeaseGuard::Live { owner: owner.clone(), fence: agg.run.fence });
    draft.transition_mut().content = valid.content.clone();
    let worker = Actor::Worker(owner.clone());
    let hash = effects_hash(&valid.effects);
    draft.entry(
        EntryKind::Proposed,
        &worker,
        facts! {
            "effects" => valid.effects.len(), "effects_hash" => hash, "model" => valid.model,
            "requested_by" => valid.requested_by, "validation" => "valid", "extracted" => valid.extracted,
            "flow_revision" => flow.revision,
        },
    );
    match (&valid.passage, &flow.approval) {
        (Passage::Go { rules }, _) => go(&mut draft, &valid, rules, flow),
        (Passage::Person { why, qualifications }, Some(policy)) => {
            let terms = terms(policy, why, qualifications, agg, owner, &valid, now);
            ask(&mut draft, policy, terms, &valid, hash);
        }
        // The config refuses a flow whose gates want a person and names none; a flow changed since fails closed.
        (Passage::Person { .. }, None) => {
            draft.state(RunState::Quarantined { reason: "no_approver".into() });
            draft.entry(EntryKind::Quarantined, &Actor::System("policy"), facts! { "reason" => "no_approver" });
        }
    }
    Ok(draft.changed())
}

fn go(draft: &mut Draft, valid: &Valid, rules: &[String], flow: &Flow) {
    let policy = Actor::System("policy");
    draft.entry(EntryKind::AutoApproved, &policy, facts! { "rules" => rules, "flow_revision" => flow.revision });
    if valid.effects.is_empty() {
        draft.state(RunState::Completed);
        draft.entry(EntryKind::Completed, &policy, facts! { "effects" => 0 });
        return;
    }
    draft.state(RunState::Approved);
    for proposed in &valid.effects {
        queue(draft, proposed, &policy);
    }
}

fn terms(
    policy: &ApprovalPolicy,
    why: &[String],
    qualifications: &[String],
    agg: &Aggregate,
    owner: &Owner,
    valid: &Valid,
    now: Timestamp,
) -> Terms {
    let mut requesters = vec![Subject::named(&format!("worker:{owner}"))];
    // A person who works on a run under their own name owns it all the same.
    requesters.extend(Subject::meant(owner.as_str()));
    requesters.extend(valid.requested_by.as_deref().into_iter().flat_map(Subject::meant));
    requesters.extend(agg.run.origin.api_key.as_deref().map(|key| Subject::named(&format!("key:{key}"))));
    Terms {
        audience: policy.audience.clone(),
        quorum: policy.quorum,
        login: policy.login.into(),
        separation: policy.separation,
        qualifications: qualifications.to_vec(),
        why: why.to_vec(),
        requesters,
        remind_at: policy.remind_ms.map(|ms| now.plus_ms(ms)),
        escalate_at: policy.escalate.as_ref().map(|e| now.plus_ms(e.after_ms)),
        escalate_to: policy.escalate.iter().flat_map(|e| e.audience.clone()).collect(),
        caller_delivers: policy.link_in_answer,
        undeliverable: false,
        withdrawn: None,
        resumes: valid.resume.clone().into_iter().collect(),
    }
}

fn ask(draft: &mut Draft, policy: &ApprovalPolicy, terms: Terms, valid: &Valid, hash: Digest) {
    let now = draft.now();
    let n = i32::try_from(draft.run().head.seq).unwrap_or(i32::MAX);
    let id = ApprovalId { run: draft.run().id, n };
    let next_step_at = [terms.remind_at, terms.escalate_at].into_iter().flatten().min();
    draft.state(RunState::AwaitingHuman { reason: AwaitReason::Approval });
    draft.entry(
        EntryKind::ApprovalRequested,
        &Actor::System("policy"),
        facts! { "approval" => id, "audience" => terms.audience, "quorum" => terms.quorum, "why" => terms.why,
        "effects_hash" => hash, "execution" => terms.resumes.first().map(|resume| &resume.execution) },
    );
    if !policy.link_in_answer {
        let kind =
            NoticeKind::ApprovalRequest { approval: id, audience: terms.audience.clone(), urgency: Urgency::First };
        let seq = draft.run().head.seq;
        draft.notice(Notice::new(seq, 0, kind, id.to_string(), now));
    }
    let approval = Approval {
        id,
        state: ApprovalState::Open,
        effects_hash: hash,
        proposed: valid.effects.clone(),
        terms,
        decisions: Vec::new(),
        edits: Vec::new(),
        created_at: now,
        expires_at: now.plus_ms(policy.expires_ms),
        next_step_at,
        decided_at: None,
    };
    draft.transition_mut().approvals.push(approval);
}

/// What an invalid proposal comes to.
#[derive(Debug, Clone)]
pub struct Invalid {
    pub transition: Transition,
    pub repairs_left: i32,
}

/// Records an invalid proposal: the worker may repair it, or the run ends and people are told (or waits for a person
/// where an inline effect of it may have happened). `reason` is
/// `invalid_output` or, where asking again cannot help, `agent_limit`.
#[must_use]
pub fn reject(agg: &Aggregate, flow: &Flow, owner: &Owner, reason: &str, codes: &[String], now: Timestamp) -> Invalid {
    let worker = Actor::Worker(owner.clone());
    let guard = LeaseGuard::Live { owner: owner.clone(), fence: agg.run.fence };
    let repairs_left = flow.repairs_max - agg.run.repairs_used;
    let is_over = repairs_left <= 0 || reason != INVALID_OUTPUT;
    let review = || lease::inline_to_review(agg, now, Doubt::Anywhere, reason, &worker, guard.clone());
    if let Some(transition) = is_over.then(review).flatten() {
        return Invalid { transition, repairs_left: 0 };
    }
    let mut draft = Draft::on(&agg.run, now);
    draft.require(guard);
    draft.entry(EntryKind::ProposalInvalid, &worker, facts! { "findings" => codes, "reason" => reason });
    if is_over {
        end(&mut draft, reason);
        lease::drop_inline(&mut draft, agg, &worker);
    } else {
        draft.run_mut().repairs_used += 1;
    }
    let repairs_left = if is_over { 0 } else { repairs_left };
    Invalid { transition: draft.changed(), repairs_left }
}

/// The reason of a run whose model never produced a valid output.
pub const INVALID_OUTPUT: &str = "invalid_output";

fn end(draft: &mut Draft, reason: &str) {
    let now = draft.now();
    draft.state(RunState::FailedTerminal { reason: reason.to_owned() });
    draft.entry(EntryKind::Failed, &Actor::System("policy"), facts! { "reason" => reason });
    let kind = NoticeKind::Alert { alert: Alert::InvalidOutput, detail: reason.to_owned() };
    let (seq, run) = (draft.run().head.seq, draft.run().id);
    draft.notice(Notice::new(seq, 1, kind, format!("invalid_output:{run}"), now));
}
