//! API keys: made, listed, revoked, found. A key is `eg_<public id>_<secret>_<checksum>`: the public id finds the row,
//! 256 random bits are the secret, the checksum lets scanners and typing errors be recognised without a database.
//!
//! Only the SHA-256 of the whole token is stored: a slow hash adds nothing to 256 random bits. What a key may do is
//! asked in the web room.

use effectgate_core::{actor::Actor, digest::Digest, facts, ids::Tenant, journal::EntryKind};
use effectgate_store::ApiKeyRow;

use crate::{
    engine::Engine,
    error::{EngineError, Result},
    random,
};

/// What a key may do. `admin` includes every other scope; no key decides an approval, whatever its scopes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KeyScope {
    /// Reserve, claim, and everything under the lease.
    Worker,
    /// Look at runs, effects, switches and figures; no content.
    Viewer,
    /// Read approvals (to deliver or count them; deciding wants a signed-in person).
    Approver,
    /// Cancel, resolve, release, close.
    Operator,
    /// Read everything, verify and export the journal.
    Auditor,
    /// Turn switches.
    SwitchOwner,
    /// Everything above, and keys.
    Admin,
}

impl KeyScope {
    pub const ALL: [Self; 7] =
        [Self::Worker, Self::Viewer, Self::Approver, Self::Operator, Self::Auditor, Self::SwitchOwner, Self::Admin];

    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Worker => "worker",
            Self::Viewer => "viewer",
            Self::Approver => "approver",
            Self::Operator => "operator",
            Self::Auditor => "auditor",
            Self::SwitchOwner => "switch_owner",
            Self::Admin => "admin",
        }
    }

    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == word)
    }
}

/// A key that was just made. The token is shown once and is nowhere else.
#[derive(Clone)]
pub struct NewKey {
    pub token: String,
    pub row: ApiKeyRow,
}

/// The shortest secret that may be given from outside (`EFFECTGATE_BOOTSTRAP_KEY`), in characters.
pub const GIVEN_CHARS_MIN: usize = 32;
/// No header line needs to be longer.
pub const TOKEN_CHARS_MAX: usize = 512;
const PREFIX: &str = "eg_";
/// How the public id of a given key begins.
const GIVEN: &str = "given";
/// The name of the first admin key.
const BOOTSTRAP: &str = "bootstrap";
const ID_CHARS: usize = 16;
const SECRET_CHARS: usize = 64;
const CHECK_CHARS: usize = 8;

/// The public id in a token, by which its row is found; `None` if the token cannot be one of ours.
///
/// A token of another form is a given one: its id comes from its hash.
#[must_use]
pub fn public_id(token: &str) -> Option<String> {
    let graphic = token.bytes().all(|b| b.is_ascii_graphic());
    if !graphic || !(GIVEN_CHARS_MIN..=TOKEN_CHARS_MAX).contains(&token.len()) {
        return None;
    }
    if let Some(rest) = token.strip_prefix(PREFIX)
        && rest.len() == ID_CHARS + SECRET_CHARS + CHECK_CHARS + 2
    {
        let (body, check) = token.rsplit_once('_')?;
        let id = rest.get(..ID_CHARS)?;
        return (checksum(body) == check).then(|| id.to_owned());
    }
    let hash = Digest::of_parts(&[b"given key", token.as_bytes()]).to_string();
    Some(format!("{GIVEN}{}", &hash[..ID_CHARS]))
}

/// What is stored of a token.
#[must_use]
pub fn secret_hash(token: &str) -> Digest {
    Digest::of(token.as_bytes())
}

fn checksum(body: &str) -> String {
    Digest::of(body.as_bytes()).to_string()[..CHECK_CHARS].to_owned()
}

fn new_token() -> String {
    let id = hex::encode(random::bytes::<8>());
    let body = format!("{PREFIX}{id}_{}", hex::encode(random::bytes::<32>()));
    format!("{body}_{}", checksum(&body))
}

/// A name is shown in the journal as the actor.
const NAME_CHARS_MAX: usize = 100;

impl Engine {
    /// Makes an API key, or takes the one given (32 printable ASCII characters or more).
    ///
    /// Guarantees: the key and its journal entry in one transaction; a token given twice is one key.
    ///
    /// # Errors
    /// A name, scope list or given token that cannot be; the store.
    pub async fn key_create(
        &self,
        tenant: &Tenant,
        actor: &Actor,
        name: &str,
        scopes: &[KeyScope],
        flows: &[String],
        given: Option<&str>,
    ) -> Result<NewKey> {
        check(name, scopes)?;
        let token = given.map_or_else(new_token, str::to_owned);
        let Some(public_id) = public_id(&token) else {
            let detail = "a given key has 32 to 512 printable ASCII characters and no blanks".into();
            return Err(EngineError::BadMember { pointer: String::new(), detail });
        };
        if let Some(row) = self.store().api_key_find(&public_id).await? {
            return self.made_before(token, row);
        }
        let words: Vec<String> = scopes.iter().map(|s| s.as_str().to_owned()).collect();
        let row = ApiKeyRow {
            public_id,
            tenant: tenant.clone(),
            name: name.trim().to_owned(),
            secret_hash: secret_hash(&token),
            scopes: words,
            flows: flows.to_vec(),
            created_at: self.now(),
            revoked_at: None,
        };
        let facts = facts! { "key" => row.public_id, "name" => row.name, "scopes" => row.scopes, "flows" => row.flows };
        self.house_entry(tenant, actor, EntryKind::KeyCreated, &facts, |w| w.api_key = Some(row.clone())).await?;
        Ok(NewKey { token, row })
    }

    /// A given token that is known: the same key again, unless it was revoked.
    fn made_before(&self, token: String, row: ApiKeyRow) -> Result<NewKey> {
        if row.secret_hash == secret_hash(&token) && row.revoked_at.is_none() {
            return Ok(NewKey { token, row });
        }
        let detail = "this key was revoked, or another has its public id: give another one".into();
        Err(EngineError::BadMember { pointer: String::new(), detail })
    }

    /// Revokes a key. A key that is revoked already stays as it is.
    ///
    /// Its subscriptions end with it.
    ///
    /// Guarantees: takes effect at once in the database; a server that has just used the key forgets it within seconds
    /// (see the web room's key cache).
    ///
    /// # Errors
    /// Not found in this tenant, the store.
    pub async fn key_revoke(&self, tenant: &Tenant, actor: &Actor, public_id: &str) -> Result<ApiKeyRow> {
        let found = self.store().api_key_find(public_id).await?.filter(|row| row.tenant == *tenant);
        let row = found.ok_or(EngineError::NotFound("API key"))?;
        if row.revoked_at.is_some() {
            return Ok(row);
        }
        let row = ApiKeyRow { revoked_at: Some(self.now()), ..row };
        let facts = facts! { "key" => row.public_id, "name" => row.name };
        self.house_entry(tenant, actor, EntryKind::KeyRevoked, &facts, |w| w.api_key = Some(row.clone())).await?;
        // Not in the same transaction: whoever would send to one that is left looks at the key first, and ends it.
        self.end_subscriptions_of(tenant, actor, public_id).await?;
        Ok(row)
    }

    /// The keys of a tenant, revoked ones included.
    ///
    /// # Errors
    /// The store.
    pub async fn key_list(&self, tenant: &Tenant) -> Result<Vec<ApiKeyRow>> {
        Ok(self.store().api_key_list(tenant).await?)
    }

    /// The first admin key: the given one, or a fresh one if there is no key at all. `None` if nothing was made; the
    /// caller prints a fresh one once.
    ///
    /// # Errors
    /// As for [`Engine::key_create`].
    pub async fn key_bootstrap(&self, tenant: &Tenant, given: Option<&str>) -> Result<Option<NewKey>> {
        let actor = Actor::System("bootstrap");
        if given.is_none() && !self.store().api_key_none().await? {
            return Ok(None);
        }
        let made = self.key_create(tenant, &actor, BOOTSTRAP, &[KeyScope::Admin], &[], given).await?;
        if given.is_some() {
            self.revoke_earlier(tenant, &actor, &made.row.public_id).await?;
        }
        Ok(Some(made))
    }

    /// A start with another given key replaces the one before: a rotated secret must not stay good unseen.
    async fn revoke_earlier(&self, tenant: &Tenant, actor: &Actor, kept: &str) -> Result<()> {
        let keys = self.store().api_key_list(tenant).await?;
        let given =
            |row: &&ApiKeyRow| row.name == BOOTSTRAP && row.public_id.starts_with(GIVEN) && row.public_id != kept;
        for row in keys.iter().filter(given) {
            self.key_revoke(tenant, actor, &row.public_id).await?;
        }
        Ok(())
    }
}

fn check(name: &str, scopes: &[KeyScope]) -> Result<()> {
    let bad = |pointer: &str, detail: &str| EngineError::BadMember { pointer: pointer.into(), detail: detail.into() };
    let name = name.trim();
    if name.is_empty() || name.chars().count() > NAME_CHARS_MAX || name.chars().any(char::is_control) {
        return Err(bad("/name", "a key's name has 1 to 100 characters and no control characters"));
    }
    if scopes.is_empty() {
        return Err(bad("/scopes", "a key needs at least one scope"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_names_its_row_and_a_typing_error_is_seen_without_a_database() {
        let token = new_token();
        let mut wrong = token.clone().into_bytes();
        wrong[30] = if wrong[30] == b'0' { b'1' } else { b'0' };

        assert_eq!(public_id(&token).as_deref(), token.get(3..19));
        assert_eq!(public_id(std::str::from_utf8(&wrong).unwrap()), None);
    }

    #[test]
    fn a_given_key_has_an_id_of_its_own_and_short_ones_have_none() {
        let given = "x".repeat(32);

        assert!(public_id(&given).is_some_and(|id| id.starts_with("given")));
        assert_ne!(public_id(&given), public_id(&"y".repeat(32)));
        assert_eq!(public_id(&"x".repeat(31)), None);
        assert_eq!(public_id(&format!("{given} {given}")), None);
    }
}
