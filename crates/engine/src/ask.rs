//! Ask: a person wants to know now what the provider says about an effect. The question goes through the same connector
//! as the reconciler's, never writes over there, and changes nothing here but the record: what follows from the answer
//! is the person's to say.

use effectgate_core::{
    actor::Actor,
    ids::{EffectId, Tenant},
    journal::{EntryKind, SealedEntry},
    retry::Look,
    sending,
    time::Timestamp,
};
use serde_json::Value;

use crate::{
    engine::{Engine, Step},
    error::Result,
    inline::find,
    panics::caught,
};

/// What came of asking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    Looked(Look),
    /// Somebody asked a moment ago; that answer stands.
    JustNow,
    /// The provider declares no lookup, or is not in the config.
    NoLookup,
    /// No attempt was ever made, so there is nothing to look for.
    NothingSent,
}

/// A second click, and two people at once, get the same answer. Longer than a click, shorter than a person's patience.
const PAUSE_MS: i64 = 5_000;

/// How far back the last look is searched for.
const ENTRIES: i64 = 200;

impl Engine {
    /// Asks the provider what became of an effect, and records the answer as a look.
    ///
    /// # Errors
    /// Not found, the store. A provider that does not answer is an answer: [`Look::Nothing`].
    pub async fn ask_provider(&self, tenant: &Tenant, id: EffectId, actor: &Actor) -> Result<Asked> {
        let agg = self.load(tenant, id.run).await?;
        let effect = find(&agg, id)?;
        if effect.fence.0 == 0 {
            return Ok(Asked::NothingSent);
        }
        let Some(policy) = self.policy().provider(&effect.provider).filter(|p| p.provider.lookup.is_some()) else {
            return Ok(Asked::NoLookup);
        };
        let after = (agg.run.head.seq - ENTRIES).max(0);
        let entries = self.store().journal_read(id.run, after, ENTRIES as u32).await?;
        if entries.iter().rev().any(|entry| asked_just_now(entry, id, self.now())) {
            return Ok(Asked::JustNow);
        }
        let look = caught(policy.connector.look(effect)).await.unwrap_or_else(|detail| Look::Nothing { detail });
        self.change(tenant, id.run, |agg, now| {
            let noted = sending::asked(&agg.run, find(agg, id)?, actor, &look, now);
            Ok(Step::Write(Box::new(noted), ()))
        })
        .await?;
        Ok(Asked::Looked(look))
    }
}

fn asked_just_now(entry: &SealedEntry, id: EffectId, now: Timestamp) -> bool {
    if entry.kind != EntryKind::Looked.as_str() || now.ms_since(entry.at) >= PAUSE_MS {
        return false;
    }
    let facts = serde_json::from_str::<Value>(&entry.text).unwrap_or_default();
    facts["facts"]["effect"] == id.to_string() && facts["facts"]["reason"] == sending::ASKED
}
