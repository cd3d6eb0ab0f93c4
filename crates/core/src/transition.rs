//! A transition: everything one change of one run writes, in one value. The only thing the store commits, so state,
//! journal, outbox and approvals cannot come apart.
//!
//! It names what it expects (the journal's length, and where a lease is concerned that the lease lives, judged by the
//! database's clock inside the statement); if that is not so, nothing is written.

use crate::{
    actor::Actor,
    approval::{Approval, TokenGrant},
    budget::{self, Charge},
    digest::Digest,
    effect::{Attempt, Effect, EffectState},
    flow::Retention,
    ids::{EffectId, Fence, Owner},
    journal::{self, EntryKind, Facts, SealedEntry},
    notice::Notice,
    run::{Run, RunState},
    switch::Applies,
    time::Timestamp,
};

/// What must hold in the database at the moment of the write, besides the journal's length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LeaseGuard {
    /// Nothing about the run's lease.
    Any,
    /// This owner's lease with this fence lives.
    Live { owner: Owner, fence: Fence },
    /// There is a lease and it is over.
    Over,
    /// Processing with a lease that is over, or not processing at all.
    Free,
}

/// What happens to the run's lease. Ends are computed by the statement: the database's clock plus the length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaseWrite {
    Keep,
    /// A new chain.
    Grant {
        ms: i64,
    },
    /// The same chain, at most until its beginning plus `total_ms_max`.
    Renew {
        ms: i64,
        total_ms_max: i64,
    },
    /// The run leaves processing.
    Clear,
}

/// The dispatcher's own lease on an effect in sending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SendingGuard {
    Any,
    /// This fence's sending lease lives.
    Live {
        effect: EffectId,
        fence: Fence,
    },
    /// It is over.
    Over {
        effect: EffectId,
        fence: Fence,
    },
}

/// An effect as it shall be. `sending_ms` is the dispatcher's lease, for effects that enter sending by the dispatcher.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EffectWrite {
    pub effect: Effect,
    pub sending_ms: Option<i64>,
    pub is_new: bool,
    /// `None` for a new one. Not written: what is counted is the turn, not the state.
    pub before: Option<EffectBefore>,
}

/// Where an effect stood before a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EffectBefore {
    pub state: EffectState,
    /// True if its outcome was in doubt already.
    pub is_in_doubt: bool,
}

/// Content that lies apart from the journal and can be erased. `None` leaves a column as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContentWrite {
    pub payload: Option<String>,
    pub output: Option<String>,
    pub result: Option<String>,
    /// JSON: model, summary, finish reason, requested by, findings; what the card shows.
    pub proposal: Option<String>,
}

impl ContentWrite {
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The first answer to a call that moved the run, kept so that a repeat gets it again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredAnswer {
    /// Hash of operation, owner, fence and body.
    pub call: Digest,
    /// JSON of the engine's outcome.
    pub body: String,
}

/// Everything one change of one run writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transition {
    /// The run's row as it shall be, head included.
    pub run: Run,
    /// The journal's length before: the compare in compare-and-set.
    pub expected_seq: i64,
    pub lease_guard: LeaseGuard,
    pub lease: LeaseWrite,
    pub sending_guard: SendingGuard,
    /// Commit only while no switch that applies is off.
    pub switch: Option<Applies>,
    /// Commit only while every count stays within its limit; added in the same transaction. In the order of scope and
    /// window, so that no two replicas wait for each other.
    pub charges: Vec<Charge>,
    pub effects: Vec<EffectWrite>,
    pub attempts: Vec<Attempt>,
    pub approvals: Vec<Approval>,
    /// Tokens to add, by hash.
    pub tokens: Vec<TokenGrant>,
    pub content: ContentWrite,
    pub answer: Option<StoredAnswer>,
    pub notices: Vec<Notice>,
    pub entries: Vec<SealedEntry>,
    /// How long the journal stays once the run is purged, in milliseconds; set with the run's ends. `None` leaves it.
    pub journal_kept_ms: Option<i64>,
}

const DAY_MS: i64 = 86_400_000;

impl Transition {
    /// Sets the ends of a run that has become final, by the flow's retention. Called for every transition before it is
    /// committed; does nothing for runs that are not final or have their ends already.
    pub fn retain(&mut self, retention: &Retention) {
        let run = &mut self.run;
        if run.state.is_final() && run.expires_at.is_none() {
            run.expires_at = Some(run.updated_at.plus_ms(retention.key_days * DAY_MS));
            run.content_expires_at = Some(run.updated_at.plus_ms(retention.content_days * DAY_MS));
            self.journal_kept_ms = Some(retention.journal_days * DAY_MS);
        }
    }
}

/// Builds a transition from a run as it is.
#[derive(Debug, Clone)]
pub struct Draft {
    t: Transition,
    now: Timestamp,
}

impl Draft {
    #[must_use]
    pub fn on(run: &Run, now: Timestamp) -> Self {
        let t = Transition {
            run: run.clone(),
            expected_seq: run.head.seq,
            lease_guard: LeaseGuard::Any,
            lease: LeaseWrite::Keep,
            sending_guard: SendingGuard::Any,
            switch: None,
            charges: Vec::new(),
            effects: Vec::new(),
            attempts: Vec::new(),
            approvals: Vec::new(),
            tokens: Vec::new(),
            content: ContentWrite::default(),
            answer: None,
            notices: Vec::new(),
            entries: Vec::new(),
            journal_kept_ms: None,
        };
        Self { t, now }
    }

    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.now
    }

    #[must_use]
    pub fn run(&self) -> &Run {
        &self.t.run
    }

    pub fn run_mut(&mut self) -> &mut Run {
        &mut self.t.run
    }

    pub fn transition_mut(&mut self) -> &mut Transition {
        &mut self.t
    }

    /// Moves the run on. A lease ends with processing.
    pub fn state(&mut self, next: RunState) -> &mut Self {
        let was_processing = self.t.run.state == RunState::Processing;
        if was_processing && next != RunState::Processing {
            self.t.lease = LeaseWrite::Clear;
        }
        self.t.run.state = next;
        self
    }

    pub fn require(&mut self, guard: LeaseGuard) -> &mut Self {
        self.t.lease_guard = guard;
        self
    }

    /// Puts an effect into the transition, keeping the run's counts true. `before` is its state until now, `None` for
    /// a new one. One that ends and provably did not happen gives its charges back.
    pub fn effect(&mut self, before: Option<&Effect>, mut after: Effect, sending_ms: Option<i64>) -> &mut Self {
        self.t.charges.extend(budget::give_back(&mut after));
        let counts = &mut self.t.run.effects;
        match before {
            None => {
                counts.total += 1;
                counts.open += i32::from(!after.state.is_final());
            }
            Some(before) => counts.open -= i32::from(!before.state.is_final()) - i32::from(!after.state.is_final()),
        }
        if before.is_none_or(|b| !b.state.is_final()) {
            counts.failed += i32::from(after.state == EffectState::Failed);
            counts.cancelled += i32::from(after.state == EffectState::Cancelled);
        }
        let (is_new, before) =
            (before.is_none(), before.map(|b| EffectBefore { state: b.state, is_in_doubt: b.unknown_since.is_some() }));
        self.t.effects.push(EffectWrite { effect: after, sending_ms, is_new, before });
        self
    }

    pub fn entry(&mut self, kind: EntryKind, actor: &Actor, facts: Facts) -> &mut Self {
        let run = self.t.run.id;
        let entry = journal::seal(&mut self.t.run.head, run, self.now, kind, actor, &facts);
        self.t.entries.push(entry);
        self
    }

    pub fn notice(&mut self, notice: Notice) -> &mut Self {
        self.t.notices.push(notice);
        self
    }

    /// Ends a change that callers can see: the version rises.
    #[must_use]
    pub fn changed(mut self) -> Transition {
        self.t.run.version += 1;
        self.t.run.updated_at = self.now;
        self.t
    }

    /// Ends a change that only adds to the record: a refused try, a look, a token.
    #[must_use]
    pub fn noted(self) -> Transition {
        self.t
    }
}
