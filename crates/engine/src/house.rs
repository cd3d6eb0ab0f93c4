//! Changes that belong to no run, in a tenant's house chain: the entry is sealed onto the head as it stands, and once
//! more if somebody else was faster.

use effectgate_core::{
    actor::Actor,
    ids::{RunId, Tenant},
    journal::{EntryKind, Facts, Head, seal},
    switch::Receipt,
};
use effectgate_store::{HouseCommit, HouseWrite};

use crate::{
    engine::Engine,
    error::{EngineError, Result},
};

/// As in `change`: a chain that keeps moving under sixteen looks is a fault.
const TRIES_MAX: usize = 16;

impl Engine {
    /// Commits one entry of the house chain; `fill` adds what changes with it (an API key, an account).
    ///
    /// Answers with the entry's number, and the receipt where a switch was turned.
    ///
    /// Guarantees: entry and change in one transaction.
    ///
    /// # Errors
    /// The store; contended.
    pub(crate) async fn house_entry(
        &self,
        tenant: &Tenant,
        actor: &Actor,
        kind: EntryKind,
        facts: &Facts,
        fill: impl Fn(&mut HouseWrite) + Send + Sync,
    ) -> Result<(i64, Option<Receipt>)> {
        for _ in 0..TRIES_MAX {
            let head = self.store().house_head(tenant).await?;
            let seq = head.seq + 1;
            if let HouseCommit::Committed { receipt } = self.house_try(tenant, head, actor, kind, facts, &fill).await? {
                return Ok((seq, receipt));
            }
        }
        Err(EngineError::Contended)
    }

    /// One try, on a head that was read before what `fill` writes was: nothing comes in between unseen.
    ///
    /// # Errors
    /// The store.
    pub(crate) async fn house_try(
        &self,
        tenant: &Tenant,
        mut head: Head,
        actor: &Actor,
        kind: EntryKind,
        facts: &Facts,
        fill: impl FnOnce(&mut HouseWrite) + Send,
    ) -> Result<HouseCommit> {
        let expected_seq = head.seq;
        let entry = seal(&mut head, RunId::house(tenant), self.now(), kind, actor, facts);
        let mut write = HouseWrite {
            tenant: tenant.clone(),
            expected_seq,
            head,
            entries: vec![entry],
            switch: None,
            api_key: None,
            user: None,
            replay: None,
            subscription: None,
            notices: Vec::new(),
        };
        fill(&mut write);
        Ok(self.store().house_commit(write).await?)
    }
}
