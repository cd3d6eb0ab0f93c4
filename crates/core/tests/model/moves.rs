//! The moves of one key are core's own functions. A state of the model holds a small projection ([`Key`]) of core's rows;
//! here it is lifted to an [`Aggregate`], moved by core, and what the transition writes is lowered again, together with
//! the guards that it demands. Times are two: what lies within the provider's key window less its margin, and what does
//! not; ids, texts and hashes are those of one run.

use std::{cell::RefCell, collections::HashMap};

use effectgate_core::{
    approval::{self, Approval, ApprovalState, Verdict, Wish},
    effect::{Effect, EffectState},
    ending::{self, FailClass},
    ids::{Fence, Owner},
    lease::{self, Claim},
    operate::{self, Resolution},
    outcome::{Phase, Report},
    proposal,
    provider::Class,
    retry::{self, Classified},
    run::{Aggregate, AwaitReason, Lease, RunState},
    sending::{self, Due},
    time::Timestamp,
    transition::{LeaseGuard, LeaseWrite, SendingGuard, Transition},
};

use crate::given::{self, AllOf, ENFORCING, HOUR_MS, at};

/// Where a run stands, without reasons and moments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Run {
    Absent,
    Processing,
    AwaitsDecision,
    AwaitsSettlement,
    Approved,
    Completed,
    Retryable,
    Failed,
    Quarantined,
}

impl Run {
    pub(crate) const fn is_final(self) -> bool {
        matches!(self, Self::Completed | Self::Failed)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Eff {
    None,
    Pending,
    Sending,
    Unknown,
    Review,
    Completed,
    Failed,
    Cancelled,
}

/// When the first byte may have left, as the gate counts the provider's key window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Sent {
    No,
    InWindow,
    Past,
}

/// One key's rows, as far as the protocol goes by them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) run: Run,
    pub(crate) owner: u8,
    pub(crate) fence: u8,
    pub(crate) attempts: u8,
    pub(crate) lease_lives: bool,
    pub(crate) effect: Eff,
    pub(crate) effect_fence: u8,
    pub(crate) tries: u8,
    pub(crate) in_doubt: bool,
    pub(crate) sent: Sent,
    pub(crate) sending_lives: bool,
    pub(crate) approval: Option<ApprovalWord>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum ApprovalWord {
    Open,
    Approved,
    Rejected,
    Ended,
}

impl Key {
    pub(crate) const ABSENT: Self = Self {
        run: Run::Absent,
        owner: 0,
        fence: 0,
        attempts: 0,
        lease_lives: false,
        effect: Eff::None,
        effect_fence: 0,
        tries: 0,
        in_doubt: false,
        sent: Sent::No,
        sending_lives: false,
        approval: None,
    };

    /// Reserved for the first time; the store's one atomic insert.
    pub(crate) const fn made(owner: u8) -> Self {
        Self { run: Run::Processing, owner, fence: 1, attempts: 1, lease_lives: true, ..Self::ABSENT }
    }
}

/// What somebody does, by one of core's functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Move {
    Claim {
        worker: u8,
    },
    Propose {
        worker: u8,
        fence: u8,
    },
    Complete {
        worker: u8,
        fence: u8,
    },
    Fail {
        worker: u8,
        fence: u8,
    },
    Decide {
        person: u8,
        approves: bool,
    },
    ExpireApproval,
    /// The dispatcher claims the effect and writes its attempt.
    Send,
    /// The attempt with this fence has come to this class.
    Settle {
        fence: u8,
        class: Answer,
    },
    ExpireSending,
    Reconcile,
    Resolve {
        how: Word,
    },
    Overtaken,
}

/// What an attempt came to, as the gate sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Answer {
    Applied,
    Refused,
    NotSent,
    Unknown,
}

/// A person's word on an effect in doubt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Word {
    Happened,
    SendAgain,
    Cancel,
}

/// What a transition demands of the row at the moment of the write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Guard {
    Nothing,
    LeaseLives {
        worker: u8,
        fence: u8,
    },
    /// The lease is over, or there is none.
    LeaseFree,
    SendingLives {
        fence: u8,
    },
    SendingOver {
        fence: u8,
    },
}

/// A transition of core's, lowered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Step {
    pub(crate) after: Key,
    pub(crate) guard: Guard,
    /// Commit only while the switch is on.
    pub(crate) switched: bool,
}

thread_local! {
    static KNOWN: RefCell<HashMap<(Key, Move, bool), Option<Step>>> = RefCell::default();
}

/// The step that core makes of a key as it was read; `None` where core refuses. Each is asked for once: core is pure.
pub(crate) fn step(key: Key, wanted: Move, enforcing: bool) -> Option<Step> {
    let asked = (key, wanted, enforcing);
    if let Some(known) = KNOWN.with_borrow(|known| known.get(&asked).copied()) {
        return known;
    }
    let made = transition(&lift(key), wanted, enforcing).map(|t| lower(key, &lift(key), &t));
    KNOWN.with_borrow_mut(|known| known.insert(asked, made));
    made
}

/// Now; everything else lies before it.
fn now() -> Timestamp {
    at(30 * HOUR_MS)
}

fn owner(worker: u8) -> Owner {
    Owner::new(format!("worker-{worker}"))
}

fn provider(enforcing: bool) -> effectgate_core::provider::Provider {
    let class = if enforcing { ENFORCING } else { Class::Advisory };
    effectgate_core::provider::Provider { attempts_max: 2, ..given::provider(class) }
}

fn transition(agg: &Aggregate, wanted: Move, enforcing: bool) -> Option<Transition> {
    let (now, provider) = (now(), provider(enforcing));
    let class = AllOf(Some(provider.class));
    let effect = agg.effects.first();
    match wanted {
        Move::Claim { worker } => match lease::claim(agg, &owner(worker), 60_000, now, &class) {
            Claim::Granted(t) | Claim::Ended(t) => Some(t),
            Claim::NotFree => None,
        },
        Move::Propose { worker, fence } => {
            let valid = given::valid(vec![given::wanted(1)], given::person_decides());
            // As the engine asks first: is the lease theirs?
            let holds = agg.holds_lease(&owner(worker), Fence(fence.into())) && agg.effects.is_empty();
            proposal::accept(agg, &given::flow(), &owner(worker), valid, now).ok().filter(|_| holds)
        }
        Move::Complete { worker, fence } => ending::complete(agg, &owner(worker), Fence(fence.into()), "{}", now).ok(),
        Move::Fail { worker, fence } => {
            let (owner, fence) = (owner(worker), Fence(fence.into()));
            ending::fail(agg, &given::flow(), &owner, fence, FailClass::ModelTimeout, None, now, 0.0, &class).ok()
        }
        Move::Decide { person, approves } => {
            let verdict = if approves { Verdict::Approve } else { Verdict::Reject };
            let approval = agg.approval()?;
            let wish = Wish { verdict, reason: Some("so".into()), shown: approval.effects_hash, edited: None };
            let person = given::person(&format!("p{person}"), &["lead"]);
            approval::decide(agg, approval.id, &person, &wish, now).ok()
        }
        Move::ExpireApproval => approval::expire(agg, now.plus_ms(100 * HOUR_MS)),
        Move::Send => match sending::claim(&agg.run, effect?, &provider, now) {
            Due::Send(t) | Due::Divert(t) => Some(t),
            Due::Leave => None,
        },
        Move::Settle { fence, class } => {
            let effect = effect.filter(|e| e.state == EffectState::Sending && e.fence == Fence(fence.into()))?;
            Some(sending::settle(&agg.run, effect, &provider, now, &report(), &found(class), now, 0.0))
        }
        Move::ExpireSending => sending::expire(&agg.run, effect?, now),
        Move::Reconcile => {
            let effect = effect.filter(|e| matches!(e.state, EffectState::Unknown { .. }))?;
            let settlement = retry::reconcile(effect, &provider, None, now);
            sending::reconciled(&agg.run, effect, &settlement, None, now)
        }
        Move::Resolve { how } => {
            let how = match how {
                Word::Happened => Resolution::Happened { external_id: None },
                Word::SendAgain => Resolution::SendAgain,
                Word::Cancel => Resolution::Cancel,
            };
            operate::resolve(agg, effect?, &given::OPERATOR, &how, "seen", now).ok()
        }
        Move::Overtaken => {
            let is_over = agg.lease.is_some_and(|lease| !lease.is_live);
            lease::overtaken(agg, now, &class).filter(|_| is_over)
        }
    }
}

fn report() -> Report {
    Report { phase: Phase::Request, bytes_sent: 1, answer: None, error: None, handle: None }
}

fn found(class: Answer) -> Classified {
    let class = match class {
        Answer::Applied => retry::Class::Applied,
        Answer::Refused => retry::Class::Refused,
        Answer::NotSent => retry::Class::NotSent,
        Answer::Unknown => retry::Class::Unknown,
    };
    Classified { class, external_id: None, retry_after_ms: None, detail: None, repeats: false }
}

/// The rows that a projection stands for.
fn lift(key: Key) -> Aggregate {
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

fn lower(key: Key, before: &Aggregate, t: &Transition) -> Step {
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
