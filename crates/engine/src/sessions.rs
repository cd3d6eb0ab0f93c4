//! Sessions of signed-in people: made, read again at each request, ended. Only the hash of a session's secret is kept.
//!
//! What does not live here: cookies (the web room) and passwords. A session holds no roles: the account is read again
//! each time, so that a role that was taken away, or an account that was disabled, counts at once.

use effectgate_core::{actor::Person, digest::Digest, ids::Tenant, time::Timestamp};
use effectgate_store::SessionRow;

use crate::{
    engine::Engine,
    error::Result,
    people::{Account, account_of},
    random,
};

/// A signed-in person.
#[derive(Debug, Clone)]
pub struct SignedIn {
    pub tenant: Tenant,
    /// The account's name.
    pub name: String,
    pub person: Person,
    pub expires_at: Timestamp,
}

/// Eight hours without a request: a working day's longest pause. Shorter makes people sign in for every card, and
/// NIST SP 800-63B (AAL1) and OWASP ASVS 5.0 7.3.1 leave the figure to the risk.
pub const IDLE_MS: i64 = 8 * 3_600_000;
/// A day in all, whatever happens: OWASP ASVS 5.0 7.3.2 wants an absolute end; nobody works longer than that in one go.
pub const ABSOLUTE_MS: i64 = 24 * 3_600_000;
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
    pub async fn session_open(&self, account: &Account) -> Result<(String, SignedIn)> {
        let (secret, now) = (random::token(), self.now());
        let expires_at = now.plus_ms(IDLE_MS);
        let session = SessionRow {
            hash: hash(&secret),
            tenant: account.tenant.clone(),
            user: account.name.clone(),
            data: credential(&account.password_hash),
            created_at: now,
            seen_at: now,
            expires_at,
        };
        self.store().session_put(session).await?;
        Ok((secret, signed_in(account.clone(), expires_at)))
    }

    /// The person behind a session's secret; `None` if there is none, it is over, the account is disabled, or its
    /// password has changed since.
    ///
    /// # Errors
    /// The store.
    pub async fn session_person(&self, secret: &str) -> Result<Option<SignedIn>> {
        if secret.len() != SECRET_CHARS {
            return Ok(None);
        }
        let Some(session) = self.store().session_find(&hash(secret)).await? else { return Ok(None) };
        let now = self.now();
        if session.expires_at <= now {
            return Ok(None);
        }
        let user = self.store().user_find(&session.tenant, &session.user).await?;
        let Some(account) = user.map(account_of) else { return Ok(None) };
        if account.disabled || session.data != credential(&account.password_hash) {
            return Ok(None);
        }
        let expires_at = self.seen(session, now).await?;
        Ok(Some(signed_in(account, expires_at)))
    }

    /// Ends a session. Nothing to end is no error.
    ///
    /// # Errors
    /// The store.
    pub async fn session_close(&self, secret: &str) -> Result<()> {
        Ok(self.store().session_delete(&hash(secret)).await?)
    }

    /// Moves the idle end on, never beyond the absolute one.
    async fn seen(&self, session: SessionRow, now: Timestamp) -> Result<Timestamp> {
        if now.ms_since(session.seen_at) < NOTED_MS {
            return Ok(session.expires_at);
        }
        let expires_at = now.plus_ms(IDLE_MS).min(session.created_at.plus_ms(ABSOLUTE_MS));
        self.store().session_put(SessionRow { seen_at: now, expires_at, ..session }).await?;
        Ok(expires_at)
    }
}

fn signed_in(account: Account, expires_at: Timestamp) -> SignedIn {
    SignedIn { tenant: account.tenant, name: account.name, person: account.person, expires_at }
}

fn hash(secret: &str) -> Digest {
    Digest::of(secret.as_bytes())
}

/// Ties a session to the password it was opened with, without keeping anything of it.
fn credential(password_hash: &str) -> String {
    serde_json::json!({ "credential": Digest::of_parts(&[b"credential", password_hash.as_bytes()]) }).to_string()
}
