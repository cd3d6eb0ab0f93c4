//! What operators may do: cancel an effect that has not left, settle a review, release or close a quarantined run.
//! Each wants a reason, and each is journalled with the person.

use crate::{
    actor::{Actor, Person, SignIn},
    approval::{Approval, LoginRule, is_in_audience, member_key, member_keys_of},
    effect::{Effect, EffectState, Executor},
    ending::roll_up,
    facts,
    ids::EffectId,
    journal::EntryKind,
    lease::drop_inline,
    retry::KEY_POISONED,
    run::{Aggregate, AwaitReason, RunState},
    time::Timestamp,
    transition::{Draft, Transition},
};

/// Who asks, as the web room found out. It checks scopes; who else may is decided here, by the run.
#[derive(Debug, Clone)]
pub struct Asker {
    pub actor: Actor,
    /// The person, where it is one; an API key is none.
    pub person: Option<Person>,
    /// True if the caller holds the scope or role of an operator.
    pub is_operator: bool,
}

impl Asker {
    /// An operator, for callers that have seen to it.
    #[must_use]
    pub const fn operator(actor: Actor) -> Self {
        Self { actor, person: None, is_operator: true }
    }
}

/// Why an operator's command was not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused {
    /// Neither an operator nor one of those who may do this without being one.
    NotEntitled,
    ReasonRequired,
    /// From this state there is no such way.
    WrongState(&'static str),
    /// The provider keeps an error under this key: sending it again would only repeat that error.
    KeyPoisoned(EffectId),
}

/// A reason as it is kept: trimmed, and not longer than an entry bears.
///
/// # Errors
/// There is none.
pub fn reason_given(reason: &str) -> Result<String, Refused> {
    let reason = reason.trim();
    if reason.is_empty() {
        return Err(Refused::ReasonRequired);
    }
    Ok(reason.chars().take(crate::approval::REASON_CHARS_MAX).collect())
}

/// May this caller take an effect back? Operators, as long as it has not left; within its cancel window also whoever
/// was asked about the run, or would have been asked had no rule let it go (`audience`, the flow's). The only place that
/// knows.
///
/// # Errors
/// Not entitled, or a state from which nothing can be called back.
pub fn may_cancel(agg: &Aggregate, effect: &Effect, asker: &Asker, audience: &[String]) -> Result<(), Refused> {
    let in_window = matches!(effect.state, EffectState::Scheduled { .. });
    let has_not_left = in_window || matches!(effect.state, EffectState::Pending { .. });
    if !asker.is_operator && !asker.person.as_ref().is_some_and(|person| was_asked(agg, person, audience)) {
        return Err(Refused::NotEntitled);
    }
    // A pending effect that was tried before may have left, whatever the try is said to have come to.
    if effect.unknown_since.is_some() || !has_not_left || !(asker.is_operator || in_window) {
        return Err(Refused::WrongState(effect.state.as_str()));
    }
    Ok(())
}

/// By the same sign-in that a decision would have wanted; where nobody was asked, a link alone is none.
fn was_asked(agg: &Aggregate, person: &Person, audience: &[String]) -> bool {
    let by_login = person.sign_in == SignIn::Login;
    let was = |a: &Approval| is_in_audience(a, person) && (by_login || a.terms.login == LoginRule::Token);
    let keys = member_keys_of(person);
    agg.approvals.iter().any(was) || (by_login && audience.iter().any(|member| keys.contains(&member_key(member))))
}

/// Cancels an effect that is scheduled or pending. One that may have left already is not cancelled but settled.
///
/// # Errors
/// What [`may_cancel`] says, or no reason.
pub fn cancel(
    agg: &Aggregate,
    effect: &Effect,
    asker: &Asker,
    audience: &[String],
    reason: &str,
    now: Timestamp,
) -> Result<Transition, Refused> {
    may_cancel(agg, effect, asker, audience)?;
    let (reason, actor) = (reason_given(reason)?, &asker.actor);
    let mut draft = Draft::on(&agg.run, now);
    let mut after = effect.clone();
    after.state = EffectState::Cancelled;
    after.reason = Some("cancelled".into());
    after.updated_at = now;
    draft.entry(EntryKind::EffectCancelled, actor, facts! { "effect" => after.id, "reason" => reason });
    draft.effect(Some(effect), after, None);
    roll_up(&mut draft, actor);
    Ok(draft.changed())
}

/// A person's word on an unknown effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolution {
    Happened {
        external_id: Option<String>,
    },
    /// It did not: one more attempt with the same provider key, whose window goes on from the first send.
    SendAgain,
    /// It did not, and it shall not.
    Cancel,
}

impl Resolution {
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Happened { .. } => "happened",
            Self::SendAgain => "send_again",
            Self::Cancel => "cancel",
        }
    }
}

/// Settles an effect on the review desk (or still unknown).
///
/// # Errors
/// No reason, nothing to settle, or a key that would only repeat a stored error.
pub fn resolve(
    agg: &Aggregate,
    effect: &Effect,
    actor: &Actor,
    resolution: &Resolution,
    reason: &str,
    now: Timestamp,
) -> Result<Transition, Refused> {
    let reason = reason_given(reason)?;
    let in_doubt = matches!(effect.state, EffectState::Review { .. } | EffectState::Unknown { .. });
    if !in_doubt {
        return Err(Refused::WrongState(effect.state.as_str()));
    }
    may_send_again(effect, resolution)?;
    let mut draft = Draft::on(&agg.run, now);
    let after = resolved(effect, resolution, now);
    draft.entry(
        EntryKind::EffectResolved,
        actor,
        facts! { "effect" => after.id, "verdict" => resolution.as_str(), "external_id" => after.external_id,
        "reason" => reason, "next" => after.state.as_str() },
    );
    draft.effect(Some(effect), after.clone(), None);
    release_waiting_run(&mut draft, agg, &after);
    roll_up(&mut draft, actor);
    Ok(draft.changed())
}

/// The way on from a spent key is a correction: a new event with a key of its own.
fn may_send_again(effect: &Effect, resolution: &Resolution) -> Result<(), Refused> {
    match (resolution, effect.reason.as_deref()) {
        (Resolution::SendAgain, Some(KEY_POISONED)) => Err(Refused::KeyPoisoned(effect.id)),
        _ => Ok(()),
    }
}

fn resolved(effect: &Effect, resolution: &Resolution, now: Timestamp) -> Effect {
    let mut after = effect.clone();
    after.updated_at = now;
    // A person's word settles the doubt. It does not move the provider's key window: over there it began with the first
    // send, and a second one that gets lost must not be re-issued after the key was forgotten (HC-25).
    after.unknown_since = None;
    after.reason = None;
    match resolution {
        Resolution::Happened { external_id } => {
            after.state = EffectState::Completed;
            after.external_id.clone_from(external_id);
        }
        Resolution::SendAgain => {
            after.state = EffectState::Pending { due_at: now };
            after.reason = Some("send_again".into());
        }
        Resolution::Cancel => {
            after.state = EffectState::Cancelled;
            after.reason = Some("did_not_happen".into());
        }
    }
    after
}

/// A run that waited for an inline effect goes on once none is left on the desk: the next owner sees what is known. One
/// at an enforcing provider that is still unknown holds up nothing: the next owner re-issues it.
fn release_waiting_run(draft: &mut Draft, agg: &Aggregate, settled: &Effect) {
    let waits = agg.run.state == RunState::AwaitingHuman { reason: AwaitReason::UnknownEffect };
    let on_the_desk = |e: &Effect| e.executor == Executor::Inline && matches!(e.state, EffectState::Review { .. });
    let others = agg.effects.iter().filter(|e| e.id != settled.id).any(on_the_desk);
    if waits && settled.executor == Executor::Inline && !others {
        let now = draft.now();
        allow_one_more(draft);
        draft.state(RunState::FailedRetryable { reason: "effect_settled".into(), next_attempt_at: now });
    }
}

/// A person sent the run on: one more claim even where the attempts are used up, or it would be abandoned unseen.
pub(crate) fn allow_one_more(draft: &mut Draft) {
    let run = draft.run_mut();
    run.attempts_max = run.attempts_max.max(run.attempts + 1);
}

/// Puts a quarantined run back into the queue after a fix.
///
/// # Errors
/// No reason, or the run is not quarantined.
pub fn release(agg: &Aggregate, actor: &Actor, reason: &str, now: Timestamp) -> Result<Transition, Refused> {
    let reason = reason_given(reason)?;
    let mut draft = quarantined(agg, now)?;
    draft.state(RunState::Queued);
    allow_one_more(&mut draft);
    draft.entry(EntryKind::Released, actor, facts! { "reason" => reason });
    Ok(draft.changed())
}

/// Ends a quarantined run.
///
/// # Errors
/// No reason, or the run is not quarantined.
pub fn close(agg: &Aggregate, actor: &Actor, reason: &str, now: Timestamp) -> Result<Transition, Refused> {
    let reason = reason_given(reason)?;
    let mut draft = quarantined(agg, now)?;
    draft.state(RunState::FailedTerminal { reason: "closed".into() });
    draft.entry(EntryKind::Closed, actor, facts! { "reason" => reason });
    drop_inline(&mut draft, agg, actor);
    Ok(draft.changed())
}

fn quarantined(agg: &Aggregate, now: Timestamp) -> Result<Draft, Refused> {
    match agg.run.state {
        RunState::Quarantined { .. } => Ok(Draft::on(&agg.run, now)),
        _ => Err(Refused::WrongState(agg.run.state.as_str())),
    }
}
