//! An event: something a program outside may want to hear of, read off the transition that made it so. Events are not
//! effects and not notices to people: each is told at least once to whoever subscribed, and says ids and states only.
//!
//! What does not live here: who subscribed, what is sent, and how.

use serde::{Deserialize, Serialize};

use crate::{
    approval::ApprovalState,
    effect::EffectState,
    ids::{ApprovalId, EffectId, EventId, RunId},
    journal::EntryKind,
    notice::{NOTICES_MAX, Notice, NoticeKind},
    run::RunState,
    transition::{EffectWrite, Transition},
};

/// What happened, as a stable word.
macro_rules! kinds {
    ($($(#[$doc:meta])* $variant:ident = $word:literal),+ $(,)?) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum EventKind { $($(#[$doc])* #[serde(rename = $word)] $variant),+ }
        impl EventKind {
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }
    };
}

kinds! {
    /// People are asked to decide.
    ApprovalRequested = "approval.requested",
    /// The last decision was taken: approved or rejected. A vote of a quorum that is not full yet is none.
    ApprovalDecided = "approval.decided",
    /// Nobody decided in time, or nobody could be told.
    ApprovalExpired = "approval.expired",
    /// Whoever asked, or an operator, took the question back.
    ApprovalWithdrawn = "approval.withdrawn",
    RunCompleted = "run.completed",
    /// The run has ended without success. One that will be tried again has not failed yet.
    RunFailed = "run.failed",
    RunQuarantined = "run.quarantined",
    EffectCompleted = "effect.completed",
    EffectFailed = "effect.failed",
    /// A person must settle what nobody knows.
    EffectReview = "effect.review",
}

impl EventKind {
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.as_str() == word)
    }
}

/// One event of a run: what happened, and to which approval or effect by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    pub kind: EventKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n: Option<i32>,
}

impl Event {
    const fn of_run(kind: EventKind) -> Self {
        Self { kind, n: None }
    }

    const fn of_child(kind: EventKind, n: i32) -> Self {
        Self { kind, n: Some(n) }
    }

    /// The approval it is about.
    #[must_use]
    pub fn approval(&self, run: RunId) -> Option<ApprovalId> {
        let n = self.n.filter(|_| self.kind.as_str().starts_with("approval."))?;
        Some(ApprovalId { run, n })
    }

    /// The effect it is about.
    #[must_use]
    pub fn effect(&self, run: RunId) -> Option<EffectId> {
        let n = self.n.filter(|_| self.kind.as_str().starts_with("effect."))?;
        Some(EffectId { run, n })
    }
}

/// The place of the notice of events within its entry: others count from 0, so they do not meet.
const PLACE: u8 = 15;

/// The events of one transition, in the order: approvals, effects, the run. Read from what it turns, so that a
/// transition that only adds to the record (a late report, a told reader) tells nothing twice.
///
/// To be asked before [`Transition::retain`]: that a run becomes final now is seen by its ends not being set yet.
#[must_use]
pub fn of(t: &Transition) -> Vec<Event> {
    let approvals = t.approvals.iter().filter_map(|a| Some(Event::of_child(approval(t, a.state)?, a.id.n)));
    let effects = t.effects.iter().filter_map(|w| Some(Event::of_child(effect(w)?, w.effect.id.n)));
    let run = run(t, t.run.expires_at.is_none()).map(Event::of_run);
    approvals.chain(effects).chain(run).collect()
}

/// What is told of a run that was made in quarantine: no transition tells of it.
pub const KEPT: Event = Event::of_run(EventKind::RunQuarantined);

/// The notice that carries events, of the transition's last entry. `None` without events or entries.
#[must_use]
pub fn notice(t: &Transition, events: Vec<Event>) -> Option<Notice> {
    let last = t.entries.last()?;
    // Nothing asks for the word: an event stands for no other.
    let told = |events| Notice::new(last.seq, PLACE, NoticeKind::Events { at: last.at, events }, "events", last.at);
    (!events.is_empty()).then(|| told(events))
}

/// The name of the event at this place of the notice with this number.
#[must_use]
pub fn id(run: RunId, notice: i64, place: usize) -> EventId {
    EventId { run, seq: notice / NOTICES_MAX, place: i32::try_from(place).unwrap_or(i32::MAX) }
}

fn has(t: &Transition, kind: EntryKind) -> bool {
    t.entries.iter().any(|entry| entry.kind == kind.as_str())
}

/// An approval is written again for a reminder, a token or a note; the entry says that it turned.
fn approval(t: &Transition, state: ApprovalState) -> Option<EventKind> {
    let (kind, entry) = match state {
        ApprovalState::Open => (EventKind::ApprovalRequested, EntryKind::ApprovalRequested),
        ApprovalState::Approved | ApprovalState::Rejected => (EventKind::ApprovalDecided, EntryKind::Decided),
        ApprovalState::Expired => (EventKind::ApprovalExpired, EntryKind::ApprovalExpired),
        ApprovalState::Withdrawn => (EventKind::ApprovalWithdrawn, EntryKind::ApprovalWithdrawn),
    };
    has(t, entry).then_some(kind)
}

fn effect(write: &EffectWrite) -> Option<EventKind> {
    let before = write.before.map(|before| before.state);
    let was = |same: fn(&EffectState) -> bool| before.as_ref().is_some_and(same);
    match &write.effect.state {
        EffectState::Completed if !was(|s| matches!(s, EffectState::Completed)) => Some(EventKind::EffectCompleted),
        EffectState::Failed if !was(|s| matches!(s, EffectState::Failed)) => Some(EventKind::EffectFailed),
        EffectState::Review { .. } if !was(|s| matches!(s, EffectState::Review { .. })) => {
            Some(EventKind::EffectReview)
        }
        _ => None,
    }
}

fn run(t: &Transition, has_no_ends: bool) -> Option<EventKind> {
    match &t.run.state {
        RunState::Completed if has_no_ends => Some(EventKind::RunCompleted),
        RunState::FailedTerminal { .. } if has_no_ends => Some(EventKind::RunFailed),
        RunState::Quarantined { .. } if has(t, EntryKind::Quarantined) || has(t, EntryKind::Failed) => {
            Some(EventKind::RunQuarantined)
        }
        _ => None,
    }
}
