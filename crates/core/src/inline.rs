//! Inline effects: the worker calls the provider itself between `begin` and `settle`. The marker is written before the
//! effect, so a worker that dies leaves a trace of what may have happened.

use crate::{
    actor::Actor,
    digest::Digest,
    effect::{Attempt, AttemptEnd, Effect, EffectState, Executor},
    ending::EndRefused,
    facts,
    gate::Passage,
    ids::{Fence, Owner},
    journal::EntryKind,
    lease::alert,
    notice::Alert,
    outcome::Phase,
    proposal::{Proposed, new_effect},
    retry::{Class, Outcome},
    run::Aggregate,
    sending::applies,
    time::Timestamp,
    transition::{Draft, LeaseGuard, Transition},
};

/// What `begin` comes to.
#[derive(Debug, Clone)]
pub enum Begin {
    /// The worker may call the provider once this is committed.
    Begun(Box<Transition>),
    /// Begun before, by this owner or an earlier one: what is known, nothing changed.
    Known(Box<Effect>),
    /// The same type and target with other bytes: never two effects for one intention.
    Differs(Box<Effect>),
    /// The gate does not let it go by itself now; only a proposal can ask people or wait out a window (G5).
    Gated { why: Vec<String> },
}

/// Begins an inline effect that the gate lets go by itself; the rule is the decision its bytes are bound to. The write
/// names the switches that apply (G11). An effect that provably did not happen (not_sent) may be begun again, with the same
/// provider key; an enforcing provider's unsettled one is re-issued by the next owner with the same key.
///
/// # Errors
/// The lease is lost.
pub fn begin(
    agg: &Aggregate,
    owner: &Owner,
    fence: Fence,
    wanted: &Proposed,
    passage: &Passage,
    may_reissue: bool,
    now: Timestamp,
) -> Result<Begin, EndRefused> {
    if !agg.holds_lease(owner, fence) {
        return Err(EndRefused::LeaseLost);
    }
    let begun = |before| match passage {
        Passage::Person { why, .. } => Begin::Gated { why: why.clone() },
        Passage::Go { .. } if wanted.window_ms > 0 => Begin::Gated { why: vec!["it has a cancel window".into()] },
        Passage::Go { rules } => Begin::Begun(Box::new(write(agg, owner, fence, before, wanted, rules, now))),
    };
    let existing = agg.effects.iter().find(|e| e.effect_type == wanted.effect_type && e.target == wanted.target);
    let Some(before) = existing else {
        return Ok(begun(None));
    };
    if before.payload != wanted.payload {
        return Ok(Begin::Differs(Box::new(before.clone())));
    }
    let again = match before.state {
        EffectState::Pending { .. } => !before.is_in_doubt() || may_reissue,
        EffectState::Sending => before.fence != fence && may_reissue,
        _ => false,
    };
    if again {
        return Ok(begun(Some(before)));
    }
    Ok(Begin::Known(Box::new(before.clone())))
}

fn write(
    agg: &Aggregate,
    owner: &Owner,
    fence: Fence,
    before: Option<&Effect>,
    wanted: &Proposed,
    rules: &[String],
    now: Timestamp,
) -> Transition {
    let mut draft = Draft::on(&agg.run, now);
    draft.require(LeaseGuard::Live { owner: owner.clone(), fence });
    let revision = agg.run.flow_revision.clone();
    draft.entry(
        EntryKind::AutoApproved,
        &Actor::System("policy"),
        facts! { "rules" => rules, "flow_revision" => revision },
    );
    let mut effect = before.cloned().unwrap_or_else(|| new_effect(&draft, wanted, Executor::Inline));
    if before.is_some_and(|b| b.state == EffectState::Sending) {
        // The owner before may have called; what this call comes to says nothing about that one.
        effect.unknown_since.get_or_insert(now);
    }
    effect.state = EffectState::Sending;
    effect.reason = None;
    effect.fence = fence;
    effect.attempts += 1;
    effect.updated_at = now;
    effect.decided = Some(effect.bytes_hash());
    effect.first_sent_at.get_or_insert(now);
    let execution: Option<Digest> = agg.run.origin.execution.as_ref().map(|e| Digest::of(e.to_string().as_bytes()));
    draft.entry(
        EntryKind::EffectBegun,
        &Actor::Worker(owner.clone()),
        facts! { "effect" => effect.id, "type" => effect.effect_type.as_str(), "provider" => effect.provider.as_str(),
        "provider_key" => effect.provider_key, "fence" => fence, "execution_hash" => execution },
    );
    draft.transition_mut().switch = Some(applies(&agg.run, &effect));
    let attempt = Attempt { effect: effect.id, fence, started_at: now, end: None };
    draft.transition_mut().attempts.push(attempt);
    draft.effect(before, effect, None);
    draft.changed()
}

/// What a worker reports of its own call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reported {
    pub outcome: Outcome,
    pub external_id: Option<String>,
    pub message: Option<String>,
}

/// What `settle` comes to.
#[derive(Debug, Clone)]
pub enum Settle {
    Settled(Box<Transition>),
    /// Said before: final and the report agrees (or knows nothing), or the very report this stands by.
    Agrees,
    /// Final before, and the report says otherwise: recorded and told, nothing changed (G12). `None` once enough of
    /// them are on record.
    Contrary(Option<Box<Transition>>),
    /// This effect is not in the hands of this worker.
    NotBegun,
}

/// Settles an inline effect by the worker's report.
///
/// # Errors
/// The lease is lost.
pub fn settle(
    agg: &Aggregate,
    effect: &Effect,
    owner: &Owner,
    fence: Fence,
    reported: &Reported,
    now: Timestamp,
) -> Result<Settle, EndRefused> {
    if effect.state.is_final() {
        return Ok(after_the_end(agg, effect, owner, reported, now));
    }
    if was_said(effect, fence, reported) {
        return Ok(Settle::Agrees);
    }
    if !agg.holds_lease(owner, fence) {
        return Err(EndRefused::LeaseLost);
    }
    if effect.executor != Executor::Inline || effect.state != EffectState::Sending || effect.fence != fence {
        return Ok(Settle::NotBegun);
    }
    let mut draft = Draft::on(&agg.run, now);
    draft.require(LeaseGuard::Live { owner: owner.clone(), fence });
    let mut after = effect.clone();
    after.updated_at = now;
    (after.state, after.reason) = match reported.outcome {
        Outcome::Applied => (EffectState::Completed, None),
        Outcome::Refused => (EffectState::Failed, Some("refused".into())),
        Outcome::NotSent => (EffectState::Pending { due_at: now }, Some("not_sent".into())),
        Outcome::Unknown => (EffectState::Unknown { look_at: now }, Some("unknown".into())),
    };
    after.external_id.clone_from(&reported.external_id);
    after.unknown_since = match reported.outcome {
        Outcome::Applied | Outcome::Refused => None,
        Outcome::NotSent => after.unknown_since,
        Outcome::Unknown => Some(now),
    };
    draft.entry(
        EntryKind::AttemptEnded,
        &Actor::Worker(owner.clone()),
        facts! { "effect" => after.id, "fence" => fence, "outcome" => reported.outcome.as_str(),
        "external_id" => after.external_id, "next" => after.state.as_str() },
    );
    let end = reported_end(reported, now);
    draft.transition_mut().attempts.push(Attempt {
        effect: effect.id,
        fence,
        started_at: effect.updated_at,
        end: Some(end),
    });
    draft.effect(Some(effect), after, None);
    Ok(Settle::Settled(Box::new(draft.changed())))
}

/// The same report again, whose answer was lost on the way. The row says what was said: a stored answer would outlive a
/// new attempt within the same lease, and would be taken for its end.
fn was_said(effect: &Effect, fence: Fence, reported: &Reported) -> bool {
    let stands_by = match effect.state {
        EffectState::Pending { .. } => {
            reported.outcome == Outcome::NotSent && effect.reason.as_deref() == Some("not_sent")
        }
        EffectState::Unknown { .. } | EffectState::Review { .. } => reported.outcome == Outcome::Unknown,
        _ => false,
    };
    effect.executor == Executor::Inline && effect.fence == fence && stands_by
}

/// What the worker saw is its own business; how far it got and how many bytes left is not known here.
fn reported_end(reported: &Reported, now: Timestamp) -> AttemptEnd {
    let (class, phase) = match reported.outcome {
        Outcome::Applied => (Class::Applied, Phase::Answered),
        Outcome::Refused => (Class::Refused, Phase::Answered),
        Outcome::NotSent => (Class::NotSent, Phase::Prepared),
        Outcome::Unknown => (Class::Unknown, Phase::Request),
    };
    let detail = Some("reported by the worker".to_owned());
    AttemptEnd { at: now, class, phase, bytes_sent: 0, status: None, detail, handle: None }
}

fn after_the_end(agg: &Aggregate, effect: &Effect, owner: &Owner, reported: &Reported, now: Timestamp) -> Settle {
    let agrees = match effect.state {
        EffectState::Completed => reported.outcome == Outcome::Applied,
        EffectState::Failed => reported.outcome == Outcome::Refused,
        _ => reported.outcome == Outcome::NotSent,
    };
    // "I do not know" contradicts nothing.
    if agrees || reported.outcome == Outcome::Unknown {
        return Settle::Agrees;
    }
    let mut draft = Draft::on(&agg.run, now);
    if crate::lease::count_refusal(&mut draft).is_none() {
        return Settle::Contrary(None);
    }
    draft.entry(
        EntryKind::LateReport,
        &Actor::Worker(owner.clone()),
        facts! { "effect" => effect.id, "state" => effect.state.as_str(), "outcome" => reported.outcome.as_str(),
        "external_id" => reported.external_id },
    );
    let detail =
        format!("effect {} is {}, a report says {}", effect.id, effect.state.as_str(), reported.outcome.as_str());
    alert(&mut draft, Alert::ContraryReport, detail);
    Settle::Contrary(Some(Box::new(draft.noted())))
}
