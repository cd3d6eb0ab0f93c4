//! From one notice to a delivery for each subscription. Safe to do again: a delivery is known by subscription and event.

use std::collections::BTreeMap;

use effectgate_core::{
    actor::Actor,
    event::{self, Event},
    ids::{FlowName, RunId, Tenant},
    run::Aggregate,
    time::Timestamp,
};
use effectgate_store::{ApiKeyRow, DeliveryRow, DeliveryState, SubscriptionRow};

use super::{Ending, body, told::wants};
use crate::{engine::Engine, error::Result};

impl Engine {
    /// Tells of a run that was made in quarantine, if it still is. No transition carries that, so it is fanned out at
    /// once, before the sender is answered: one who gets no answer sends again, and comes by here again.
    ///
    /// # Errors
    /// The store.
    pub(crate) async fn tell_kept(&self, tenant: &Tenant, run: RunId, flow: &FlowName) -> Result<()> {
        if self.is_wanted(event::KEPT.kind, tenant, flow).await {
            // No entry has the number 0, so this meets no other event of the run, however often it is told.
            self.fan_out(tenant, run, 0, self.now(), &[event::KEPT]).await?;
        }
        Ok(())
    }

    /// Makes the deliveries of the events of the run's notice with this number. How many there were.
    pub(crate) async fn fan_out(
        &self,
        tenant: &Tenant,
        run: RunId,
        notice: i64,
        at: Timestamp,
        events: &[Event],
    ) -> Result<usize> {
        // Purged before anybody was told: there is nothing left to tell of.
        let Some(agg) = self.store().run_load(tenant, run).await? else { return Ok(0) };
        let rows = self.store().subscription_list(Some(tenant)).await?;
        let mut keys = BTreeMap::new();
        let mut deliveries = Vec::new();
        for row in rows.iter().filter(|row| events.iter().any(|e| wants(row, e.kind, tenant, &agg.run.flow))) {
            if !keys.contains_key(&row.api_key) {
                keys.insert(row.api_key.clone(), self.store().api_key_find(&row.api_key).await?);
            }
            match keys.get(&row.api_key).and_then(Option::as_ref).filter(|key| key.revoked_at.is_none()) {
                None => drop(self.end_subscription(row, &MESSENGER, Ending::KeyRevoked).await?),
                Some(key) if may_hear(key, &agg.run.flow) => {
                    deliveries.extend(self.deliveries(row, notice, at, events, &agg));
                }
                Some(_) => {}
            }
        }
        self.store().delivery_add(&deliveries).await?;
        if !deliveries.is_empty() {
            self.nudges().messenger.notify_one();
        }
        Ok(deliveries.len())
    }

    fn deliveries(
        &self,
        row: &SubscriptionRow,
        notice: i64,
        at: Timestamp,
        events: &[Event],
        agg: &Aggregate,
    ) -> Vec<DeliveryRow> {
        let now = self.now();
        let wanted = events.iter().enumerate().filter(|(_, e)| wants(row, e.kind, &agg.run.tenant, &agg.run.flow));
        let delivery = |(place, event): (usize, &Event)| DeliveryRow {
            subscription: row.id,
            event: event::id(agg.run.id, notice, place),
            kind: event.kind,
            body: serde_json::to_string(&body::of(*event, at, agg)).expect("bodies are made of strings and numbers"),
            state: DeliveryState::Pending,
            attempts: 0,
            due_at: now,
            created_at: now,
        };
        wanted.map(delivery).collect()
    }
}

/// Who ends what nobody asked to end.
pub(super) const MESSENGER: Actor = Actor::System("messenger");

/// A key that is bound to flows hears of those alone.
fn may_hear(key: &ApiKeyRow, flow: &FlowName) -> bool {
    key.flows.is_empty() || key.flows.iter().any(|f| f == flow.as_str())
}
