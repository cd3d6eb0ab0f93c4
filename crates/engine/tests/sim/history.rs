//! What happened in one world, in order: what the store committed, what arrived at the provider, what callers were told.
//! The auditor reads it afterwards; nothing here judges. Filled by the tap on the store, by the scripted provider and by
//! the people of the plan, so the product has no say in it.

use std::sync::{Arc, Mutex, MutexGuard};

use effectgate_core::{
    approval::Verdict,
    ids::{ApprovalId, EffectId, Fence, Owner, RunId},
    run::{Aggregate, Lease, Run},
    switch::Scope,
    time::Timestamp,
    transition::Transition,
};

#[derive(Debug, Clone)]
#[allow(clippy::large_enum_variant, reason = "a world has a few hundred")]
pub enum Event {
    /// A key was new.
    Made {
        run: Run,
        lease: Option<Lease>,
    },
    /// A transition was committed; `clock` is the store's at the write.
    Committed {
        transition: Transition,
        lease: Option<Lease>,
        clock: Timestamp,
    },
    /// A switch was committed.
    Turned {
        scope: Scope,
        name: String,
        enabled: bool,
    },
    /// The call that turned it off has answered: from now on nothing leaves.
    Stopped {
        scope: Scope,
        name: String,
    },
    /// A worker was told that it owns the run.
    Granted {
        run: RunId,
        owner: Owner,
        fence: Fence,
    },
    /// A delivery was answered; `other` if it came with another payload.
    Delivered {
        run: RunId,
        other: bool,
        answer: &'static str,
        state: String,
    },
    /// A person's decision was taken, or answered as taken before.
    Decided {
        approval: ApprovalId,
        person: &'static str,
        verdict: Verdict,
        repeated: bool,
    },
    /// A person said "send again", whatever had happened.
    SaidAgain {
        provider_key: String,
    },
    Arrived(Arrival),
    /// What was found after a restart on the same file.
    Found {
        agg: Aggregate,
    },
    /// Everything has come to rest.
    Rest,
}

/// A request at the provider.
#[derive(Debug, Clone)]
pub struct Arrival {
    pub effect: EffectId,
    pub provider_key: String,
    pub payload: String,
    pub fence: Fence,
    /// By the worker itself, between begin and settle.
    pub inline: bool,
    /// True if the provider did it; false if it knew the key, refused, or broke down.
    pub executed: bool,
}

/// Shared by everybody who sees something happen.
#[derive(Debug, Clone, Default)]
pub struct History(Arc<Mutex<Vec<Event>>>);

impl History {
    pub fn push(&self, event: Event) {
        self.0.lock().unwrap().push(event);
    }

    pub fn events(&self) -> MutexGuard<'_, Vec<Event>> {
        self.0.lock().unwrap()
    }
}

impl Event {
    /// In one line.
    pub fn words(&self) -> String {
        match self {
            Self::Made { run, .. } => format!("{} made for {:?}", run.key, run.owner),
            Self::Committed { transition: t, clock, .. } => {
                let kinds: Vec<_> = t.entries.iter().map(|e| e.kind.as_str()).collect();
                let effects: Vec<_> = t.effects.iter().map(|w| effect_words(&w.effect)).collect();
                format!("{clock} {} {} {kinds:?} {effects:?}", t.run.key, t.run.state.as_str())
            }
            Self::Arrived(a) => format!(
                "ARRIVED {} fence {} {} executed {}",
                a.provider_key,
                a.fence.0,
                if a.inline { "inline" } else { "" },
                a.executed
            ),
            Self::Found { agg } => format!("found {} {}", agg.run.key, agg.run.state.as_str()),
            other => format!("{other:?}"),
        }
    }
}

fn effect_words(effect: &effectgate_core::effect::Effect) -> String {
    let (state, reason) = (effect.state.as_str(), effect.reason.as_deref().unwrap_or_default());
    format!(
        "{} {} {} {state} {reason} fence {}",
        effect.executor.as_str(),
        effect.target,
        effect.provider_key,
        effect.fence.0
    )
}
