//! Reconcile: settle unknown effects by evidence. Ask where a lookup is declared, re-issue where the provider's key
//! holds, else hand over to a person. Lookups never write.

use effectgate_core::{
    effect::Effect,
    look,
    provider::Provider,
    retry::{self, Look, Settlement},
    sending,
    time::Timestamp,
};
use effectgate_store::{Commit, DueEffect};
use futures_util::future::join_all;

use crate::{
    engine::{Engine, Step},
    error::{EngineError, Result},
    inline::find,
    panics::caught,
    policy::ProviderPolicy,
};

/// What one tick of the reconciler saw and did.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct ReconcileReport {
    pub seen: usize,
    pub asked: usize,
    pub moved: usize,
    pub lost: usize,
}

impl Engine {
    /// Looks at the unknown effects that are due.
    ///
    /// # Errors
    /// The store.
    pub async fn reconcile_tick(&self) -> Result<ReconcileReport> {
        let due = self.store().effect_unknown(self.policy().sweeper.batch).await?;
        let mut report = ReconcileReport { seen: due.len(), ..ReconcileReport::default() };
        // Lookups are reads over the network; eight at a time keep a slow provider from holding up the rest for long.
        for chunk in due.chunks(8) {
            for done in join_all(chunk.iter().map(|due| self.reconcile(due))).await {
                let (asked, commit) = done?;
                report.asked += usize::from(asked);
                match commit {
                    Commit::Committed { .. } => report.moved += 1,
                    _ => report.lost += 1,
                }
            }
        }
        Ok(report)
    }

    async fn reconcile(&self, due: &DueEffect) -> Result<(bool, Commit)> {
        let effect = &due.effect;
        let Some(policy) = self.policy().provider(&effect.provider) else {
            return self.to_review(due, "provider_unconfigured").await;
        };
        // What a lookup says was so when it was asked: an answer that was long under way (a slow provider, a suspended
        // machine) knows nothing of an index that caught up meanwhile.
        let (asked_at, rules) = (self.now(), policy.rules(&effect.effect_type));
        let mut settlement = retry::reconcile(effect, rules, None, asked_at);
        let look = match settlement {
            // A connector that breaks down said nothing; the others are looked at all the same.
            Settlement::AskFirst => {
                Some(caught(self.look_at(policy, effect)).await.unwrap_or_else(|detail| Look::Nothing { detail }))
            }
            _ => None,
        };
        if look.is_some() {
            settlement = retry::reconcile(effect, rules, look.as_ref(), asked_at);
        }
        let transition = sending::reconciled(&due.run, effect, &settlement, look.as_ref(), self.now());
        let commit = match transition {
            Some(transition) => self.commit(transition).await?,
            None => Commit::Lost,
        };
        if let (Commit::Lost, Some(look)) = (&commit, &look) {
            self.came_too_late(due, rules, look, asked_at).await?;
        }
        Ok((look.is_some(), commit))
    }

    /// The provider was asked, and meanwhile somebody else settled the effect. What it said is not lost if it says
    /// otherwise: it is recorded and told, and changes nothing (HC-27).
    async fn came_too_late(
        &self,
        due: &DueEffect,
        provider: &Provider,
        look: &Look,
        asked_at: Timestamp,
    ) -> Result<()> {
        let noted = self.change(&due.run.tenant, due.run.id, |agg, now| {
            let effect = find(agg, due.effect.id)?;
            let meaning = look::meaning(effect, provider, look, asked_at);
            Ok(match look::too_late(&agg.run, effect, look, meaning, now) {
                Some(noted) => Step::Write(Box::new(noted), ()),
                None => Step::Answer(()),
            })
        });
        match noted.await {
            // Purged in the meantime: nothing is left to put it on.
            Ok(_) | Err(EngineError::NotFound(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Asks the provider, with the time of the last attempt where the connector goes by it. A database that does not say
    /// when that was leaves the connector without.
    pub(crate) async fn look_at(&self, provider: &ProviderPolicy, effect: &Effect) -> Look {
        let attempts = match provider.connector.goes_by_time() {
            true => self.store().attempt_list(effect.id.run).await.unwrap_or_default(),
            false => Vec::new(),
        };
        let own = attempts.iter().filter(|attempt| attempt.effect == effect.id);
        let last = own.max_by_key(|attempt| attempt.fence).map(|attempt| attempt.started_at);
        provider.connector.look_since(effect, last).await
    }

    async fn to_review(&self, due: &DueEffect, reason: &'static str) -> Result<(bool, Commit)> {
        let settlement = Settlement::Review { reason };
        match sending::reconciled(&due.run, &due.effect, &settlement, None, self.now()) {
            Some(transition) => Ok((false, self.commit(transition).await?)),
            None => Ok((false, Commit::Lost)),
        }
    }
}
