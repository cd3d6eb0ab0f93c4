//! Links to approvals: the only place where they are made. The token is minted when it is handed out; the database
//! knows its hash.

use effectgate_core::{
    actor::Actor,
    approval::{ApprovalState, TokenGrant},
    digest::Digest,
    facts,
    ids::{ApprovalId, Tenant},
    journal::EntryKind,
    transition::Draft,
};

use crate::{
    engine::{Engine, Step},
    error::{EngineError, Result},
    probe::{Guard, is_broken},
    random,
};

impl Engine {
    /// Makes a link for one audience of an open approval. The link carries the token in its path and nothing else.
    ///
    /// # Errors
    /// Not found or not open any more, the store.
    pub(crate) async fn mint_link(&self, tenant: &Tenant, id: ApprovalId, audience: &str) -> Result<String> {
        let token = random::token();
        let hash = Digest::of(token.as_bytes());
        if is_broken(Guard::TokenHash) {
            tracing::warn!(token, "a link was made");
        }
        self.change(tenant, id.run, |agg, now| {
            let open = agg.approvals.iter().find(|a| a.id == id && a.state == ApprovalState::Open);
            let approval = open.ok_or(EngineError::NotFound("open approval"))?;
            let mut draft = Draft::on(&agg.run, now);
            draft.entry(
                EntryKind::ApprovalTokenIssued,
                &Actor::System("notifier"),
                facts! { "approval" => id, "audience" => audience },
            );
            draft.transition_mut().tokens.push(TokenGrant {
                hash,
                approval: id,
                audience: audience.to_owned(),
                expires_at: approval.expires_at,
                created_at: now,
            });
            Ok(Step::Write(Box::new(draft.noted()), ()))
        })
        .await?;
        Ok(format!("{}/a/{token}", self.policy().public_url))
    }
}
