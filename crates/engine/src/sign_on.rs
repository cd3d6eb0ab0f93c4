//! Single sign-on, after the issuer's word was checked: which tenant, which roles, and whether there is anything here
//! for this person at all. What an issuer calls a group gives only what the config says it gives.

use std::collections::{BTreeMap, BTreeSet};

use effectgate_core::{actor::Subject, ids::Tenant};
use effectgate_store::{ProfileRow, ProfileSource};

use crate::{
    engine::Engine,
    error::Result,
    sessions::{SessionLimits, SignedIn, Vouched},
};

/// What the config makes of an issuer's claims.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignOnPolicy {
    pub tenant: TenantRule,
    /// Group of the issuer to roles here.
    pub roles: BTreeMap<String, Vec<String>>,
}

/// Which tenant somebody belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TenantRule {
    Fixed(Tenant),
    /// What a claim says, if it is one of these.
    Claimed(BTreeSet<String>),
}

/// Somebody whose every claim was checked.
#[derive(Clone, PartialEq, Eq)]
pub struct Known {
    pub issuer: String,
    pub sub: String,
    pub name: Option<String>,
    /// Verified by the issuer.
    pub email: Option<String>,
    pub groups: Vec<String>,
    /// What the tenant's claim says.
    pub tenant: Option<String>,
    pub id_token: Option<String>,
}

/// What a sign-on comes to.
pub enum SignedOn {
    Opened {
        secret: String,
        signed_in: Box<SignedIn>,
    },
    /// The claim names no tenant of the list.
    NoTenant,
    /// No group of theirs is mapped, and no flow asks their address: a session could do nothing.
    NoRole,
}

impl SignOnPolicy {
    /// The tenant, or `None` for a claim that names none of the list.
    #[must_use]
    pub fn tenant_of(&self, claimed: Option<&str>) -> Option<Tenant> {
        match &self.tenant {
            TenantRule::Fixed(tenant) => Some(tenant.clone()),
            TenantRule::Claimed(allowed) => claimed.filter(|name| allowed.contains(*name)).map(Tenant::new),
        }
    }

    /// The roles that groups give. A group that is not mapped gives nothing.
    #[must_use]
    pub fn roles_of(&self, groups: &[String]) -> BTreeSet<String> {
        groups.iter().filter_map(|group| self.roles.get(group)).flatten().cloned().collect()
    }
}

impl Engine {
    /// Opens a session for somebody an issuer vouched for, with the roles that the issuer's groups give at this moment.
    ///
    /// A person without a role is let in only if a flow in force asks their verified address: then there are cards that
    /// only they can answer.
    ///
    /// # Errors
    /// The store.
    pub async fn sign_on(
        &self,
        policy: &SignOnPolicy,
        known: Known,
        device: &str,
        limits: &SessionLimits,
    ) -> Result<SignedOn> {
        let Some(tenant) = policy.tenant_of(known.tenant.as_deref()) else { return Ok(SignedOn::NoTenant) };
        let roles = policy.roles_of(&known.groups);
        let is_let_in = !roles.is_empty() || known.email.as_deref().is_some_and(|email| self.asks_address(email));
        let name = known.name.or_else(|| known.email.clone()).unwrap_or_else(|| known.sub.clone());
        let vouched = Vouched {
            subject: Subject::single_sign_on(&known.issuer, &known.sub),
            name,
            email: known.email,
            roles,
            id_token: known.id_token,
        };
        self.note_profile(&tenant, &vouched, is_let_in).await?;
        if !is_let_in {
            return Ok(SignedOn::NoRole);
        }
        let (secret, signed_in) = self.session_open_vouched(&tenant, vouched, device, limits).await?;
        Ok(SignedOn::Opened { secret, signed_in: Box::new(signed_in) })
    }

    /// Keeps what the issuer said, so that a role's mail reaches them; language and zone are the person's own. Of
    /// somebody who is not let in only what was known before is brought up to date: they lose the role's mail.
    async fn note_profile(&self, tenant: &Tenant, vouched: &Vouched, is_let_in: bool) -> Result<()> {
        let subject = vouched.subject.to_string();
        let (old, now) = (self.store().profile_find(tenant, &subject).await?, self.now());
        if old.is_none() && !is_let_in {
            return Ok(());
        }
        let profile = ProfileRow {
            tenant: tenant.clone(),
            subject,
            source: ProfileSource::Oidc,
            name: vouched.name.clone(),
            email: vouched.email.clone(),
            roles: vouched.roles.iter().cloned().collect(),
            language: old.as_ref().and_then(|old| old.language.clone()),
            zone: old.as_ref().and_then(|old| old.zone.clone()),
            created_at: old.map_or(now, |old| old.created_at),
            seen_at: now,
        };
        Ok(self.store().profile_put(profile).await?)
    }

    /// True if a flow in force asks this address to decide, at first or after an escalation.
    fn asks_address(&self, email: &str) -> bool {
        let address = Subject::mail(email);
        let approvals = self.policy().flows.values().filter_map(|flow| flow.flow.approval.as_ref());
        let mut asked = approvals.flat_map(|a| a.audience.iter().chain(a.escalate.iter().flat_map(|e| &e.audience)));
        asked.any(|member| !member.starts_with("role:") && Subject::mail(member) == address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(tenant: TenantRule) -> SignOnPolicy {
        let roles = [("leads", vec!["approver", "support-lead"]), ("ops", vec!["operator", "approver"])];
        let owned = |words: Vec<&str>| words.into_iter().map(str::to_owned).collect();
        SignOnPolicy { tenant, roles: roles.into_iter().map(|(g, r)| (g.to_owned(), owned(r))).collect() }
    }

    #[test]
    fn a_group_that_is_not_mapped_gives_nothing_and_is_compared_by_bytes() {
        let policy = policy(TenantRule::Fixed(Tenant::new("default")));
        let of = |groups: &[&str]| policy.roles_of(&groups.iter().map(|g| (*g).to_owned()).collect::<Vec<_>>());

        assert!(of(&["admin", "Leads", "leads ", "operator"]).is_empty());
        assert_eq!(
            of(&["leads", "ops", "x"]).into_iter().collect::<Vec<_>>(),
            ["approver", "operator", "support-lead"]
        );
    }

    #[test]
    fn a_tenant_by_claim_is_one_of_the_list_or_none() {
        let by_claim = policy(TenantRule::Claimed(BTreeSet::from(["acme".to_owned()])));

        assert_eq!(by_claim.tenant_of(Some("acme")), Some(Tenant::new("acme")));
        for other in [Some("ACME"), Some("globex"), Some(""), None] {
            assert_eq!(by_claim.tenant_of(other), None, "{other:?}");
        }
        let fixed = policy(TenantRule::Fixed(Tenant::new("default")));
        assert_eq!(
            fixed.tenant_of(Some("acme")),
            Some(Tenant::new("default")),
            "a claim that was not asked for says nothing"
        );
    }
}
