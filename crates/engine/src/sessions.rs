//! Sessions of signed-in people: made, read again at each request, ended. Only the hash of a session's secret is kept.
//!
//! A session of a local account holds no roles: the account is read again each time, so that a role that was taken away,
//! or an account that was disabled, counts at once. A session of single sign-on holds what the issuer vouched for at the
//! sign-in, roles included, because nobody can be asked in between: [`SessionLimits::absolute_ms`] bounds how long a
//! role lives on that was taken away over there.
//!
//! What does not live here: cookies (the web room) and passwords.

use std::collections::BTreeSet;

use effectgate_core::{
    actor::{Person, SignIn, Subject},
    digest::Digest,
    ids::Tenant,
    time::Timestamp,
};
use effectgate_store::SessionRow;
use serde::{Deserialize, Serialize};

use crate::{
    engine::Engine,
    error::Result,
    people::{Account, account_of},
    random,
};

/// When sessions end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionLimits {
    /// Without a request.
    pub idle_ms: i64,
    /// Whatever happens.
    pub absolute_ms: i64,
}

impl Default for SessionLimits {
    /// Eight hours without a request: a working day's longest pause. Shorter makes people sign in for every card, and
    /// NIST SP 800-63B (AAL1) and OWASP ASVS 5.0 7.3.1 leave the figure to the risk. A day in all: ASVS 7.3.2 wants an
    /// absolute end; nobody works longer than that in one go.
    fn default() -> Self {
        Self { idle_ms: 8 * 3_600_000, absolute_ms: 24 * 3_600_000 }
    }
}

/// A signed-in person.
#[derive(Debug, Clone)]
pub struct SignedIn {
    pub tenant: Tenant,
    /// Whose the sessions are: an account's name, or the subject of single sign-on.
    pub user: String,
    /// What pages show.
    pub name: String,
    pub person: Person,
    pub source: Source,
    pub expires_at: Timestamp,
}

/// How somebody signed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    Local,
    SingleSignOn,
}

/// What an issuer vouched for, in this house's words.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vouched {
    pub subject: Subject,
    pub name: String,
    /// Verified by the issuer.
    pub email: Option<String>,
    pub roles: BTreeSet<String>,
    /// To sign out with over there.
    pub id_token: Option<String>,
}

/// A session that was ended by its own browser.
#[derive(Clone, PartialEq, Eq)]
pub struct Ended {
    pub source: Source,
    pub id_token: Option<String>,
}

/// A session as its owner sees it in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// The hash of its secret: tells sessions apart and opens none.
    pub id: Digest,
    pub device: String,
    pub created_at: Timestamp,
    pub seen_at: Timestamp,
    pub expires_at: Timestamp,
}

/// What a session row holds beside its times.
#[derive(Serialize, Deserialize)]
struct Held {
    /// Of a local account: ties the session to the password it was opened with, without keeping anything of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    credential: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    vouched: Option<Vouched>,
    /// What the browser called itself, in short.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    device: String,
}

/// A request notes that the session was used only after this long, so that reading a page is not a write each time.
const NOTED_MS: i64 = 300_000;
/// 256 bits in base64url without padding.
const SECRET_CHARS: usize = 43;

impl Engine {
    /// Opens a session for an account whose password was checked. Returns its secret: 256 random bits as 43
    /// characters, a fresh one at each sign-in.
    ///
    /// # Errors
    /// The store.
    pub async fn session_open(
        &self,
        account: &Account,
        device: &str,
        limits: &SessionLimits,
    ) -> Result<(String, SignedIn)> {
        let held = Held { credential: Some(credential(account)), vouched: None, device: device.to_owned() };
        let (secret, expires_at) = self.opened(&account.tenant, &account.name, &held, limits).await?;
        Ok((secret, of_account(account.clone(), expires_at)))
    }

    /// Opens a session for somebody an issuer vouched for.
    ///
    /// # Errors
    /// The store.
    pub(crate) async fn session_open_vouched(
        &self,
        tenant: &Tenant,
        vouched: Vouched,
        device: &str,
        limits: &SessionLimits,
    ) -> Result<(String, SignedIn)> {
        let held = Held { credential: None, vouched: Some(vouched.clone()), device: device.to_owned() };
        let (secret, expires_at) = self.opened(tenant, vouched.subject.as_str(), &held, limits).await?;
        Ok((secret, of_vouched(tenant.clone(), vouched, expires_at)))
    }

    /// The person behind a session's secret; `None` if there is none, it is over, the account is disabled, or its
    /// password has changed since.
    ///
    /// # Errors
    /// The store.
    pub async fn session_person(&self, secret: &str, limits: &SessionLimits) -> Result<Option<SignedIn>> {
        let Some((session, signed_in)) = self.session_standing(secret, limits).await? else { return Ok(None) };
        let expires_at = self.seen(session, self.now(), limits).await?;
        Ok(Some(SignedIn { expires_at, ..signed_in }))
    }

    /// True if there is a person behind a session's secret. Asking is no use of the session: it ends no later for it.
    ///
    /// # Errors
    /// The store.
    pub async fn session_stands(&self, secret: &str, limits: &SessionLimits) -> Result<bool> {
        Ok(self.session_standing(secret, limits).await?.is_some())
    }

    async fn session_standing(&self, secret: &str, limits: &SessionLimits) -> Result<Option<(SessionRow, SignedIn)>> {
        if secret.len() != SECRET_CHARS {
            return Ok(None);
        }
        let Some(session) = self.store().session_find(&hash(secret)).await? else { return Ok(None) };
        let now = self.now();
        let is_over = session.expires_at <= now || session.created_at.plus_ms(limits.absolute_ms) <= now;
        let Some(held) = held(&session).filter(|_| !is_over) else { return Ok(None) };
        let signed_in = match held.vouched {
            Some(vouched) => of_vouched(session.tenant.clone(), vouched, session.expires_at),
            None => match self.account_behind(&session, held.credential.as_deref()).await? {
                Some(account) => of_account(account, session.expires_at),
                None => return Ok(None),
            },
        };
        Ok(Some((session, signed_in)))
    }

    /// Ends a session. Nothing to end is no error.
    ///
    /// # Errors
    /// The store.
    pub async fn session_close(&self, secret: &str) -> Result<Option<Ended>> {
        let hash = hash(secret);
        let session = self.store().session_find(&hash).await?;
        self.store().session_delete(&hash).await?;
        Ok(session.as_ref().and_then(held).map(|held| Ended {
            source: if held.vouched.is_some() { Source::SingleSignOn } else { Source::Local },
            id_token: held.vouched.and_then(|vouched| vouched.id_token),
        }))
    }

    /// A person's sessions that are not over, the newest first.
    ///
    /// # Errors
    /// The store.
    pub async fn sessions_of(&self, tenant: &Tenant, user: &str) -> Result<Vec<Listed>> {
        let (rows, now) = (self.store().session_list_of(tenant, user).await?, self.now());
        Ok(rows.into_iter().filter(|row| row.expires_at > now).map(listed).collect())
    }

    /// Ends every session of a person, whatever browser holds it.
    ///
    /// # Errors
    /// The store.
    pub async fn sessions_end(&self, tenant: &Tenant, user: &str) -> Result<()> {
        Ok(self.store().session_delete_of(tenant, user).await?)
    }

    async fn opened(
        &self,
        tenant: &Tenant,
        user: &str,
        held: &Held,
        limits: &SessionLimits,
    ) -> Result<(String, Timestamp)> {
        let (secret, now) = (random::token(), self.now());
        let expires_at = now.plus_ms(limits.idle_ms.min(limits.absolute_ms));
        let session = SessionRow {
            hash: hash(&secret),
            tenant: tenant.clone(),
            user: user.to_owned(),
            data: serde_json::to_string(held).expect("texts and lists of texts always serialise"),
            created_at: now,
            seen_at: now,
            expires_at,
        };
        self.store().session_put(session).await?;
        Ok((secret, expires_at))
    }

    /// The account as it is now, if it may still use a session that was opened with this credential.
    async fn account_behind(&self, session: &SessionRow, opened_with: Option<&str>) -> Result<Option<Account>> {
        let user = self.store().user_find(&session.tenant, &session.user).await?;
        let account = user.map(account_of).filter(|account| !account.disabled);
        Ok(account.filter(|account| opened_with == Some(credential(account).as_str())))
    }

    /// Moves the idle end on, never beyond the absolute one.
    async fn seen(&self, session: SessionRow, now: Timestamp, limits: &SessionLimits) -> Result<Timestamp> {
        if now.ms_since(session.seen_at) < NOTED_MS {
            return Ok(session.expires_at);
        }
        let expires_at = now.plus_ms(limits.idle_ms).min(session.created_at.plus_ms(limits.absolute_ms));
        self.store().session_put(SessionRow { seen_at: now, expires_at, ..session }).await?;
        Ok(expires_at)
    }
}

fn of_account(account: Account, expires_at: Timestamp) -> SignedIn {
    let Account { tenant, name, person, .. } = account;
    SignedIn { tenant, user: name.clone(), name, person, source: Source::Local, expires_at }
}

fn of_vouched(tenant: Tenant, vouched: Vouched, expires_at: Timestamp) -> SignedIn {
    let user = vouched.subject.to_string();
    let person = Person {
        subject: vouched.subject,
        aliases: vouched.email.as_deref().map(Subject::mail).into_iter().collect(),
        roles: vouched.roles,
        sign_in: SignIn::Login,
    };
    SignedIn { tenant, user, name: vouched.name, person, source: Source::SingleSignOn, expires_at }
}

/// What a row holds; one that cannot be read is a session of nobody.
fn held(session: &SessionRow) -> Option<Held> {
    serde_json::from_str(&session.data).ok()
}

fn listed(row: SessionRow) -> Listed {
    let device = held(&row).map(|held| held.device).unwrap_or_default();
    let SessionRow { hash, created_at, seen_at, expires_at, .. } = row;
    Listed { id: hash, device, created_at, seen_at, expires_at }
}

/// What [`Listed::id`] is for this secret.
#[must_use]
pub fn id_of(secret: &str) -> Digest {
    hash(secret)
}

fn hash(secret: &str) -> Digest {
    Digest::of(secret.as_bytes())
}

fn credential(account: &Account) -> String {
    Digest::of_parts(&[b"credential", account.password_hash.as_bytes()]).to_string()
}
