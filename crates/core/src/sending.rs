//! The dispatcher's moves: claim an effect (the attempt is written before the first byte), settle it by what the
//! connector saw, find it left behind, reconcile what is unknown. All are compare-and-set on the run's journal and the
//! effect's fence.

use crate::{
    actor::Actor,
    budget::{self, Charge, Charged},
    effect::{Attempt, AttemptEnd, Effect, EffectState, Executor},
    ending::roll_up,
    facts,
    journal::EntryKind,
    lease::alert,
    notice::Alert,
    outcome::{Phase, Report},
    provider::Provider,
    retry::{self, Class, Classified, Look, Settlement, Verdict},
    run::Run,
    switch::Applies,
    time::Timestamp,
    transition::{Draft, SendingGuard, Transition},
};

const DISPATCHER: Actor = Actor::System("dispatcher");
const SWEEPER: Actor = Actor::System("sweeper");
pub(crate) const RECONCILER: Actor = Actor::System("reconciler");

/// What a due effect comes to.
#[derive(Debug, Clone)]
pub enum Due {
    /// Commit this, then send. Its switch condition is part of the commit.
    Send(Transition),
    /// Commit this and do not send: it turned out not to be sendable.
    Divert(Transition),
    /// Nothing to do.
    Leave,
}

/// Claims a due effect: fence and attempt rise, the attempt is on record without an end.
#[must_use]
pub fn claim(run: &Run, effect: &Effect, provider: &Provider, now: Timestamp) -> Due {
    claim_within(run, effect, provider, &Charging::default(), now)
}

/// What an attempt is charged, beside what is said of it in the record.
#[derive(Debug, Clone, Default)]
pub struct Charging {
    pub charges: Vec<Charge>,
    pub charged: Vec<Charged>,
    /// The budgets in words.
    pub words: Vec<String>,
}

/// Claims a due effect, charging it in the same transaction. One that waits for a budget is due as soon as there is
/// room, which the charges' limits judge.
#[must_use]
pub fn claim_within(run: &Run, effect: &Effect, provider: &Provider, charging: &Charging, now: Timestamp) -> Due {
    // An inline effect is its worker's to perform.
    if effect.executor == Executor::Inline {
        return Due::Leave;
    }
    let due = match effect.state {
        EffectState::Pending { due_at } => due_at,
        EffectState::Scheduled { not_before } => not_before,
        _ => return Due::Leave,
    };
    if due > now && !budget::is_waiting(effect, now) {
        return Due::Leave;
    }
    if !effect.is_decided() {
        return Due::Divert(to_review(run, effect, "bytes_changed", now));
    }
    // A re-issue is safe only inside the key window, and time may have passed while the switch was off (HC-25).
    if effect.unknown_since.is_some() && !retry::key_holds(effect, provider, now) {
        return Due::Divert(back_to_unknown(run, effect, now));
    }
    Due::Send(attempt(run, effect, provider, charging, now))
}

fn attempt(run: &Run, before: &Effect, provider: &Provider, charging: &Charging, now: Timestamp) -> Transition {
    let mut draft = Draft::on(run, now);
    let mut after = before.clone();
    after.state = EffectState::Sending;
    after.reason = None;
    after.fence = before.fence.next();
    after.attempts += 1;
    after.updated_at = now;
    // Set before the first byte can leave: a crash from here on must find the window already running.
    after.first_sent_at.get_or_insert(now);
    draft.entry(
        EntryKind::AttemptStarted,
        &DISPATCHER,
        facts! { "effect" => after.id, "fence" => after.fence, "attempt" => after.attempts,
        "provider" => after.provider.as_str(), "provider_key" => after.provider_key, "bytes_hash" => after.decided,
        "budgets" => (!charging.words.is_empty()).then_some(&charging.words) },
    );
    if !charging.charges.is_empty() {
        draft.transition_mut().charges.clone_from(&charging.charges);
        after.charged.clone_from(&charging.charged);
    }
    draft.transition_mut().attempts.push(Attempt { effect: after.id, fence: after.fence, started_at: now, end: None });
    draft.transition_mut().switch = Some(applies(run, before));
    draft.effect(Some(before), after, Some(provider.attempt_ms_max + provider.sending_margin_ms));
    draft.changed()
}

/// The switch scopes of an effect.
#[must_use]
pub fn applies(run: &Run, effect: &Effect) -> Applies {
    Applies {
        tenant: run.tenant.clone(),
        flow: run.flow.clone(),
        provider: effect.provider.clone(),
        effect_type: effect.effect_type.clone(),
    }
}

fn to_review(run: &Run, before: &Effect, reason: &'static str, now: Timestamp) -> Transition {
    let mut draft = Draft::on(run, now);
    put_to_review(&mut draft, before, reason, &DISPATCHER);
    draft.changed()
}

fn put_to_review(draft: &mut Draft, before: &Effect, reason: &str, actor: &Actor) {
    let now = draft.now();
    let mut after = before.clone();
    after.state = EffectState::Review { since: now };
    after.reason = Some(reason.to_owned());
    after.updated_at = now;
    draft.entry(EntryKind::Looked, actor, facts! { "effect" => after.id, "next" => "review", "reason" => reason });
    alert(draft, Alert::Review, format!("effect {} waits for a person: {reason}", after.id));
    draft.effect(Some(before), after, None);
}

fn back_to_unknown(run: &Run, before: &Effect, now: Timestamp) -> Transition {
    let mut draft = Draft::on(run, now);
    let mut after = before.clone();
    after.state = EffectState::Unknown { look_at: now };
    after.reason = Some("key_window_over".into());
    after.updated_at = now;
    draft.entry(
        EntryKind::Looked,
        &DISPATCHER,
        facts! { "effect" => after.id, "next" => "unknown", "reason" => "key_window_over" },
    );
    draft.effect(Some(before), after, None);
    draft.changed()
}

/// Settles an attempt by what the connector saw. `effect` is the effect as claimed, in sending.
#[must_use]
#[expect(clippy::too_many_arguments, reason = "every argument is a different type and a different question")]
pub fn settle(
    run: &Run,
    effect: &Effect,
    provider: &Provider,
    started_at: Timestamp,
    report: &Report,
    found: &Classified,
    now: Timestamp,
    jitter: f64,
) -> Transition {
    let verdict = retry::verdict(found, effect, provider, now, jitter);
    let mut draft = Draft::on(run, now);
    draft.transition_mut().sending_guard = SendingGuard::Live { effect: effect.id, fence: effect.fence };
    let mut after = effect.clone();
    after.updated_at = now;
    apply(&mut after, &verdict, found, now);
    let end = end_of(report, found, now);
    draft.entry(
        EntryKind::AttemptEnded,
        &DISPATCHER,
        facts! {
            "effect" => after.id, "fence" => after.fence, "class" => found.class.as_str(),
            "outcome" => found.class.outcome().as_str(), "phase" => end.phase, "bytes_sent" => end.bytes_sent,
            "status" => end.status, "detail" => end.detail, "external_id" => after.external_id,
            "next" => after.state.as_str(), "reason" => after.reason,
        },
    );
    tell(&mut draft, &after, &verdict, found.class);
    let attempt = Attempt { effect: effect.id, fence: effect.fence, started_at, end: Some(end) };
    draft.transition_mut().attempts.push(attempt);
    draft.effect(Some(effect), after, None);
    roll_up(&mut draft, &DISPATCHER);
    draft.changed()
}

fn end_of(report: &Report, found: &Classified, now: Timestamp) -> AttemptEnd {
    AttemptEnd {
        at: now,
        class: found.class,
        phase: report.phase,
        bytes_sent: i64::try_from(report.bytes_sent).unwrap_or(i64::MAX),
        status: report.answer.as_ref().map(|a| a.status),
        detail: found.detail.clone(),
        handle: report.handle.clone(),
    }
}

fn apply(after: &mut Effect, verdict: &Verdict, found: &Classified, now: Timestamp) {
    if found.class.outcome() == retry::Outcome::NotSent && after.unknown_since.is_none() && after.attempts <= 1 {
        // Provably nothing has left yet, so the provider's key window has not begun.
        after.first_sent_at = None;
    }
    match verdict {
        Verdict::Complete => {
            after.state = EffectState::Completed;
            after.external_id.clone_from(&found.external_id);
            after.unknown_since = None;
        }
        Verdict::Retry { at } => {
            after.state = EffectState::Pending { due_at: *at };
            after.reason = Some(found.class.as_str().into());
        }
        Verdict::HoldBack => {
            after.state = EffectState::Pending { due_at: now };
            after.reason = Some(found.detail.clone().unwrap_or_else(|| "switch_off".into()));
            after.attempts -= 1;
        }
        Verdict::Fail { reason } => {
            after.state = EffectState::Failed;
            after.reason = Some((*reason).into());
        }
        Verdict::Unknown { look_at } => {
            after.state = EffectState::Unknown { look_at: *look_at };
            after.reason = Some(found.class.as_str().into());
            // The provider's index may lag behind this attempt: the settle delay begins with the last one that may
            // have arrived, not with the first (HC-26).
            if after.unknown_since.is_none() || found.class.outcome() == retry::Outcome::Unknown {
                after.unknown_since = Some(now);
            }
        }
        Verdict::Review { reason } => {
            after.state = EffectState::Review { since: now };
            after.reason = Some((*reason).into());
        }
    }
}

fn tell(draft: &mut Draft, after: &Effect, verdict: &Verdict, class: Class) {
    if class == Class::Unauthorized {
        alert(draft, Alert::CircuitOpen, format!("{} refused our credentials", after.provider));
    }
    match verdict {
        Verdict::Review { reason } => alert(draft, Alert::Review, format!("effect {}: {reason}", after.id)),
        Verdict::Fail { reason: "attempts_exhausted" } => {
            alert(draft, Alert::Exhausted, format!("effect {}: attempts used up", after.id));
        }
        _ => {}
    }
}

/// A started attempt whose lease is over and that has no end: unknown, never pending.
#[must_use]
pub fn expire(run: &Run, effect: &Effect, now: Timestamp) -> Option<Transition> {
    // The marker of an inline effect lives as long as its run's lease.
    if effect.state != EffectState::Sending || effect.executor == Executor::Inline {
        return None;
    }
    let mut draft = Draft::on(run, now);
    draft.transition_mut().sending_guard = SendingGuard::Over { effect: effect.id, fence: effect.fence };
    let mut after = effect.clone();
    after.state = EffectState::Unknown { look_at: now };
    after.reason = Some("attempt_lost".into());
    after.unknown_since = Some(now);
    after.updated_at = now;
    draft.entry(
        EntryKind::AttemptLost,
        &SWEEPER,
        facts! { "effect" => after.id, "fence" => after.fence, "outcome" => "unknown" },
    );
    draft.effect(Some(effect), after, None);
    Some(draft.changed())
}

/// A report that comes after its attempt was given up: recorded and told, nothing changed (G12). `None` once the run
/// has recorded enough of them.
#[must_use]
pub fn late_report(run: &Run, effect: &Effect, found: &Classified, now: Timestamp) -> Option<Transition> {
    let mut draft = Draft::on(run, now);
    crate::lease::count_refusal(&mut draft)?;
    draft.entry(
        EntryKind::LateReport,
        &DISPATCHER,
        facts! { "effect" => effect.id, "fence" => effect.fence, "outcome" => found.class.outcome().as_str(),
        "external_id" => found.external_id },
    );
    alert(
        &mut draft,
        Alert::ContraryReport,
        format!("effect {}: a late report says {}", effect.id, found.class.as_str()),
    );
    Some(draft.noted())
}

/// Writes what the reconciler found for an unknown effect. `None` for [`Settlement::AskFirst`], and for an effect that
/// is not unknown any more: a late finding takes nothing back (G12, HC-27).
#[must_use]
pub fn reconciled(
    run: &Run,
    before: &Effect,
    settlement: &Settlement,
    look: Option<&Look>,
    now: Timestamp,
) -> Option<Transition> {
    if !matches!(before.state, EffectState::Unknown { .. }) {
        return None;
    }
    let mut draft = Draft::on(run, now);
    let mut after = before.clone();
    after.updated_at = now;
    let reason = match settlement {
        Settlement::AskFirst => return None,
        Settlement::Complete { external_id } => {
            after.state = EffectState::Completed;
            after.external_id.clone_from(external_id);
            after.unknown_since = None;
            "found"
        }
        Settlement::LookAgain { at } => {
            after.state = EffectState::Unknown { look_at: *at };
            "look_again"
        }
        Settlement::Reissue => {
            after.state = EffectState::Pending { due_at: now };
            "reissue"
        }
        Settlement::SendAfterProof => {
            after.state = EffectState::Pending { due_at: now };
            after.unknown_since = None;
            after.first_sent_at = None;
            "absent"
        }
        Settlement::Review { reason } => {
            after.state = EffectState::Review { since: now };
            reason
        }
    };
    after.reason = (!after.state.is_final()).then(|| reason.to_owned());
    let mut facts = facts! { "effect" => after.id, "next" => after.state.as_str(), "reason" => reason,
    "external_id" => after.external_id };
    if let Some(look) = look {
        crate::look::said(&mut facts, look);
    }
    draft.entry(EntryKind::Looked, &RECONCILER, facts);
    if matches!(settlement, Settlement::Review { .. }) {
        alert(&mut draft, Alert::Review, format!("effect {} waits for a person: {reason}", after.id));
    }
    draft.effect(Some(before), after, None);
    roll_up(&mut draft, &RECONCILER);
    Some(draft.changed())
}

/// The phase in words, for explain.
#[must_use]
pub const fn phase_word(phase: Phase) -> &'static str {
    match phase {
        Phase::Prepared => "prepared",
        Phase::Resolve => "resolve",
        Phase::Connect => "connect",
        Phase::Handshake => "handshake",
        Phase::Envelope => "envelope",
        Phase::Request => "request",
        Phase::Answered => "answered",
    }
}
