//! Decide: one function for the page, the API and the command line. Journey (b) passes through here. Taking the question
//! back stands beside it.

use effectgate_core::{
    actor::Person,
    approval::{self, Approval, ApprovalState, Refused, Verdict, Wish},
    digest::Digest,
    ids::{ApprovalId, Tenant},
    operate::Asker,
    run::Aggregate,
    transition::Transition,
};
use effectgate_store::{Commit, TokenHit};

use crate::{
    check,
    engine::{Engine, Step},
    error::{EngineError, Result},
    operate,
    probe::{self, Guard},
    view::{self, ChangeView, Findings, RunView},
};

/// A decision that was taken, or the same one again.
#[derive(Debug, Clone)]
pub struct Decided {
    pub repeated: bool,
    pub run: RunView,
}

/// Why a wish did not become a decision, with what is wrong in an edit.
struct Refusal {
    why: Refused,
    findings: Findings,
}

impl From<Refused> for Refusal {
    fn from(why: Refused) -> Self {
        Self { why, findings: Vec::new() }
    }
}

const TRIES_MAX: usize = 16;

impl Engine {
    /// Takes a person's decision on an approval. An edit is checked by the rules of a proposal first.
    ///
    /// Guarantees: approval, run, outbox and journal in one transaction; the first commit wins; the same person's same
    /// decision again gets the first answer; a refused try is journalled and changes nothing.
    ///
    /// # Errors
    /// [`EngineError::DecisionRefused`] with the approval as it is; not found; an edit in a flow that has left the
    /// config; the store.
    pub async fn decide(&self, tenant: &Tenant, id: ApprovalId, person: &Person, wish: &Wish) -> Result<Decided> {
        let mut person = self.whole(tenant, person).await?;
        let mut wish = wish.clone();
        for _ in 0..TRIES_MAX {
            let mut agg = self.store().run_load(tenant, id.run).await?.ok_or(EngineError::NotFound("approval"))?;
            without_guards(&mut agg, id, &mut person, &mut wish);
            let (person, wish) = (&person, &wish);
            let approval = find(&agg, id)?;
            if approval.repeats(person, wish) {
                return Ok(Decided { repeated: true, run: self.view(&agg).await? });
            }
            let transition = match self.wished(&agg, approval, person, wish).await? {
                Ok(transition) => transition,
                Err(refusal) => return self.refuse(&agg, id, person, wish, refusal).await,
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

    /// Who may, then whether the edit is right, then core's word. In this order nobody learns of the rules for effects
    /// by trying who may not decide.
    async fn wished(
        &self,
        agg: &Aggregate,
        approval: &Approval,
        person: &Person,
        wish: &Wish,
    ) -> Result<Result<Transition, Refusal>> {
        if wish.verdict == Verdict::Edit
            && approval.is_open(self.now())
            && approval::may_decide(approval, person, wish).is_ok()
        {
            let content = self.store().run_content(&agg.run.tenant, agg.run.id).await?.unwrap_or_default();
            let asked = wish.edited.as_deref().unwrap_or_default();
            let payload = content.payload.as_deref();
            let findings = check::edit(self.policy(), self.flow_of(agg)?, approval, asked, payload);
            if !findings.is_empty() {
                return Ok(Err(Refusal { why: Refused::InvalidEdit, findings }));
            }
        }
        let now = if probe::is_broken(Guard::Expiry) { approval.created_at } else { self.now() };
        Ok(approval::decide(agg, approval.id, person, wish, now).map_err(Refusal::from))
    }

    async fn refuse(
        &self,
        agg: &Aggregate,
        id: ApprovalId,
        person: &Person,
        wish: &Wish,
        Refusal { why, findings }: Refusal,
    ) -> Result<Decided> {
        if let Some(noted) = approval::refused(agg, id, person, &why, self.now()) {
            self.commit(noted).await?;
        }
        let approval = find(agg, id)?;
        let changes = match &why {
            Refused::Changed { .. } => changed_since(approval, wish.shown),
            _ => Vec::new(),
        };
        let approval = Box::new(view::approval_view(approval));
        let run = Box::new(self.view(agg).await?);
        Err(EngineError::DecisionRefused { why, findings, changes, approval, run })
    }

    /// Takes a question back: the approval ends withdrawn and its run with it. True in the first place if it was done
    /// before, by anybody.
    ///
    /// # Errors
    /// Not entitled, no reason, ended otherwise, not found, the store.
    pub async fn withdraw(
        &self,
        tenant: &Tenant,
        id: ApprovalId,
        asker: &Asker,
        reason: &str,
    ) -> Result<(bool, RunView)> {
        let changed = self.change(tenant, id.run, |agg, now| {
            let approval = find(agg, id)?;
            let by = approval.terms.withdrawn.as_ref().map(|w| w.by.as_str());
            if approval.state == ApprovalState::Withdrawn && by == Some(asker.actor.to_string().as_str()) {
                return Ok(Step::Answer(true));
            }
            let transition =
                approval::withdraw(agg, id, asker, reason, now).map_err(|why| operate::refused(agg, why))?;
            Ok(Step::Write(Box::new(transition), false))
        });
        let (repeated, after) = changed.await.map_err(named)?;
        Ok((repeated, self.view(&after).await?))
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

/// What a decision is held against in a process that runs without one of the guards; otherwise nothing changes.
fn without_guards(agg: &mut Aggregate, id: ApprovalId, person: &mut Person, wish: &mut Wish) {
    let Some(approval) = agg.approvals.iter_mut().find(|a| a.id == id) else { return };
    if probe::is_broken(Guard::Role) {
        person.roles.extend(approval.terms.audience.iter().filter_map(|m| m.strip_prefix("role:")).map(str::to_owned));
    }
    if probe::is_broken(Guard::DecidedBytes) {
        wish.shown = approval.effects_hash;
    }
    if probe::is_broken(Guard::TokenSingleUse) && approval.decisions.last().is_some_and(|d| d.verdict != wish.verdict) {
        approval.state = ApprovalState::Open;
        approval.decisions.clear();
    }
}

/// 256 bits in base64url without padding.
const TOKEN_CHARS: usize = 43;

/// What became other since a person looked at the effects of this hash; empty where that is not known.
#[must_use]
pub fn changed_since(approval: &Approval, shown: Digest) -> Vec<ChangeView> {
    let changes = approval.changes_between(shown, approval.effects_hash).unwrap_or_default();
    changes.iter().map(view::change_view).collect()
}

fn find(agg: &Aggregate, id: ApprovalId) -> Result<&Approval> {
    agg.approvals.iter().find(|a| a.id == id).ok_or(EngineError::NotFound("approval"))
}

/// Whoever asks for an approval is told of an approval, also where its run is not there.
fn named(error: EngineError) -> EngineError {
    match error {
        EngineError::NotFound(_) => EngineError::NotFound("approval"),
        other => other,
    }
}
