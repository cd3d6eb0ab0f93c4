//! What a run as it stands means for an agent. Nothing is decided here and nothing is written: the same run gives the
//! same answer to the first call and to every repeat.

use effectgate_core::{
    budget,
    effect::{Effect, EffectState},
    ids::EffectType,
    run::{Aggregate, AwaitReason, RunState},
    sending,
    switch::Switch,
    time::Timestamp,
};

use super::ToolAnswer;
use crate::{explain, waits::Stand};

/// Reads the run of a call of `effect_type`.
pub(super) fn stand(
    agg: &Aggregate,
    effect_type: &EffectType,
    switches: &[Switch],
    now: Timestamp,
) -> Stand<ToolAnswer> {
    let effect = agg.effects.iter().find(|effect| effect.effect_type == *effect_type);
    match &agg.run.state {
        RunState::AwaitingHuman { reason: AwaitReason::Approval } => Stand::Settled(ToolAnswer::awaiting(agg)),
        RunState::AwaitingHuman { reason: AwaitReason::UnknownEffect } => {
            Stand::Settled(ToolAnswer::unknown(agg, effect, IN_REVIEW))
        }
        RunState::Approved => match effect {
            Some(effect) => sending(agg, effect, switches, now),
            None => Stand::Open { due: None, otherwise: ToolAnswer::unknown(agg, None, UNDER_WAY) },
        },
        // Between reserving and queueing, here or in a process that died; the next call takes it over.
        RunState::Queued | RunState::Processing | RunState::FailedRetryable { .. } => {
            Stand::Open { due: None, otherwise: ToolAnswer::unknown(agg, effect, UNDER_WAY) }
        }
        RunState::Quarantined { .. } => {
            Stand::Settled(ToolAnswer::refused(agg, effect, "it is held back for an operator to look at"))
        }
        RunState::Completed => Stand::Settled(ToolAnswer::done(agg, effect)),
        RunState::FailedTerminal { reason } => Stand::Settled(ToolAnswer::refused(agg, effect, ended(reason, effect))),
    }
}

/// Why it is over, told of the one effect.
fn ended<'a>(reason: &'a str, effect: Option<&Effect>) -> &'a str {
    match (reason, effect.and_then(|effect| effect.reason.as_deref())) {
        ("effect_failed", Some("attempts_exhausted")) => "every attempt failed before anything was done",
        ("effect_failed", _) => "the other side refused it",
        ("cancelled", _) => "a person cancelled it",
        (other, _) => explain::reason_words(other),
    }
}

const UNDER_WAY: &str = "It is under way, and whether it was done is not known yet.";
const IN_DOUBT: &str = "It may have been done, and that is not known yet: it is being looked into.";
const IN_REVIEW: &str = "It may have been done, and nobody knows: a person finds out.";

/// A run whose effect is decided and not final.
fn sending(agg: &Aggregate, effect: &Effect, switches: &[Switch], now: Timestamp) -> Stand<ToolAnswer> {
    let is_held = sending::applies(&agg.run, effect).stopped_by(switches).is_some();
    let due = effect.state.due_at();
    let open = |why: &str| Stand::Open { due, otherwise: ToolAnswer::accepted(agg, effect, why) };
    match effect.state {
        EffectState::Review { .. } => Stand::Settled(ToolAnswer::unknown(agg, Some(effect), IN_REVIEW)),
        EffectState::Sending => Stand::Open { due: None, otherwise: ToolAnswer::unknown(agg, Some(effect), UNDER_WAY) },
        _ if effect.is_in_doubt() => Stand::Open { due, otherwise: ToolAnswer::unknown(agg, Some(effect), IN_DOUBT) },
        EffectState::Pending { .. } | EffectState::Scheduled { .. } if is_held => {
            Stand::Settled(ToolAnswer::accepted(agg, effect, "actions are switched off at the moment"))
        }
        EffectState::Scheduled { not_before } => open(&format!("until {not_before} a person may cancel it")),
        EffectState::Pending { due_at } if budget::is_waiting(effect, now) => match effect.reason.as_deref() {
            Some(budget::TOO_SMALL) => Stand::Settled(ToolAnswer::accepted(
                agg,
                effect,
                "it asks for more than a budget allows, and a person decides on that",
            )),
            _ => open(&format!("a budget is used up, and it goes on at {due_at}")),
        },
        EffectState::Pending { due_at } if effect.attempts > 0 => {
            open(&format!("it did not get through, nothing was done, and it is tried again at {due_at}"))
        }
        _ => open("others are before it"),
    }
}
