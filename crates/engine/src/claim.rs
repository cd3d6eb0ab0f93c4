//! Claim: a worker that polls takes the oldest run of a flow that is due (queued, failed_retryable, or left behind).

use effectgate_core::ids::{FlowName, Owner, RunId, Tenant};
use serde_json::value::RawValue;

use crate::{
    call,
    engine::{Caller, Engine},
    error::{EngineError, Result},
    reserve::Reserved,
};

/// Candidates looked at for one claim. More would only help workers that collide on every one of them.
const CANDIDATES: u32 = 20;

impl Engine {
    /// Claims a due run of a flow; `None` if there is none.
    ///
    /// Guarantees: as for [`Engine::reserve`]; two callers never get the same run.
    ///
    /// # Errors
    /// Unknown flow, bad owner or lease, the store.
    pub async fn claim(
        &self,
        caller: &Caller,
        flow: &FlowName,
        owner: Option<&str>,
        lease_ms: Option<i64>,
    ) -> Result<Option<Reserved>> {
        if self.policy().is_own(flow) {
            return Err(EngineError::UnknownFlow);
        }
        let policy = self.policy().flow(flow).ok_or(EngineError::UnknownFlow)?;
        let lease_ms = policy.flow.lease.pick(lease_ms).map_err(EngineError::BadLease)?;
        let owner = match owner {
            Some(text) => call::owner(text)?,
            None => Owner::new(uuid::Uuid::new_v4().to_string()),
        };
        for id in self.store().run_claimable(&caller.tenant, flow, CANDIDATES).await? {
            let Some(agg) = self.store().run_load(&caller.tenant, id).await? else { continue };
            if let Some(granted) = self.claim_now(&agg.run, &owner, lease_ms).await? {
                return Ok(Some(granted));
            }
        }
        Ok(None)
    }

    /// The payload of a run, as the text that came in: for the worker that was granted it and did not bring it. `None`
    /// where only a hash was given, or where it was erased.
    ///
    /// # Errors
    /// The store.
    pub async fn payload(&self, tenant: &Tenant, id: RunId) -> Result<Option<Box<RawValue>>> {
        let content = self.store().run_content(tenant, id).await?;
        Ok(content.and_then(|content| content.payload).and_then(|text| RawValue::from_string(text).ok()))
    }
}
