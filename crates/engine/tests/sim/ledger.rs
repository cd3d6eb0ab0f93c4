//! What is known at one point of a history: the rows as they were committed, the switches, the requests that arrived. Made
//! by walking over the events; the guarantees look at it just before each of them.

use std::collections::{BTreeMap, BTreeSet};

use effectgate_core::{
    approval::Approval,
    effect::{Effect, EffectState, Executor},
    ids::{EffectId, Fence, RunId},
    run::{Aggregate, Lease, Run},
    switch::Scope,
    time::Timestamp,
    transition::{LeaseWrite, Transition},
};

use crate::history::{Arrival, Event};

/// A run as the last commit left it.
#[derive(Debug, Clone)]
pub struct Row {
    pub run: Run,
    pub lease: Option<Lease>,
    pub effects: BTreeMap<i32, Effect>,
    pub approvals: BTreeMap<i32, Approval>,
    /// Until when each effect in sending is the dispatcher's.
    pub sending_until: BTreeMap<i32, Timestamp>,
    /// Attempts on record that have no end and were not given up.
    pub under_way: BTreeSet<(i32, Fence)>,
}

#[derive(Debug, Default)]
pub struct Ledger {
    pub rows: BTreeMap<RunId, Row>,
    /// Switches that are off by commit, and those whose turn has answered.
    pub off: BTreeSet<(Scope, String)>,
    pub stopped: BTreeSet<(Scope, String)>,
    pub arrived: BTreeMap<String, Vec<Arrival>>,
    pub said_again: BTreeMap<String, usize>,
    /// Decisions that were taken by a click, not counting repeats.
    pub decided: BTreeMap<effectgate_core::ids::ApprovalId, Vec<(&'static str, effectgate_core::approval::Verdict)>>,
}

/// The entries of a transition as JSON.
pub fn entries(t: &Transition) -> Vec<serde_json::Value> {
    t.entries.iter().map(|e| serde_json::from_str(&e.text).unwrap()).collect()
}

/// The entry of a kind, if the transition writes one.
pub fn entry(t: &Transition, kind: &str) -> Option<serde_json::Value> {
    t.entries.iter().find(|e| e.kind == kind).map(|e| serde_json::from_str(&e.text).unwrap())
}

impl Ledger {
    pub fn effect(&self, id: EffectId) -> Option<&Effect> {
        self.rows.get(&id.run)?.effects.get(&id.n)
    }

    pub fn executed(&self, key: &str) -> usize {
        self.arrived.get(key).map_or(0, |all| all.iter().filter(|a| a.executed).count())
    }

    pub fn apply(&mut self, event: &Event) {
        match event {
            Event::Made { run, lease, .. } => {
                self.rows.insert(run.id, Row::new(run.clone(), *lease));
            }
            Event::Committed { transition, lease, clock } => {
                if let Some(row) = self.rows.get_mut(&transition.run.id) {
                    row.apply(transition, *lease, *clock);
                }
            }
            Event::Turned { scope, name, enabled: true } => {
                self.off.remove(&(*scope, name.clone()));
                self.stopped.remove(&(*scope, name.clone()));
            }
            Event::Turned { scope, name, .. } => drop(self.off.insert((*scope, name.clone()))),
            Event::Stopped { scope, name } => drop(self.stopped.insert((*scope, name.clone()))),
            Event::Arrived(arrival) => {
                self.arrived.entry(arrival.provider_key.clone()).or_default().push(arrival.clone());
            }
            Event::SaidAgain { provider_key } => *self.said_again.entry(provider_key.clone()).or_default() += 1,
            Event::Decided { approval, person, verdict, repeated: false } => {
                self.decided.entry(*approval).or_default().push((person, *verdict));
            }
            _ => {}
        }
    }
}

impl Row {
    fn new(run: Run, lease: Option<Lease>) -> Self {
        Self {
            run,
            lease,
            effects: BTreeMap::new(),
            approvals: BTreeMap::new(),
            sending_until: BTreeMap::new(),
            under_way: BTreeSet::new(),
        }
    }

    /// As a rule looks at it at `now`.
    pub fn aggregate(&self, now: Timestamp) -> Aggregate {
        let lease = self.lease.map(|lease| {
            let left_ms = lease.expires_at.ms_since(now);
            Lease { left_ms, is_live: left_ms > 0, ..lease }
        });
        let (effects, approvals) = (self.effects.values().cloned(), self.approvals.values().cloned());
        Aggregate { run: self.run.clone(), lease, effects: effects.collect(), approvals: approvals.collect() }
    }

    fn apply(&mut self, t: &Transition, lease: Option<Lease>, clock: Timestamp) {
        self.run = t.run.clone();
        self.lease = if t.lease == LeaseWrite::Clear { None } else { lease };
        for write in &t.effects {
            let effect = &write.effect;
            match write.sending_ms {
                Some(ms) => self.sending_until.insert(effect.id.n, clock.plus_ms(ms)),
                None => self.sending_until.remove(&effect.id.n),
            };
            if effect.state != EffectState::Sending || effect.executor == Executor::Inline {
                self.under_way.retain(|(n, _)| *n != effect.id.n);
            }
            self.effects.insert(effect.id.n, effect.clone());
        }
        for attempt in &t.attempts {
            match attempt.end {
                None => self.under_way.insert((attempt.effect.n, attempt.fence)),
                Some(_) => self.under_way.remove(&(attempt.effect.n, attempt.fence)),
            };
        }
        for approval in &t.approvals {
            self.approvals.insert(approval.id.n, approval.clone());
        }
    }
}
