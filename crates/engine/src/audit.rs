//! Audit: read one chain, verify all of a tenant's chains, walk over every entry for an export. Reads only. Chains grow
//! while they are read: each is judged against the head that was read before its entries, so a busy gate verifies too.

use effectgate_core::{
    ids::{RunId, Tenant},
    journal::{self, SealedEntry},
};
use effectgate_store::ChainHead;
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    engine::Engine,
    error::{EngineError, Result},
};

/// What a verification found.
#[derive(Debug, Clone, Default, Serialize, ToSchema)]
pub struct Audit {
    pub chains: u64,
    pub entries: u64,
    /// Where chains are broken, the first break of each.
    pub broken: Vec<Broken>,
    /// Where to go on; `None` when every chain was seen.
    #[schema(value_type = Option<String>)]
    pub next: Option<RunId>,
}

/// One chain that does not verify.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Broken {
    #[schema(value_type = String)]
    pub run: RunId,
    pub detail: String,
}

/// Chains read at once.
const HEADS_PAGE: u32 = 200;
/// Entries read at once; a chain is a few dozen, the house's may be thousands.
const ENTRIES_PAGE: u32 = 1_000;

impl Engine {
    /// A run's entries after number `after_seq`, in order, at most `limit`.
    ///
    /// # Errors
    /// Not found in this tenant, the store.
    pub async fn journal(&self, tenant: &Tenant, id: RunId, after_seq: i64, limit: u32) -> Result<Vec<SealedEntry>> {
        let is_house = id == RunId::house(tenant);
        if !is_house && self.store().run_load(tenant, id).await?.is_none() {
            return Err(EngineError::NotFound("run"));
        }
        Ok(self.store().journal_read(id, after_seq, limit).await?)
    }

    /// Verifies a tenant's chains after `after`, at most `chains_max` (rounded up to a page).
    ///
    /// # Errors
    /// The store. A broken chain is a finding, not an error.
    pub async fn audit(&self, tenant: &Tenant, after: Option<RunId>, chains_max: u64) -> Result<Audit> {
        let mut audit = Audit { next: after, ..Audit::default() };
        while audit.chains < chains_max {
            let heads = self.chains(tenant, audit.next).await?;
            audit.next = heads.last().map(|head| head.run).filter(|_| heads.len() == HEADS_PAGE as usize);
            for head in &heads {
                self.audit_chain(head, &mut audit).await?;
            }
            if audit.next.is_none() {
                break;
            }
        }
        Ok(audit)
    }

    async fn audit_chain(&self, chain: &ChainHead, audit: &mut Audit) -> Result<()> {
        let entries = self.chain(chain).await?;
        audit.chains += 1;
        audit.entries += entries.len() as u64;
        if let Err(error) = journal::verify(chain.run, &entries, chain.head)
            && !self.is_gone(chain).await?
        {
            audit.broken.push(Broken { run: chain.run, detail: error.to_string() });
        }
        Ok(())
    }

    /// Purged between the reading of the head and of the entries.
    async fn is_gone(&self, chain: &ChainHead) -> Result<bool> {
        if chain.run == RunId::house(&chain.tenant) {
            return Ok(false);
        }
        Ok(self.store().run_load(&chain.tenant, chain.run).await?.is_none())
    }

    /// A page of a tenant's chains.
    ///
    /// # Errors
    /// The store.
    pub async fn chains(&self, tenant: &Tenant, after: Option<RunId>) -> Result<Vec<ChainHead>> {
        Ok(self.store().chain_heads(Some(tenant), after, HEADS_PAGE).await?)
    }

    /// A chain's entries up to the head that was read before them.
    ///
    /// # Errors
    /// The store.
    pub async fn chain(&self, chain: &ChainHead) -> Result<Vec<SealedEntry>> {
        let mut entries: Vec<SealedEntry> = Vec::new();
        loop {
            let after = entries.last().map_or(0, |entry| entry.seq);
            let page = self.store().journal_read(chain.run, after, ENTRIES_PAGE).await?;
            let is_last = page.len() < ENTRIES_PAGE as usize;
            entries.extend(page.into_iter().filter(|entry| entry.seq <= chain.head.seq));
            if is_last || entries.last().is_none_or(|entry| entry.seq >= chain.head.seq) {
                return Ok(entries);
            }
        }
    }
}
