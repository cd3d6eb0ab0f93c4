//! Puts events into the transition that made them so: one notice more, and only where somebody subscribed. Without
//! `[n8n]` there can be no subscription, and nothing is looked up.

use std::sync::Arc;

use effectgate_core::{
    event::{self, EventKind},
    ids::{FlowName, Tenant},
    time::Timestamp,
    transition::Transition,
};
use effectgate_store::SubscriptionRow;
use tokio::sync::Mutex;

use crate::{engine::Engine, n8n::FLOW};

/// How old what one process knows of the subscriptions may be. What another replica's subscriber misses is what
/// happened within this time of its registration; one small read in that time is nothing to a database.
const KNOWN_MS: i64 = 2_000;

/// What one process knows of the subscriptions.
#[derive(Default)]
pub(crate) struct Known(Mutex<Option<(Timestamp, Arc<[SubscriptionRow]>)>>);

impl Known {
    /// The next one who asks reads anew.
    pub(crate) async fn forget(&self) {
        *self.0.lock().await = None;
    }
}

impl Engine {
    /// Adds the notice of the transition's events that somebody wants to hear of.
    ///
    /// To be asked before the retention's ends are put in (see [`event::of`]).
    pub(crate) async fn tell_events(&self, transition: &mut Transition) {
        if self.policy().n8n.is_none() {
            return;
        }
        let mut events = event::of(transition);
        if events.is_empty() {
            return;
        }
        let known = self.subscribers().await;
        let run = &transition.run;
        events.retain(|event| match &known {
            Some(rows) => rows.iter().any(|row| wants(row, event.kind, &run.tenant, &run.flow)),
            // Not known: the fan-out will see.
            None => true,
        });
        let notice = event::notice(transition, events);
        transition.notices.extend(notice);
    }

    /// True if somebody may want to hear of it.
    pub(super) async fn is_wanted(&self, kind: EventKind, tenant: &Tenant, flow: &FlowName) -> bool {
        self.policy().n8n.is_some()
            && self.subscribers().await.is_none_or(|rows| rows.iter().any(|row| wants(row, kind, tenant, flow)))
    }

    /// The subscriptions as they were at most [`KNOWN_MS`] ago. `None` if they cannot be read.
    async fn subscribers(&self) -> Option<Arc<[SubscriptionRow]>> {
        // Held while one reads: the others wait for that reading instead of making their own.
        let mut known = self.inner().subscribers.0.lock().await;
        let now = self.now();
        if let Some((at, rows)) = &*known
            && (0..KNOWN_MS).contains(&now.ms_since(*at))
        {
            return Some(Arc::clone(rows));
        }
        match self.store().subscription_list(None).await {
            Ok(rows) => {
                let rows: Arc<[SubscriptionRow]> = rows.into();
                *known = Some((now, Arc::clone(&rows)));
                Some(rows)
            }
            Err(error) => {
                tracing::warn!(%error, "the subscriptions cannot be read; the event is kept for whoever there is");
                None
            }
        }
    }
}

/// True if the subscription is for this event. What its key may touch is asked at the fan-out.
pub(super) fn wants(row: &SubscriptionRow, kind: EventKind, tenant: &Tenant, flow: &FlowName) -> bool {
    row.tenant == *tenant
        && row.events.contains(&kind)
        && match &row.flow {
            Some(wanted) => wanted == flow,
            // The gate's own runs, which resume executions: whoever wants to hear of them names them.
            None => flow.as_str() != FLOW,
        }
}
