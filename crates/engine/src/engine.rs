//! The engine: the store, the policy in force, the clock, and what wakes the workers. Every verb is a method in a file
//! of its own; what they share is here: load, decide in core, commit, try again when somebody else was first.

use std::{fmt, sync::Arc};

use effectgate_core::{
    ids::{RunId, Tenant},
    journal::EntryKind,
    run::Aggregate,
    switch::{Ceiling, Scope, Switch},
    time::Timestamp,
    transition::Transition,
};
use effectgate_store::{Commit, JournalFilter, Store};
use serde_json::Value;

use crate::{
    budget,
    clock::Clock,
    driver::Nudges,
    error::{EngineError, Result},
    inbound,
    policy::{FlowPolicy, Policy},
    probe::{self, Guard, is_broken},
    pulse::Touched,
    tally,
    view::{self, RunView},
};

/// Who calls, as the web room found out. Scopes were checked before.
#[derive(Debug, Clone)]
pub struct Caller {
    pub tenant: Tenant,
    /// The API key's name.
    pub api_key: String,
}

/// What the product does, over one store and one policy. Cheap to clone.
#[derive(Clone)]
pub struct Engine {
    inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub store: Arc<dyn Store>,
    pub policy: Policy,
    pub clock: Arc<dyn Clock>,
    pub nudges: Nudges,
    pub traffic: crate::traffic::Traffic,
    pub switches: crate::switch::Cache,
    pub hot: crate::hot::Hot,
    pub stuck_due: crate::sweep::Due,
    pub desk_due: crate::sweep::Due,
    pub pulse: crate::pulse::Pulse,
    pub tally: crate::tally::Tally,
    pub waits: crate::waits::Waits,
    pub budgets: crate::budget::Budgets,
    pub lanes: crate::inbound::Lanes,
    pub subscribers: crate::subscriptions::Known,
    pub paces: crate::subscriptions::Paces,
}

/// How often an operation starts again because somebody else changed the run in between. A run is changed by one
/// worker, the dispatcher, the sweeper and people: sixteen in a row is a fault, not bad luck.
const TRIES_MAX: usize = 16;

/// One page of a search. A run is replayed or corrected a few times, each by somebody who gave a reason.
const NOTED_SEARCHED: u32 = 200;

impl Engine {
    #[must_use]
    pub fn new(store: Arc<dyn Store>, policy: Policy, clock: Arc<dyn Clock>) -> Self {
        let traffic = crate::traffic::Traffic::new(&policy);
        let lanes = crate::inbound::Lanes::new(&policy);
        let hot = crate::hot::Hot::new(store.reads_stay_true());
        let inner = Inner {
            store,
            policy,
            clock,
            nudges: Nudges::default(),
            traffic,
            switches: crate::switch::Cache::default(),
            hot,
            stuck_due: crate::sweep::Due::default(),
            desk_due: crate::sweep::Due::default(),
            pulse: crate::pulse::Pulse::default(),
            tally: crate::tally::Tally::default(),
            waits: crate::waits::Waits::default(),
            budgets: crate::budget::Budgets::default(),
            lanes,
            subscribers: crate::subscriptions::Known::default(),
            paces: crate::subscriptions::Paces::default(),
        };
        Self { inner: Arc::new(inner) }
    }

    #[must_use]
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.inner.store
    }

    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.inner.policy
    }

    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.inner.clock.now()
    }

    #[must_use]
    pub fn nudges(&self) -> &Nudges {
        &self.inner.nudges
    }

    pub(crate) fn inner(&self) -> &Inner {
        &self.inner
    }

    pub(crate) fn flow_of(&self, agg: &Aggregate) -> Result<&FlowPolicy> {
        self.policy().flow(&agg.run.flow).ok_or(EngineError::UnknownFlow)
    }

    /// Loads a run or says that there is none.
    pub(crate) async fn load(&self, tenant: &Tenant, id: RunId) -> Result<Aggregate> {
        self.store().run_load(tenant, id).await?.ok_or(EngineError::NotFound("run"))
    }

    /// True if the record of a run has an entry of this kind whose fact `name` is `value`, among the latest
    /// [`NOTED_SEARCHED`] of the kind.
    pub(crate) async fn is_noted(
        &self,
        tenant: &Tenant,
        run: RunId,
        kind: EntryKind,
        name: &str,
        value: &(impl fmt::Display + Sync),
    ) -> Result<bool> {
        let kind = Some(kind.as_str().to_owned());
        let filter = JournalFilter { run: Some(run), kind, limit: NOTED_SEARCHED, ..JournalFilter::default() };
        let (entries, value) = (self.store().journal_search(tenant, &filter).await?.items, value.to_string());
        let says = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default()["facts"][name] == value;
        Ok(entries.iter().any(|entry| says(&entry.text)))
    }

    /// The run as callers see it.
    pub async fn view(&self, agg: &Aggregate) -> Result<RunView> {
        let result = if agg.run.state.is_final() {
            self.store().run_content(&agg.run.tenant, agg.run.id).await?.and_then(|c| c.result)
        } else {
            None
        };
        let switches = if agg.run.effects.open > 0 { self.switches_in_force().await } else { Vec::new() };
        Ok(view::run_view(agg, result.as_deref(), &switches))
    }

    /// A run by its id.
    ///
    /// # Errors
    /// Not found (in this tenant), or the store.
    pub async fn run(&self, tenant: &Tenant, id: RunId) -> Result<RunView> {
        let agg = self.load(tenant, id).await?;
        self.view(&agg).await
    }

    /// Commits, with its events and the flow's retention put in and the workers woken.
    pub(crate) async fn commit(&self, mut transition: Transition) -> Result<Commit> {
        self.tell_events(&mut transition).await;
        if is_broken(Guard::Retention) {
            transition.retain(&FORGETFUL);
        } else if let Some(policy) = self.policy().flow(&transition.run.flow) {
            transition.retain(&policy.flow.retention);
        } else {
            transition.retain(&UNCONFIGURED);
        }
        let delivers = inbound::wants_delivery(&transition.run);
        let (work, notices) = (!transition.effects.is_empty(), !transition.notices.is_empty());
        let id = transition.run.id;
        let touched = self.inner().pulse.is_heard().then(|| Touched::by(&transition));
        let turned = tally::turned(&transition);
        let frees = budget::gives_back(&transition);
        let committed = self.store().commit(transition).await;
        // Also where the outcome is not known.
        self.inner().hot.changed(&id);
        let committed = committed?;
        if matches!(committed, Commit::Committed { .. }) {
            if frees {
                self.inner().budgets.free();
            }
            turned.into_iter().for_each(|turned| self.inner().tally.turned(turned, self.now()));
            self.nudges().after_commit(work, notices);
            if delivers {
                self.nudges().deliverer.notify_one();
            }
            touched.iter().for_each(|touched| self.tell_pages(touched));
            self.inner().waits.changed(&id);
        }
        Ok(committed)
    }

    /// Loads a run, lets `decide` make a transition of it, commits; again from the start if somebody was faster.
    /// `decide` answers with a value instead of a transition where nothing is to be written.
    pub(crate) async fn change<T>(
        &self,
        tenant: &Tenant,
        id: RunId,
        mut decide: impl FnMut(&Aggregate, Timestamp) -> Result<Step<T>> + Send,
    ) -> Result<(T, Aggregate)> {
        for _ in 0..TRIES_MAX {
            let agg = self.load(tenant, id).await?;
            match decide(&agg, self.now())? {
                Step::Answer(answer) => return Ok((answer, agg)),
                Step::Write(transition, answer) => {
                    let after = agg.after(&transition);
                    probe::at("change.before_commit").await;
                    match self.commit(*transition).await? {
                        Commit::Committed { lease } => {
                            probe::at("change.after_commit").await;
                            return Ok((answer, Aggregate { lease, ..after }));
                        }
                        Commit::OverBudget { scope, until } => {
                            return Err(EngineError::BudgetUsedUp {
                                budget: scope,
                                until: Some((until, until.ms_since(self.now()))),
                            });
                        }
                        Commit::Lost => {}
                    }
                }
            }
        }
        Err(EngineError::Contended)
    }

    /// The switches as they bear on effects: those in the database, and the ceiling as one of them.
    pub(crate) async fn switches_in_force(&self) -> Vec<Switch> {
        let ceiling = ceiling_switch(self.policy().ceiling, self.now());
        match self.store().switch_list().await {
            Ok(list) => list.into_iter().chain(ceiling).collect(),
            // Unreadable means off.
            Err(error) => vec![off(format!("the switches cannot be read: {error}"), self.now())],
        }
    }
}

/// What a decision comes to.
pub(crate) enum Step<T> {
    Write(Box<Transition>, T),
    Answer(T),
}

fn ceiling_switch(ceiling: Ceiling, now: Timestamp) -> Option<Switch> {
    (ceiling == Ceiling::Off).then(|| off("actions are off in the config or the environment".into(), now))
}

/// What stands in for switches that cannot be read.
pub(crate) fn off(reason: String, at: Timestamp) -> Switch {
    Switch { scope: Scope::All, name: String::new(), enabled: false, reason, by: "system:config".into(), at }
}

/// Without the guard on retention: keys are forgotten while senders may still repeat.
const FORGETFUL: effectgate_core::flow::Retention =
    effectgate_core::flow::Retention { content_days: 1, key_days: 1, journal_days: 1 };

/// For runs whose flow has left the config: kept for a year, so that nothing is forgotten by a typing error.
const UNCONFIGURED: effectgate_core::flow::Retention =
    effectgate_core::flow::Retention { content_days: 30, key_days: 365, journal_days: 730 };
