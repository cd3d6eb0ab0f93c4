//! Decide: one function for the page, the API and the command line. Journey (b) passes through here.

use effectgate_core::{
    actor::Person,
    approval::{self, Refused, Wish},
    digest::Digest,
    ids::{ApprovalId, Tenant},
    run::Aggregate,
};
use effectgate_store::{Commit, TokenHit};

use crate::{
    engine::Engine,
    error::{EngineError, Result},
    probe,
    view::{self, RunView},
};

/// A decision that was taken, or the same one again.
#[derive(Debug, Clone)]
pub struct Decided {
    pub repeated: bool,
    pub run: RunView,
}

const TRIES_MAX: usize = 16;

impl Engine {
    /// Takes a person's decision on an approval.
    ///
    /// Guarantees: approval, run, outbox and journal in one transaction; the first commit wins; the same person's same
    /// decision again gets the first answer; a refused try is journalled and changes nothing.
    ///
    /// # Errors
    /// [`EngineError::DecisionRefused`] with the approval as it is; not found; the store.
    pub async fn decide(&self, tenant: &Tenant, id: ApprovalId, person: &Person, wish: &Wish) -> Result<Decided> {
        for _ in 0..TRIES_MAX {
            let agg = self.store().run_load(tenant, id.run).await?.ok_or(EngineError::NotFound("approval"))?;
            if !agg.approvals.iter().any(|a| a.id == id) {
                return Err(EngineError::NotFound("approval"));
            }
            if decided_alike(&agg, id, person, wish) {
                return Ok(Decided { repeated: true, run: self.view(&agg).await? });
            }
            let transition = match approval::decide(&agg, id, person, wish, self.now()) {
                Ok(transition) => transition,
                Err(why) => return self.refuse(&agg, id, person, why).await,
            };
            let after = agg.after(&transition);
            probe::at("decide.before_commit").await;
            if self.commit(transition).await? != Commit::Lost {
                probe::at("decide.after_commit").await;
                return Ok(Decided { repeated: false, run: self.view(&after).await? });
            }
        }
        Err(EngineError::Contended)
    }

    async fn refuse(&self, agg: &Aggregate, id: ApprovalId, person: &Person, why: Refused) -> Result<Decided> {
        if let Some(noted) = approval::refused(agg, id, person, &why, self.now()) {
            self.commit(noted).await?;
        }
        let approval = agg.approvals.iter().find(|a| a.id == id).ok_or(EngineError::NotFound("approval"))?;
        let approval = Box::new(view::approval_view(approval));
        Err(EngineError::DecisionRefused { why, approval, run: Box::new(self.view(agg).await?) })
    }

    /// What a link leads to. Changes nothing; an expired token is found and says so.
    ///
    /// # Errors
    /// Unknown token, the store.
    pub async fn token(&self, token: &str) -> Result<(TokenHit, Aggregate)> {
        // Tokens have one length; anything else is not worth a look.
        if token.len() != TOKEN_CHARS {
            return Err(EngineError::UnknownToken);
        }
        let hash = Digest::of(token.as_bytes());
        let hit = self.store().approval_by_token(&hash).await?.ok_or(EngineError::UnknownToken)?;
        let agg = self.store().run_load(&hit.tenant, hit.approval.run).await?.ok_or(EngineError::UnknownToken)?;
        Ok((hit, agg))
    }
}

/// 256 bits in base64url without padding.
const TOKEN_CHARS: usize = 43;

/// A repeated click: the same person, the same verdict.
fn decided_alike(agg: &Aggregate, id: ApprovalId, person: &Person, wish: &Wish) -> bool {
    let decisions = agg.approvals.iter().filter(|a| a.id == id).flat_map(|a| &a.decisions);
    decisions.into_iter().any(|d| d.is_by(person) && d.verdict == wish.verdict)
}
