//! Renew: the owner with the fence prolongs its lease, within the chain's total.

use effectgate_core::{
    ids::{Fence, Owner, RunId, Tenant},
    lease,
};
use effectgate_store::Commit;

use crate::{
    engine::Engine,
    error::{EngineError, Result},
    view::{self, LeaseView},
};

const TRIES_MAX: usize = 16;

impl Engine {
    /// Prolongs a lease that lives. Its end is the database's clock plus the length, at most the chain's total.
    ///
    /// # Errors
    /// Lease lost, out of bounds, not found, the store.
    pub async fn renew(
        &self,
        tenant: &Tenant,
        id: RunId,
        owner: &Owner,
        fence: Fence,
        lease_ms: Option<i64>,
    ) -> Result<LeaseView> {
        for _ in 0..TRIES_MAX {
            let agg = self.load(tenant, id).await?;
            let bounds = self.flow_of(&agg)?.flow.lease;
            let ms = bounds.pick(lease_ms).map_err(EngineError::BadLease)?;
            if !agg.holds_lease(owner, fence) {
                return Err(EngineError::LeaseLost { run: Box::new(self.view(&agg).await?) });
            }
            let transition = lease::renew(&agg.run, owner, fence, ms, &bounds, self.now());
            if let Commit::Committed { lease: Some(lease) } = self.commit(transition).await? {
                return Ok(view::lease_view(&agg.run, &lease));
            }
        }
        Err(EngineError::Contended)
    }
}
