//! From a projection to core's rows, and back.

use effectgate_core::{
    approval::{Approval, ApprovalState},
    effect::{Effect, EffectState},
    ids::{Fence, Owner},
    proposal,
    run::{Aggregate, AwaitReason, Lease, RunState},
    transition::{LeaseGuard, LeaseWrite, SendingGuard, Transition},
};

use super::{
    now,
    words::{ApprovalWord, Eff, Guard, Key, Run, Sent, Step},
};
use crate::given::{self, HOUR_MS, at};

pub(super) fn owner(worker: u8) -> Owner {
    Owner::new(format!("worker-{worker}"))
}

/// The rows that a projection stands for.
pub(super) fn lift(key: Key) -> Aggregate {
    let effects: Vec<Effect> = effect(key).into_iter().collect();
    let mut agg = given::agg(run_state(key), effects);
    agg.run.owner = Some(owner(key.owner));
    agg.run.fence = Fence(key.fence.into());
    (agg.run.attempts, agg.run.attempts_max) = (key.attempts.into(), 2);
    let left_ms = if key.lease_lives { 60_000 } else { -1 };
    let lease = Lease { since: at(0), expires_at: now().plus_ms(left_ms), is_live: key.lease_lives, left_ms };
    agg.lease = (key.run == Run::Processing).then_some(lease);
    agg.approvals = key.approval.into_iter().map(approval).collect();
    agg
}

fn run_state(key: Key) -> RunState {
    match key.run {
        Run::Absent => RunState::Queued,
        Run::Processing => RunState::Processing,
        Run::AwaitsDecision => RunState::AwaitingHuman { reason: AwaitReason::Approval },
        Run::AwaitsSettlement => RunState::AwaitingHuman { reason: AwaitReason::UnknownEffect },
        Run::Approved => RunState::Approved,
        Run::Completed => RunState::Completed,
        Run::Retryable => RunState::FailedRetryable { reason: "model_timeout".into(), next_attempt_at: now() },
        Run::Failed => RunState::FailedTerminal { reason: "over".into() },
        Run::Quarantined => RunState::Quarantined { reason: "held".into() },
    }
}

fn effect(key: Key) -> Option<Effect> {
    let state = match key.effect {
        Eff::None => return None,
        Eff::Pending => EffectState::Pending { due_at: at(0) },
        Eff::Sending => EffectState::Sending,
        Eff::Unknown => EffectState::Unknown { look_at: at(0) },
        Eff::Review => EffectState::Review { since: at(0) },
        Eff::Completed => EffectState::Completed,
        Eff::Failed => EffectState::Failed,
        Eff::Cancelled => EffectState::Cancelled,
    };
    let first_sent_at = match key.sent {
        Sent::No => None,
        Sent::InWindow => Some(now().plus_ms(-HOUR_MS)),
        Sent::Past => Some(now().plus_ms(-24 * HOUR_MS)),
    };
    Some(Effect {
        fence: Fence(key.effect_fence.into()),
        attempts: key.tries.into(),
        first_sent_at,
        unknown_since: key.in_doubt.then(|| at(0)),
        ..given::effect(1, state)
    })
}

/// As core makes it of a proposal, in the state that it is in.
fn approval(word: ApprovalWord) -> Approval {
    let processing = given::agg(RunState::Processing, vec![]);
    let valid = given::valid(vec![given::wanted(1)], given::person_decides());
    let asked = proposal::accept(&processing, &given::flow(), &given::owner(), valid, now()).expect("nothing is open");
    let state = match word {
        ApprovalWord::Open => ApprovalState::Open,
        ApprovalWord::Approved => ApprovalState::Approved,
        ApprovalWord::Rejected => ApprovalState::Rejected,
        ApprovalWord::Ended => ApprovalState::Expired,
    };
    Approval { state, ..asked.approvals[0].clone() }
}

pub(super) fn lower(key: Key, before: &Aggregate, t: &Transition) -> Step {
    let after = before.after(t);
    let effect = after.effects.first();
    let sends = t.effects.iter().any(|w| w.sending_ms.is_some());
    let lowered = Key {
        run: word(&after.run.state),
        owner: after.run.owner.as_ref().map_or(0, |o| o.as_str().bytes().last().unwrap_or(b'0') - b'0'),
        fence: small(after.run.fence.0),
        attempts: small(after.run.attempts.into()),
        lease_lives: match t.lease {
            LeaseWrite::Grant { .. } | LeaseWrite::Renew { .. } => true,
            LeaseWrite::Keep => key.lease_lives,
            LeaseWrite::Clear => false,
        },
        effect: effect.map_or(Eff::None, |e| effect_word(e.state)),
        effect_fence: effect.map_or(0, |e| small(e.fence.0)),
        tries: effect.map_or(0, |e| small(e.attempts.into())),
        in_doubt: effect.is_some_and(|e| e.unknown_since.is_some()),
        sent: effect.map_or(Sent::No, sent),
        sending_lives: sends || (key.sending_lives && effect.is_some_and(|e| e.state == EffectState::Sending)),
        approval: after.approvals.last().map(|a| approval_word(a.state)),
    };
    Step { after: lowered, guard: guard(t), switched: t.switch.is_some() }
}

fn guard(t: &Transition) -> Guard {
    let worker = |owner: &Owner| owner.as_str().bytes().last().unwrap_or(b'0') - b'0';
    match (&t.lease_guard, t.sending_guard) {
        (_, SendingGuard::Live { fence, .. }) => Guard::SendingLives { fence: small(fence.0) },
        (_, SendingGuard::Over { fence, .. }) => Guard::SendingOver { fence: small(fence.0) },
        (LeaseGuard::Live { owner, fence }, _) => Guard::LeaseLives { worker: worker(owner), fence: small(fence.0) },
        (LeaseGuard::Over | LeaseGuard::Free, _) => Guard::LeaseFree,
        (LeaseGuard::Any, _) => Guard::Nothing,
    }
}

fn small(n: i64) -> u8 {
    u8::try_from(n).expect("a model's numbers are small")
}

fn sent(effect: &Effect) -> Sent {
    match effect.first_sent_at {
        None => Sent::No,
        Some(first) if now().ms_since(first) < 23 * HOUR_MS => Sent::InWindow,
        Some(_) => Sent::Past,
    }
}

fn word(state: &RunState) -> Run {
    match state {
        RunState::Queued => Run::Absent,
        RunState::Processing => Run::Processing,
        RunState::AwaitingHuman { reason: AwaitReason::Approval } => Run::AwaitsDecision,
        RunState::AwaitingHuman { .. } => Run::AwaitsSettlement,
        RunState::Approved => Run::Approved,
        RunState::Completed => Run::Completed,
        RunState::FailedRetryable { .. } => Run::Retryable,
        RunState::FailedTerminal { .. } => Run::Failed,
        RunState::Quarantined { .. } => Run::Quarantined,
    }
}

const fn effect_word(state: EffectState) -> Eff {
    match state {
        EffectState::Scheduled { .. } | EffectState::Pending { .. } => Eff::Pending,
        EffectState::Sending => Eff::Sending,
        EffectState::Unknown { .. } => Eff::Unknown,
        EffectState::Review { .. } => Eff::Review,
        EffectState::Completed => Eff::Completed,
        EffectState::Failed => Eff::Failed,
        EffectState::Cancelled => Eff::Cancelled,
    }
}

const fn approval_word(state: ApprovalState) -> ApprovalWord {
    match state {
        ApprovalState::Open => ApprovalWord::Open,
        ApprovalState::Approved => ApprovalWord::Approved,
        ApprovalState::Rejected => ApprovalWord::Rejected,
        ApprovalState::Expired | ApprovalState::Withdrawn => ApprovalWord::Ended,
    }
}
