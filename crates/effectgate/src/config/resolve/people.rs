//! `[auth.*]`: how people sign in, and for how long.

use std::collections::BTreeSet;

use effectgate_core::ids::Tenant;
use effectgate_engine::{
    connect::tls::Tls,
    keys::KeyScope,
    sessions::SessionLimits,
    sign_on::{SignOnPolicy, TenantRule},
};
use effectgate_store::INBOX_ROLES_MAX;
use effectgate_web::auth::attempts::Lockout;
use secrecy::SecretString;
use url::Url;

use super::judge::{Judge, unsigned};
use crate::config::people::{LockoutConfig, OidcConfig, PeopleConfig, SessionConfig, TenantConfig};

/// How people sign in, as it is in force.
pub(crate) struct PeopleSettings {
    pub(crate) local_accounts: bool,
    pub(crate) sessions: SessionLimits,
    pub(crate) lockout: Lockout,
    pub(crate) oidc: Option<OidcSettings>,
}

/// One issuer, and what its groups give here.
pub(crate) struct OidcSettings {
    pub(crate) issuer: String,
    pub(crate) client_id: String,
    pub(crate) client_secret: SecretString,
    pub(crate) name: String,
    pub(crate) scopes: Vec<String>,
    pub(crate) groups_claim: String,
    pub(crate) tenant_claim: Option<String>,
    pub(crate) policy: SignOnPolicy,
    pub(crate) allow_private: bool,
    pub(crate) tls: Tls,
    pub(crate) timeout_ms: u64,
}

const MONTH_MS: i64 = 30 * 86_400_000;
const DAY_MS: i64 = 86_400_000;
/// A button's words.
const NAME_CHARS_MAX: usize = 60;

pub(super) fn people(judge: &mut Judge<'_>, config: &PeopleConfig) -> Option<PeopleSettings> {
    let oidc = config.oidc.as_ref().map(|oidc| self::oidc(judge, oidc));
    if !config.local.enabled && config.oidc.is_none() {
        let what = "nobody could sign in: local accounts are off and there is no issuer";
        judge.refuse("auth.local.enabled", what, "Add [auth.oidc], or leave local accounts on.");
    }
    let (sessions, lockout) = (sessions(judge, &config.session), lockout(judge, &config.lockout));
    let oidc = match oidc {
        None => None,
        Some(settings) => Some(settings?),
    };
    Some(PeopleSettings { local_accounts: config.local.enabled, sessions, lockout, oidc })
}

fn oidc(judge: &mut Judge<'_>, oidc: &OidcConfig) -> Option<OidcSettings> {
    let at = |member: &str| format!("auth.oidc.{member}");
    let is_local = issuer(judge, &oidc.issuer);
    if oidc.client_id.is_empty() {
        judge.refuse(&at("client_id"), "it is empty", "Take it from the provider's registration of this server.");
    }
    if oidc.name.trim().is_empty() || oidc.name.chars().count() > NAME_CHARS_MAX {
        let what = format!("it has 1 to {NAME_CHARS_MAX} characters");
        judge.refuse(&at("name"), what, "Write what people call it: the button says \"Sign in with NAME\".");
    }
    let is_scope = |scope: &&String| !scope.is_empty() && scope.bytes().all(|b| b.is_ascii_graphic() && b != b'"');
    if !oidc.scopes.iter().all(|scope| is_scope(&scope)) {
        judge.refuse(&at("scopes"), "a scope is one word", "Write them as a list: [\"profile\", \"email\"].");
    }
    if oidc.groups_claim.is_empty() {
        judge.refuse(&at("groups_claim"), "it is empty", "Name the claim that lists groups.");
    }
    roles(judge, oidc);
    let timeout = judge.within(&at("timeout_ms"), oidc.timeout_ms, 100, 30_000, "Somebody waits before a page.");
    let file = oidc.ca_file.as_deref().map(|file| judge.place(file));
    let tls = Tls::new(file.as_deref())
        .map_err(|e| judge.refuse(&at("ca_file"), e.to_string(), "Name a PEM file of CA certificates."));
    let (tenant, tenant_claim) = tenant(judge, &oidc.tenant);
    Some(OidcSettings {
        issuer: oidc.issuer.clone(),
        client_id: oidc.client_id.clone(),
        client_secret: secret(judge, oidc)?,
        name: oidc.name.trim().to_owned(),
        scopes: oidc.scopes.iter().filter(|scope| *scope != "openid").cloned().collect(),
        groups_claim: oidc.groups_claim.clone(),
        tenant_claim,
        policy: SignOnPolicy { tenant, roles: oidc.roles.clone() },
        allow_private: oidc.allow_private || is_local,
        tls: tls.ok()?,
        timeout_ms: unsigned(timeout),
    })
}

/// An https URL; in clear only on this machine. True for the latter.
fn issuer(judge: &mut Judge<'_>, issuer: &str) -> bool {
    let url = Url::parse(issuer).ok().filter(|url| url.query().is_none() && url.fragment().is_none());
    let is_here = |url: &Url| matches!(url.host_str(), Some("127.0.0.1" | "localhost" | "[::1]"));
    match &url {
        Some(url) if url.scheme() == "https" => is_here(url),
        Some(url) if url.scheme() == "http" && is_here(url) => {
            judge.note("auth.oidc.issuer", "an issuer on this machine, in clear: for trying out");
            true
        }
        _ => {
            let what = "an issuer is an https URL; http is for one on this machine";
            judge.refuse("auth.oidc.issuer", what, "Take it from the provider's discovery page.");
            false
        }
    }
}

fn secret(judge: &mut Judge<'_>, oidc: &OidcConfig) -> Option<SecretString> {
    let at = "auth.oidc.client_secret";
    if oidc.client_secret.is_none() && oidc.client_secret_file.is_none() {
        judge.refuse(at, "there is no secret", format!("Give one of {at} and {at}_file."));
        return None;
    }
    judge.secret(at, oidc.client_secret.as_ref(), oidc.client_secret_file.as_deref())
}

fn roles(judge: &mut Judge<'_>, oidc: &OidcConfig) {
    if oidc.roles.is_empty() {
        let what = "no group gives a role: only people whose address a flow asks can sign in";
        judge.note("auth.oidc.roles", what);
    }
    let different: BTreeSet<&String> = oidc.roles.values().flatten().collect();
    if different.len() > INBOX_ROLES_MAX {
        let what = format!("{} different roles; {INBOX_ROLES_MAX} at most", different.len());
        judge.refuse(
            "auth.oidc.roles",
            what,
            "An inbox is made of each role of a person; leave out what no flow asks.",
        );
    }
    for (group, roles) in &oidc.roles {
        let at = format!("auth.oidc.roles.{group}");
        if roles.is_empty() {
            judge.refuse(&at, "the group gives no roles", "Name roles, or leave the group out.");
        }
        let is_bad =
            |role: &&String| role.is_empty() || role.chars().any(|c| c.is_whitespace() || matches!(c, ':' | ','));
        if let Some(role) = roles.iter().find(is_bad) {
            judge.refuse(&at, format!("{role:?} is no role"), "A role is one word without colons and commas.");
        }
        if roles.iter().any(|role| role == KeyScope::Worker.as_str()) {
            judge.refuse(&at, "worker is for API keys, not for people", "Leave it out; programs use keys.");
        }
    }
}

fn tenant(judge: &mut Judge<'_>, tenant: &TenantConfig) -> (TenantRule, Option<String>) {
    let at = "auth.oidc.tenant";
    match tenant {
        TenantConfig::Fixed(name) => {
            if name.is_empty() {
                judge.refuse(at, "it is empty", "Name a tenant, or leave it out.");
            }
            (TenantRule::Fixed(Tenant::new(name)), None)
        }
        TenantConfig::Claimed(by) => {
            if by.claim.is_empty() || by.allow.is_empty() || by.allow.iter().any(String::is_empty) {
                let what = "the claim has a name, and the tenants that it may name are listed";
                judge.refuse(at, what, "Write { claim = \"org\", allow = [\"acme\"] }.");
            }
            (TenantRule::Claimed(by.allow.iter().cloned().collect::<BTreeSet<_>>()), Some(by.claim.clone()))
        }
    }
}

fn sessions(judge: &mut Judge<'_>, config: &SessionConfig) -> SessionLimits {
    let why = "Between a minute, in which nobody reads a card, and a month.";
    let idle_ms = judge.within("auth.session.idle_ms", config.idle_ms, 60_000, MONTH_MS, why);
    let absolute_ms = judge.within("auth.session.absolute_ms", config.absolute_ms, 60_000, MONTH_MS, why);
    if idle_ms > absolute_ms {
        let what = format!("{idle_ms} is more than auth.session.absolute_ms, which ends the session before");
        judge.refuse("auth.session.idle_ms", what, "Choose at most absolute_ms.");
    }
    SessionLimits { idle_ms, absolute_ms }
}

fn lockout(judge: &mut Judge<'_>, config: &LockoutConfig) -> Lockout {
    let hundred = "NIST SP 800-63B section 3.2.2 bears at most 100 failures of one account.";
    let one = judge.within("auth.lockout.tries_max", config.tries_max, 3, 100, hundred);
    let account = judge.within("auth.lockout.account_tries_max", config.account_tries_max, 3, 100, hundred);
    let why = "An office behind one address signs in; a list of passwords does not.";
    let address = judge.within("auth.lockout.address_tries_max", config.address_tries_max, 3, 10_000, why);
    let pause = "Between a minute and a day: a guess should cost time, and the owner should come back the same day.";
    Lockout {
        tries_max: unsigned(one),
        account_tries_max: unsigned(account),
        address_tries_max: unsigned(address),
        window_ms: judge.within("auth.lockout.window_ms", config.window_ms, 60_000, DAY_MS, pause),
        account_window_ms: judge.within(
            "auth.lockout.account_window_ms",
            config.account_window_ms,
            60_000,
            DAY_MS,
            pause,
        ),
    }
}
