//! Budgets at work: what is planned for a batch of due effects, who waits and who is told, and what comes free again.
//! Core says where there is room; the store judges it again in the transaction that writes the attempt.
//!
//! Where no budget is configured nothing of this asks the database anything.

use std::{
    collections::BTreeMap,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use effectgate_core::{
    budget::{self, Budget, Holder, Per, Plan, Used, Wait, Want},
    effect::Effect,
    run::Run,
    time::Timestamp,
    transition::Transition,
};
use effectgate_store::{Commit, DueEffect};

use crate::{engine::Engine, error::Result};

/// What this process knows of budgets beside the database.
pub(crate) struct Budgets {
    /// A charge was given back, or this process is new: what waits may find room before its moment.
    freed: AtomicBool,
    /// Until when people need not be told of a budget again.
    told: Mutex<BTreeMap<String, Timestamp>>,
}

impl Default for Budgets {
    fn default() -> Self {
        Self { freed: AtomicBool::new(true), told: Mutex::default() }
    }
}

impl Budgets {
    pub(crate) fn free(&self) {
        self.freed.store(true, Ordering::Release);
    }

    /// True once after something came free.
    pub(crate) fn take_freed(&self) -> bool {
        self.freed.swap(false, Ordering::AcqRel)
    }

    /// True for the first who asks in a budget's window. Whoever then told nobody says so ([`untold`](Self::untold)).
    fn is_first(&self, budget: &str, until: Timestamp, now: Timestamp) -> bool {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.get(budget).is_some_and(|end| *end > now) {
            return false;
        }
        told.insert(budget.to_owned(), until);
        true
    }

    fn untold(&self, budget: &str) {
        self.told.lock().unwrap_or_else(PoisonError::into_inner).remove(budget);
    }
}

/// What is planned for one due effect.
#[derive(Debug, Clone)]
pub(crate) struct Planned {
    pub(crate) wants: Vec<Want>,
    pub(crate) plan: Plan,
}

/// A budget's count as it stands now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BudgetNow {
    /// Where it is declared: `provider` or `flow`, and the name.
    pub holder: &'static str,
    pub name: String,
    pub per: Per,
    /// Whose count this is: `provider pay`, `flow refund, provider pay`.
    pub whose: String,
    /// The limit in words: `10 an hour`.
    pub limit: String,
    pub window_ms: i64,
    pub max: i64,
    /// The pointer of what is summed up; `None` where effects are counted.
    pub amount: Option<String>,
    /// `None` for budgets with a count for each key or target: those are many.
    pub used: Option<i64>,
    pub until: Timestamp,
}

impl Engine {
    /// What a due effect asks of budgets; nothing for one whose charge is made already, because an attempt of it may
    /// have happened.
    pub(crate) fn wants(&self, run: &Run, effect: &Effect) -> Vec<Want> {
        if self.policy().budgets.is_empty() || effect.unknown_since.is_some() {
            return Vec::new();
        }
        let provider = self.policy().provider(&effect.provider);
        let root = provider.map_or("", |provider| provider.body_root(&effect.effect_type));
        budget::wants(&self.policy().budgets, run, effect, root)
    }

    /// Plans a batch on one reading of the counts, in its order: whoever came first finds room first. `None` for an
    /// effect that no budget concerns.
    pub(crate) async fn plan_batch(&self, due: &[DueEffect], now: Timestamp) -> Result<Vec<Option<Planned>>> {
        let wants: Vec<Vec<Want>> = due.iter().map(|d| self.wants(&d.run, &d.effect)).collect();
        let mut used = self.used(wants.iter().flatten(), now).await?;
        let plans = wants.into_iter().zip(due).map(|(wants, due)| {
            if wants.is_empty() {
                return None;
            }
            let plan = budget::plan(&wants, &due.effect.charged, &used, now);
            match &plan {
                Plan::Now { charges, .. } | Plan::Later { charges, .. } | Plan::Never { charges, .. } => {
                    used.add(charges);
                }
            }
            Some(Planned { wants, plan })
        });
        Ok(plans.collect())
    }

    /// The counts that these ask for, from the present window on. No question where nothing is asked for.
    async fn used(&self, wants: impl Iterator<Item = &Want>, now: Timestamp) -> Result<Used> {
        let mut scopes: Vec<String> = wants.map(|want| want.scope.clone()).collect();
        scopes.sort_unstable();
        scopes.dedup();
        let mut used = Used::default();
        if !scopes.is_empty() {
            for row in self.store().charge_list(&scopes, now).await? {
                used.insert(row.scope, row.start, row.used);
            }
        }
        Ok(used)
    }

    /// The plan once more, on a fresh reading: somebody else took the room.
    pub(crate) async fn plan_again(&self, wants: Vec<Want>, effect: &Effect, now: Timestamp) -> Result<Planned> {
        let used = self.used(wants.iter(), now).await?;
        let plan = budget::plan(&wants, &effect.charged, &used, now);
        Ok(Planned { wants, plan })
    }

    /// Lets an effect wait, and tells people if nobody was told in this window.
    pub(crate) async fn hold_back(&self, due: &DueEffect, wait: Wait, now: Timestamp) -> Result<Commit> {
        let (_, end) = budget::window(wait.by.window_ms, now);
        let until = if wait.reason == budget::TOO_SMALL { wait.until } else { end };
        let (budget, budgets) = (wait.by.budget.clone(), &self.inner().budgets);
        let is_first = budgets.is_first(&budget, until, now);
        let tells = is_first.then(|| format!("budget:{budget}:{until}"));
        let committed = self.commit(budget::hold(&due.run, &due.effect, wait, tells, now)).await;
        if matches!(committed, Ok(Commit::Committed { .. })) {
            metrics::counter!("effectgate_budget_held_total", "budget" => budget).increment(1);
        } else if is_first {
            budgets.untold(&budget);
        }
        committed
    }

    /// Where every budget stands now. Those with a count for each key or target are listed without one.
    ///
    /// # Errors
    /// The store.
    pub async fn budgets_now(&self) -> Result<Vec<BudgetNow>> {
        let now = self.now();
        let counts: Vec<(&Budget, String)> =
            self.policy().budgets.iter().flat_map(|b| self.counts_of(b).into_iter().map(move |w| (b, w))).collect();
        let scopes: Vec<String> = counts.iter().map(|(budget, whose)| budget.scope(whose)).collect();
        let rows = if scopes.is_empty() { Vec::new() } else { self.store().charge_list(&scopes, now).await? };
        let standing = counts.into_iter().zip(scopes).map(|((budget, whose), scope)| {
            let (start, until) = budget.window(now);
            let used = rows.iter().find(|row| row.scope == scope && row.start == start).map_or(0, |row| row.used);
            let (holder, name) = match &budget.holder {
                Holder::Provider(name) => ("provider", name.as_str()),
                Holder::Flow(name) => ("flow", name.as_str()),
            };
            BudgetNow {
                holder,
                name: name.to_owned(),
                per: budget.per,
                whose,
                limit: budget.limit_words(),
                window_ms: budget.window_ms,
                max: budget.max,
                amount: budget.amount.clone(),
                used: (!matches!(budget.per, Per::Key | Per::Target)).then_some(used),
                until,
            }
        });
        Ok(standing.collect())
    }

    /// The counts of a budget by whose they are: one, or one for each flow or provider of the config.
    fn counts_of(&self, budget: &Budget) -> Vec<String> {
        let policy = self.policy();
        match (&budget.holder, budget.per) {
            (Holder::Provider(_), Per::Flow) => {
                policy.flows.keys().map(|flow| budget.whose_named(Some(flow.as_str()))).collect()
            }
            (Holder::Flow(_), Per::Provider) => {
                policy.providers.keys().map(|provider| budget.whose_named(Some(provider.as_str()))).collect()
            }
            _ => vec![budget.whose_named(None)],
        }
    }
}

/// True if a transition gives a charge back that others may wait for.
pub(crate) fn gives_back(transition: &Transition) -> bool {
    transition.charges.iter().any(|charge| charge.max.is_none())
        && transition.effects.iter().any(|write| write.effect.state.is_final())
}
