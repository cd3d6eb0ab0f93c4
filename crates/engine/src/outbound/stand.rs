//! What a run as it stands means for whoever asks at the door. Nothing is decided here and nothing is written: the same
//! run gives the same answer to the first request and to every repeat.

use effectgate_core::{
    budget,
    effect::{Effect, EffectState},
    journal::SealedEntry,
    run::{Aggregate, AwaitReason, RunState},
    sending,
    switch::Switch,
    time::Timestamp,
};
use effectgate_store::Content;

use super::{Kept, OUT_TYPE};
use crate::{
    explain,
    view::{self, RunView},
    waits::Stand,
};

/// What the door answers.
#[derive(Debug, Clone)]
pub enum OutAnswer {
    /// The provider's own answer. `replayed`: it was given for an earlier request.
    Kept { kept: Kept, replayed: bool, run: Box<RunView> },
    /// A person decides first.
    AwaitingApproval { run: Box<RunView> },
    /// Held back by its cancel window; sent then, unless somebody cancels.
    Scheduled { run: Box<RunView>, not_before: Timestamp, wait_ms: i64 },
    /// Under way, or waiting for its next attempt.
    InFlight { run: Box<RunView>, retry_after_ms: i64 },
    /// It may have happened; never sent again by itself unless the provider stops a second execution.
    Unknown { run: Box<RunView> },
    /// Kept and not sent; it goes when the switch is on.
    SwitchOff { run: Box<RunView> },
    /// Kept and not sent: a budget has no room. It goes by itself at `until`; `None` where waiting does not help, because
    /// it asks for more than the whole budget. `why` names the budget.
    BudgetUsedUp { run: Box<RunView>, why: String, until: Option<Timestamp>, wait_ms: i64 },
    /// Not sent, and it never will be: rejected, cancelled, expired, or every attempt failed before a byte left.
    NotSent { run: Box<RunView>, why: String },
    /// It is done, or was refused, and there is no answer to give: settled by a lookup or a person, too long to keep
    /// (`status` says what it was), or a redirect, which is never handed on.
    NoAnswer { run: Box<RunView>, status: Option<u16> },
    /// It is over, and its content was erased.
    Erased { run: Box<RunView> },
    /// The key stands for another request.
    Conflict { run: Box<RunView>, stored: String, came: String, differs: Vec<String> },
}

/// A second: long enough for an attempt to end, short for a workflow that waits.
const RETRY_AFTER_MS: i64 = 1_000;

/// Reads a run. `content` is only looked at where the run is final, `entries` where a budget is waited for.
pub(super) fn stand(
    agg: &Aggregate,
    content: Option<&Content>,
    entries: &[SealedEntry],
    switches: &[Switch],
    now: Timestamp,
) -> Stand<OutAnswer> {
    let run = || Box::new(view::run_view(agg, None, switches));
    let effect = agg.effects.iter().find(|effect| effect.effect_type.as_str() == OUT_TYPE);
    match &agg.run.state {
        RunState::AwaitingHuman { reason: AwaitReason::Approval } => {
            Stand::Settled(OutAnswer::AwaitingApproval { run: run() })
        }
        RunState::AwaitingHuman { reason: AwaitReason::UnknownEffect } => {
            Stand::Settled(OutAnswer::Unknown { run: run() })
        }
        RunState::Approved => match effect {
            Some(effect) => sending(agg, effect, entries, switches, now),
            None => Stand::Settled(OutAnswer::NoAnswer { run: run(), status: None }),
        },
        // Between reserving and queueing, here or in a process that died; the next request takes it over.
        RunState::Queued | RunState::Processing | RunState::FailedRetryable { .. } => {
            Stand::Open { due: None, otherwise: OutAnswer::InFlight { run: run(), retry_after_ms: RETRY_AFTER_MS } }
        }
        RunState::Quarantined { .. } => Stand::Settled(not_sent(agg, switches)),
        RunState::Completed | RunState::FailedTerminal { .. } => Stand::Settled(over(agg, effect, content, switches)),
    }
}

/// A run whose effect is decided and not final.
fn sending(
    agg: &Aggregate,
    effect: &Effect,
    entries: &[SealedEntry],
    switches: &[Switch],
    now: Timestamp,
) -> Stand<OutAnswer> {
    let run = Box::new(view::run_view(agg, None, switches));
    let is_held = sending::applies(&agg.run, effect).stopped_by(switches).is_some();
    let due = effect.state.due_at();
    let wait_ms = due.map_or(0, |due| due.ms_since(now));
    match effect.state {
        EffectState::Review { .. } => Stand::Settled(OutAnswer::Unknown { run }),
        _ if effect.is_in_doubt() && effect.state != EffectState::Sending => {
            Stand::Open { due, otherwise: OutAnswer::Unknown { run } }
        }
        EffectState::Pending { .. } | EffectState::Scheduled { .. } if is_held => {
            Stand::Settled(OutAnswer::SwitchOff { run })
        }
        EffectState::Scheduled { not_before } => {
            Stand::Open { due, otherwise: OutAnswer::Scheduled { run, not_before, wait_ms } }
        }
        EffectState::Pending { due_at } if budget::is_waiting(effect, now) => {
            let why = explain::reason(agg, switches, entries).text;
            let until = (effect.reason.as_deref() == Some(budget::USED_UP)).then_some(due_at);
            Stand::Open { due, otherwise: OutAnswer::BudgetUsedUp { run, why, until, wait_ms } }
        }
        _ => Stand::Open { due, otherwise: OutAnswer::InFlight { run, retry_after_ms: wait_ms.max(RETRY_AFTER_MS) } },
    }
}

/// A run that is over.
fn over(agg: &Aggregate, effect: Option<&Effect>, content: Option<&Content>, switches: &[Switch]) -> OutAnswer {
    let run = || Box::new(view::run_view(agg, None, switches));
    let kept = content.and_then(|content| content.result.as_deref()).and_then(Kept::parse);
    // Every request that passed the door is kept whole, so a run without its payload is one whose content was erased.
    let is_erased = content.is_none_or(|content| content.payload.is_none());
    match kept {
        // Whoever follows a redirect repeats the request at an address that nobody decided on.
        Some(kept) if kept.cut || (300..400).contains(&kept.status) => {
            OutAnswer::NoAnswer { run: run(), status: Some(kept.status) }
        }
        Some(kept) => OutAnswer::Kept { kept, replayed: true, run: run() },
        None if !was_answered(agg, effect) => not_sent(agg, switches),
        None if is_erased => OutAnswer::Erased { run: run() },
        None => OutAnswer::NoAnswer { run: run(), status: None },
    }
}

/// True where the provider did it or said no; false where it never got it.
fn was_answered(agg: &Aggregate, effect: Option<&Effect>) -> bool {
    let is_refused = |e: &Effect| e.state == EffectState::Failed && e.reason.as_deref() != Some("attempts_exhausted");
    agg.run.state == RunState::Completed || effect.is_some_and(is_refused)
}

fn not_sent(agg: &Aggregate, switches: &[Switch]) -> OutAnswer {
    let why = explain::reason(agg, switches, &[]).text;
    OutAnswer::NotSent { run: Box::new(view::run_view(agg, None, switches)), why }
}
