//! The flows that this process knows to be noted in the table `flows`: the first reservation of each notes it, before it
//! is made, so that every run's flow stands there. No statement lives here; each twin notes with its own.

use std::{
    collections::{HashMap, HashSet},
    sync::{PoisonError, RwLock},
};

use effectgate_core::ids::{FlowName, Tenant};

/// Grows to the number of tenants and flows of the config: reservations of other flows never come this far.
#[derive(Debug, Default)]
pub(crate) struct KnownFlows(RwLock<HashMap<Tenant, HashSet<FlowName>>>);

impl KnownFlows {
    pub(crate) fn has(&self, tenant: &Tenant, flow: &FlowName) -> bool {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        known.get(tenant).is_some_and(|flows| flows.contains(flow))
    }

    pub(crate) fn add(&self, tenant: Tenant, flow: FlowName) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).entry(tenant).or_default().insert(flow);
    }
}
