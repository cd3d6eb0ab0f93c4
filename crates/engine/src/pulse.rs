//! Tells open pages that something changed, and nothing of what: a counter for each topic of each tenant, raised after a
//! commit of this process. What deliberately does not live here: content, and any promise. A page that hears nothing is
//! as right as one without JavaScript: it shows what was true when it was made.
//!
//! What other processes commit is found by [`Engine::look_elsewhere`]: a few index reads that together change whenever
//! a run, an effect, an open approval or a switch does, made at most once per [`PERIOD`] and tenant, and only while
//! somebody listens.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use effectgate_core::{ids::Tenant, transition::Transition};
use effectgate_store::{ApprovalFilter, EffectFilter, RunFilter};
use tokio::{sync::watch, time::Instant};

use crate::{engine::Engine, error::Result};

/// What a page may wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Topic {
    Inbox,
    Runs,
    Effects,
    Switches,
}

impl Topic {
    pub const ALL: [Self; 4] = [Self::Inbox, Self::Runs, Self::Effects, Self::Switches];

    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Inbox => "inbox",
            Self::Runs => "runs",
            Self::Effects => "effects",
            Self::Switches => "switches",
        }
    }
}

/// How often each topic changed, as far as this process knows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts([u64; Topic::ALL.len()]);

impl Counts {
    /// The topics that changed since an earlier reading.
    #[must_use]
    pub fn since(self, before: Self) -> Vec<Topic> {
        let differs = |topic: &Topic| self.0[*topic as usize] != before.0[*topic as usize];
        Topic::ALL.into_iter().filter(differs).collect()
    }
}

type All = HashMap<Tenant, Counts>;

/// How often one process looks for what others committed. A decision is waited for in minutes; ten seconds are soon
/// enough, and four index reads in ten seconds are nothing to a database.
pub const PERIOD: Duration = Duration::from_secs(10);

/// The counters of one process. Tenants come from the config and from API keys, so their number is bounded by those.
pub(crate) struct Pulse {
    counts: watch::Sender<All>,
    seen: Mutex<HashMap<Tenant, Seen>>,
}

/// What was last seen of a tenant in the database.
struct Seen {
    at: Instant,
    marks: Option<[String; Topic::ALL.len()]>,
}

impl Default for Pulse {
    fn default() -> Self {
        Self { counts: watch::Sender::new(All::new()), seen: Mutex::default() }
    }
}

impl Pulse {
    pub(crate) fn is_heard(&self) -> bool {
        self.counts.receiver_count() > 0
    }

    /// Raises counters. Free where nobody listens: the reserve path passes here thousands of times a second.
    pub(crate) fn raise(&self, tenant: &Tenant, topics: &[Topic]) {
        if !self.is_heard() || topics.is_empty() {
            return;
        }
        self.counts.send_modify(|all| {
            let counts = all.entry(tenant.clone()).or_default();
            topics.iter().for_each(|topic| counts.0[*topic as usize] += 1);
        });
    }

    /// True if this tenant's period is over; the caller then looks, and nobody else does.
    fn is_due(&self, tenant: &Tenant) -> bool {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        match seen.get_mut(tenant) {
            Some(seen) if now.duration_since(seen.at) < PERIOD => false,
            Some(seen) => {
                seen.at = now;
                true
            }
            None => {
                seen.insert(tenant.clone(), Seen { at: now, marks: None });
                true
            }
        }
    }

    /// Notes what the database shows now; answers what differs from the last look.
    fn note(&self, tenant: &Tenant, marks: [String; Topic::ALL.len()]) -> Vec<Topic> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(seen) = seen.get_mut(tenant) else { return Vec::new() };
        let before = seen.marks.replace(marks);
        let now = seen.marks.as_ref();
        let differs = |topic: &Topic| {
            let of = |marks: Option<&[String; Topic::ALL.len()]>| marks.map(|marks| marks[*topic as usize].clone());
            before.is_some() && of(before.as_ref()) != of(now)
        };
        Topic::ALL.into_iter().filter(differs).collect()
    }
}

impl Engine {
    /// Wakes whenever a counter was raised; [`Listener::counts`] says which.
    #[must_use]
    pub fn listen(&self) -> Listener {
        Listener(self.inner().pulse.counts.subscribe())
    }

    /// Raises the counters of what a commit changed.
    pub(crate) fn tell_pages(&self, touched: &Touched) {
        self.inner().pulse.raise(&touched.tenant, &touched.topics);
    }

    /// Looks for what other processes committed, if this tenant's turn has come. Nothing to find is no error.
    ///
    /// # Errors
    /// The store.
    pub async fn look_elsewhere(&self, tenant: &Tenant) -> Result<()> {
        let pulse = &self.inner().pulse;
        if pulse.is_due(tenant) {
            let marks = self.marks(tenant).await?;
            let topics = pulse.note(tenant, marks);
            pulse.raise(tenant, &topics);
        }
        Ok(())
    }

    /// For each topic a text that differs after a change of it: the newest row, or the head of a chain.
    async fn marks(&self, tenant: &Tenant) -> Result<[String; Topic::ALL.len()]> {
        let store = self.store();
        let open = ApprovalFilter { state: Some("open".into()), cursor: None, limit: 1 };
        let inbox = store.approval_find(tenant, &open).await?;
        let runs = store.run_find(tenant, &RunFilter { limit: 1, ..RunFilter::default() }).await?;
        let effects = store.effect_find(tenant, &EffectFilter { limit: 1, ..EffectFilter::default() }).await?;
        let house = store.house_head(tenant).await?;
        let inbox = inbox.items.first().map(|a| format!("{}{:?}", a.approval.id, a.approval.decisions.len()));
        let effect = effects.items.first().map(|e| format!("{}{}", e.effect.id, e.effect.updated_at));
        let run = runs.items.first().map(|r| format!("{}{}", r.id, r.updated_at));
        Ok([inbox, run, effect, Some(house.seq.to_string())].map(Option::unwrap_or_default))
    }
}

/// What a transition changed, kept while the transition itself is handed to the store.
pub(crate) struct Touched {
    tenant: Tenant,
    topics: Vec<Topic>,
}

impl Touched {
    pub(crate) fn by(transition: &Transition) -> Self {
        let mut topics = vec![Topic::Runs];
        topics.extend((!transition.approvals.is_empty()).then_some(Topic::Inbox));
        topics.extend((!transition.effects.is_empty()).then_some(Topic::Effects));
        Self { tenant: transition.run.tenant.clone(), topics }
    }

    pub(crate) fn of(tenant: &Tenant, topic: Topic) -> Self {
        Self { tenant: tenant.clone(), topics: vec![topic] }
    }
}

/// Somebody who waits for changes.
pub struct Listener(watch::Receiver<All>);

impl Listener {
    /// Returns when any tenant's counter was raised since the last reading.
    pub async fn raised(&mut self) {
        if self.0.changed().await.is_err() {
            // The engine is gone; nothing will change any more.
            std::future::pending::<()>().await;
        }
    }

    /// The counters of a tenant as they are now.
    pub fn counts(&mut self, tenant: &Tenant) -> Counts {
        self.0.borrow_and_update().get(tenant).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks(inbox: &str, runs: &str) -> [String; Topic::ALL.len()] {
        [inbox, runs, "", ""].map(str::to_owned)
    }

    #[test]
    fn a_listener_hears_of_its_own_tenant_and_of_the_topics_that_changed() {
        let (pulse, house, other) = (Pulse::default(), Tenant::new("house"), Tenant::new("other"));
        pulse.raise(&house, &[Topic::Runs]);
        let mut listener = Listener(pulse.counts.subscribe());
        let before = listener.counts(&house);

        pulse.raise(&house, &[Topic::Runs, Topic::Inbox]);

        assert_eq!(listener.counts(&house).since(before), [Topic::Inbox, Topic::Runs]);
        assert_eq!(listener.counts(&other), Counts::default());
    }

    #[tokio::test]
    async fn what_others_committed_is_a_difference_between_two_looks_and_looks_are_rare() {
        let (pulse, house) = (Pulse::default(), Tenant::new("house"));
        assert!(pulse.is_due(&house) && !pulse.is_due(&house));

        assert_eq!(pulse.note(&house, marks("a", "b")), []);
        assert_eq!(pulse.note(&house, marks("a", "b")), []);
        assert_eq!(pulse.note(&house, marks("c", "b")), [Topic::Inbox]);
    }
}
