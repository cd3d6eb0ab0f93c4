//! The positive controls: a world with one guard taken out, by a store or a connector that breaks one rule. What the
//! product decides is untouched; only what holds it is. An auditor that does not see these would see nothing.

use effectgate_core::{
    approval::ApprovalState,
    effect::EffectState,
    journal::EntryKind,
    run::{Aggregate, Lease, RunState},
    transition::{LeaseGuard, SendingGuard, Transition},
};

/// Which guard is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Broken {
    /// Every lease is read as over, and no commit asks.
    Lease,
    /// Every lease is read as alive, and no commit asks whose it is.
    Fence,
    /// Another payload under the same key passes for the same.
    Payload,
    /// What is over is read as free to be claimed again.
    Restart,
    /// What is sent is not what was decided.
    Bytes,
    /// A decided approval is read as open.
    Token,
    /// A decision is committed without its approval.
    Decision,
    /// The start of an attempt is acknowledged and not written.
    Intent,
    /// A lost answer is reported as "nothing was sent".
    Outcome,
    /// What became unknown is written as pending.
    Unknown,
    /// No commit and no attempt asks for the switch.
    Switch,
    /// What is completed is read as open.
    Final,
}

impl Broken {
    /// What is broken, and the guarantees one of which must be seen to fall.
    pub const ALL: [(Self, &'static [&'static str]); 12] = [
        (Self::Lease, &["g1_one_lease"]),
        (Self::Fence, &["g2_fenced_writes"]),
        (Self::Payload, &["g3_one_payload"]),
        (Self::Restart, &["g4_no_restart"]),
        (Self::Bytes, &["g5_decided_bytes"]),
        (Self::Token, &["g6_single_use"]),
        (Self::Decision, &["g7_atomic_decision"]),
        (Self::Intent, &["g8_intent_first"]),
        (Self::Outcome, &["g9_honest_outcome", "g10_no_blind_resend"]),
        (Self::Unknown, &["g10_no_blind_resend"]),
        (Self::Switch, &["g11_switch_holds"]),
        (Self::Final, &["g12_monotonic"]),
    ];

    /// What the product reads instead of the truth.
    pub fn read(self, agg: &mut Aggregate) {
        match self {
            Self::Lease => agg.lease = agg.lease.map(|lease| Self::Lease.lease(lease)),
            Self::Fence => agg.lease = agg.lease.map(|lease| Self::Fence.lease(lease)),
            Self::Restart if is_over(&agg.run.state) => agg.run.state = RunState::Queued,
            Self::Token => agg.approvals.iter_mut().for_each(|a| a.state = ApprovalState::Open),
            Self::Final => {
                for effect in agg.effects.iter_mut().filter(|e| e.state == EffectState::Completed) {
                    effect.state = EffectState::Review { since: effect.updated_at };
                    agg.run.effects.open += 1;
                }
            }
            _ => {}
        }
    }

    pub fn lease(self, lease: Lease) -> Lease {
        match self {
            Self::Lease => Lease { is_live: false, left_ms: -1, ..lease },
            Self::Fence => Lease { is_live: true, left_ms: 60_000, ..lease },
            _ => lease,
        }
    }

    /// What is written instead of the transition; `None` for nothing at all.
    pub fn write(self, mut t: Transition) -> Option<Transition> {
        let first = t.entries.first().map(|e| e.kind.clone()).unwrap_or_default();
        match self {
            Self::Lease | Self::Fence => {
                (t.lease_guard, t.sending_guard) = (LeaseGuard::Any, SendingGuard::Any);
            }
            Self::Decision if first == EntryKind::Decided.as_str() => t.approvals.clear(),
            Self::Intent if first == EntryKind::AttemptStarted.as_str() => return None,
            Self::Unknown => {
                for write in &mut t.effects {
                    if matches!(write.effect.state, EffectState::Unknown { .. } | EffectState::Review { .. }) {
                        write.effect.state = EffectState::Pending { due_at: write.effect.updated_at };
                        write.effect.unknown_since = None;
                    }
                }
            }
            Self::Switch => t.switch = None,
            _ => {}
        }
        Some(t)
    }
}

fn is_over(state: &RunState) -> bool {
    state.is_final() || *state == RunState::Approved
}
