//! People: local accounts, and the person behind a session or a link. Every change of an account is an entry in the
//! tenant's house chain, in the same commit.
//!
//! What does not live here: passwords. The web room hashes and checks them; here their hash is a text to keep.

use std::collections::BTreeSet;

use effectgate_core::{
    actor::{Actor, Person, SignIn, Subject},
    facts,
    ids::Tenant,
    journal::{EntryKind, Facts},
    notice::{Alert, Notice, NoticeKind},
};
use effectgate_store::{HouseCommit, HouseWrite, ProfileRow, ProfileSource, UserRow};

use crate::{
    engine::Engine,
    error::{EngineError, Result},
};

/// An account as it is to be. Everything is replaced but a password that is not given.
#[derive(Debug, Clone, Default)]
pub struct UserPut {
    pub name: String,
    pub email: Option<String>,
    /// Argon2id in PHC form (`effectgate_web::auth::password::hash`); `None` keeps the one there is.
    pub password_hash: Option<String>,
    /// Roles and qualifications.
    pub roles: Vec<String>,
}

/// What sign-in needs to know of an account.
#[derive(Debug, Clone)]
pub struct Account {
    pub tenant: Tenant,
    pub name: String,
    pub password_hash: String,
    pub disabled: bool,
    pub person: Person,
}

/// A name is typed by people; this is the length of a long mail address's left part and then some.
const NAME_CHARS_MAX: usize = 100;
/// RFC 5321 section 4.5.3.1.3 bounds a path to 256 octets with its brackets.
const EMAIL_CHARS_MAX: usize = 254;
const ROLE_CHARS_MAX: usize = 64;
const ROLES_MAX: usize = 50;
/// Changes of one house chain that may come in between before this is called a fault.
const TRIES_MAX: usize = 16;

impl Engine {
    /// Makes or changes a local account; one that was disabled is in use again. True if it is new.
    ///
    /// Guarantees: the account and its journal entry in one commit.
    ///
    /// # Errors
    /// A name, address or role that cannot be, a new account without a password, the store.
    pub async fn user_put(&self, tenant: &Tenant, actor: &Actor, put: &UserPut) -> Result<bool> {
        let wanted = checked(put)?;
        for _ in 0..TRIES_MAX {
            let head = self.store().house_head(tenant).await?;
            let old = self.store().user_find(tenant, &wanted.name).await?;
            let (user, kind, facts) = self.changed(tenant, old.as_ref(), &wanted)?;
            if self.house_try(tenant, head, actor, kind, &facts, |w| w.user = Some(user)).await? != HouseCommit::Lost {
                return Ok(old.is_none());
            }
        }
        Err(EngineError::Contended)
    }

    /// Takes an account out of use. Its sessions end with it, because each request reads the account again.
    ///
    /// # Errors
    /// Not found, the store.
    pub async fn user_disable(&self, tenant: &Tenant, actor: &Actor, name: &str) -> Result<()> {
        let name = normal(name);
        for _ in 0..TRIES_MAX {
            let head = self.store().house_head(tenant).await?;
            let old = self.store().user_find(tenant, &name).await?.ok_or(EngineError::NotFound("user"))?;
            let user = UserRow { disabled: true, updated_at: self.now(), ..old };
            let facts = facts! { "user" => name, "disabled" => true };
            let tried = self.house_try(tenant, head, actor, EntryKind::UserChanged, &facts, |w| w.user = Some(user));
            if tried.await? != HouseCommit::Lost {
                return Ok(());
            }
        }
        Err(EngineError::Contended)
    }

    /// A local account by its name, however it is spelled.
    ///
    /// # Errors
    /// The store.
    pub async fn account(&self, tenant: &Tenant, name: &str) -> Result<Option<Account>> {
        // PostgreSQL's text cannot hold U+0000, so nobody is called that; asking would look like a fault of ours.
        if name.contains('\0') || tenant.as_str().contains('\0') {
            return Ok(None);
        }
        let user = self.store().user_find(tenant, &normal(name)).await?;
        Ok(user.map(account_of))
    }

    /// Gives an account another password. Its sessions end with it, because each is tied to the one it was opened with.
    ///
    /// # Errors
    /// Not found, the store.
    pub async fn user_password(&self, tenant: &Tenant, actor: &Actor, name: &str, password_hash: &str) -> Result<()> {
        let name = normal(name);
        for _ in 0..TRIES_MAX {
            let head = self.store().house_head(tenant).await?;
            let old = self.store().user_find(tenant, &name).await?.ok_or(EngineError::NotFound("user"))?;
            let user = UserRow { password_hash: password_hash.to_owned(), updated_at: self.now(), ..old };
            let facts = facts! { "user" => name, "password_changed" => true };
            let tried = self.house_try(tenant, head, actor, EntryKind::UserChanged, &facts, |w| w.user = Some(user));
            if tried.await? != HouseCommit::Lost {
                return Ok(());
            }
        }
        Err(EngineError::Contended)
    }

    /// Ends every session of everybody that a name means: an account, a subject of single sign-on (`oidc:…#…`), or a
    /// mail address, which may be both. Says whose. Mail to a role does not reach somebody of single sign-on any more
    /// until they have signed in again with it.
    ///
    /// # Errors
    /// Nobody is called that; the store.
    pub async fn user_sign_out(&self, tenant: &Tenant, actor: &Actor, name: &str) -> Result<Vec<String>> {
        let users = self.meant(tenant, name).await?;
        for user in &users {
            self.sessions_end(tenant, user).await?;
            if let Some(profile) = self.store().profile_find(tenant, user).await? {
                self.store().profile_put(ProfileRow { roles: Vec::new(), ..profile }).await?;
            }
            let facts = facts! { "user" => user, "signed_out" => true };
            self.house_entry(tenant, actor, EntryKind::UserChanged, &facts, |_| {}).await?;
        }
        if users.is_empty() { Err(EngineError::NotFound("user")) } else { Ok(users) }
    }

    /// Whose sessions a name means.
    async fn meant(&self, tenant: &Tenant, name: &str) -> Result<Vec<String>> {
        let address = Some(Subject::mail(name)).filter(|_| name.contains('@') && !name.starts_with("oidc:"));
        let is_it = |user: &UserRow| user.name == normal(name) || (address.is_some() && mail_of(user) == address);
        let accounts = self.store().user_list(tenant).await?.into_iter().filter(is_it).map(|user| user.name);
        let is_them = |profile: &ProfileRow| {
            let has_address = profile.email.as_deref().map(Subject::mail) == address;
            profile.source == ProfileSource::Oidc && (profile.subject == name || (address.is_some() && has_address))
        };
        let others = self.store().profile_list(tenant).await?.into_iter().filter(is_them).map(|p| p.subject);
        Ok(accounts.chain(others).collect())
    }

    /// Notes in the house chain that sign-in was refused for a while, and alerts whoever is to be told: once for each
    /// account or address within the alert's dedupe time. `facts` name no password and no name that is not an
    /// account's; `about` tells the alerts apart.
    ///
    /// # Errors
    /// The store.
    pub async fn note_sign_in_refused(&self, tenant: &Tenant, facts: &Facts, about: &str, detail: &str) -> Result<()> {
        let actor = Actor::System("sign_in");
        let fill = |write: &mut HouseWrite| {
            let kind = NoticeKind::Alert { alert: Alert::Lockout, detail: detail.to_owned() };
            let (seq, now) = (write.head.seq, self.now());
            write.notices.push(Notice::new(seq, 0, kind, format!("lockout:{tenant}:{about}"), now));
        };
        self.house_entry(tenant, &actor, EntryKind::SignInRefused, facts, fill).await.map(drop)
    }

    /// The person a link was issued to: the mail address, known also by the account that has it, with that account's
    /// roles; or the holder of a role, where the link went to a room of them. `None` if the account is disabled.
    ///
    /// # Errors
    /// The store.
    pub async fn token_person(&self, tenant: &Tenant, audience: &str) -> Result<Option<Person>> {
        if let Some(role) = audience.strip_prefix("role:") {
            let (subject, roles) = (Subject::named(audience), BTreeSet::from([role.to_owned()]));
            return Ok(Some(Person { subject, aliases: BTreeSet::new(), roles, sign_in: SignIn::Token }));
        }
        let subject = Subject::mail(audience);
        let users = self.store().user_list(tenant).await?;
        let (gone, here): (Vec<_>, Vec<_>) =
            users.into_iter().filter(|u| mail_of(u).as_ref() == Some(&subject)).partition(|u| u.disabled);
        if here.is_empty() && !gone.is_empty() {
            return Ok(None);
        }
        let vouched = self.store().profile_list(tenant).await?.into_iter().filter(|profile| {
            profile.source == ProfileSource::Oidc
                && profile.email.as_deref().map(Subject::mail).as_ref() == Some(&subject)
        });
        let (mut aliases, mut roles) = (BTreeSet::new(), BTreeSet::new());
        for user in here {
            aliases.insert(Subject::user(&user.name));
            roles.extend(user.roles);
        }
        // Of single sign-on only who they are: their roles are the issuer's to say, at a sign-in.
        aliases.extend(vouched.map(|profile| Subject::named(&profile.subject)));
        Ok(Some(Person { subject, aliases, roles, sign_in: SignIn::Token }))
    }

    fn changed(&self, tenant: &Tenant, old: Option<&UserRow>, put: &UserPut) -> Result<(UserRow, EntryKind, Facts)> {
        let (now, old_hash) = (self.now(), old.map(|u| u.password_hash.clone()));
        let password_hash =
            put.password_hash.clone().or(old_hash).ok_or_else(|| bad("/password", "a new account needs a password"))?;
        let user = UserRow {
            tenant: tenant.clone(),
            name: put.name.clone(),
            email: put.email.clone(),
            password_hash,
            roles: put.roles.clone(),
            disabled: false,
            created_at: old.map_or(now, |u| u.created_at),
            updated_at: now,
        };
        let kind = if old.is_some() { EntryKind::UserChanged } else { EntryKind::UserCreated };
        let facts = facts! {
            "user" => user.name, "roles" => user.roles, "disabled" => false,
            "password_changed" => old.is_some_and(|u| u.password_hash != user.password_hash),
            "email_changed" => old.is_some_and(|u| u.email != user.email),
        };
        Ok((user, kind, facts))
    }
}

pub(crate) fn account_of(user: UserRow) -> Account {
    let person = Person {
        subject: Subject::user(&user.name),
        aliases: mail_of(&user).into_iter().collect(),
        roles: user.roles.iter().cloned().collect(),
        sign_in: SignIn::Login,
    };
    Account { tenant: user.tenant, name: user.name, password_hash: user.password_hash, disabled: user.disabled, person }
}

fn mail_of(user: &UserRow) -> Option<Subject> {
    user.email.as_deref().map(Subject::mail)
}

fn normal(name: &str) -> String {
    name.trim().to_lowercase()
}

fn bad(pointer: &str, detail: &str) -> EngineError {
    EngineError::BadMember { pointer: pointer.into(), detail: detail.into() }
}

/// The same account in normal form, or what is wrong with it.
fn checked(put: &UserPut) -> Result<UserPut> {
    let name = normal(&put.name);
    if !is_word(&name, NAME_CHARS_MAX) {
        return Err(bad("/name", "a name has 1 to 100 characters, without blanks, colons or control characters"));
    }
    // Two accounts that read the same would be one person in every record.
    if Subject::user(&name).as_str().strip_prefix("user:") != Some(name.as_str()) {
        return Err(bad("/name", "a name has no characters that show nothing and no other forms of a letter"));
    }
    let email = put.email.as_deref().map(normal).filter(|e| !e.is_empty());
    if email.as_deref().is_some_and(|e| !e.contains('@') || !is_word(e, EMAIL_CHARS_MAX)) {
        return Err(bad("/email", "this is not a mail address"));
    }
    if put.roles.len() > ROLES_MAX || !put.roles.iter().all(|r| is_word(r, ROLE_CHARS_MAX)) {
        return Err(bad("/roles", "at most 50 roles of 1 to 64 characters, without blanks, colons or commas"));
    }
    let roles: BTreeSet<String> = put.roles.iter().cloned().collect();
    Ok(UserPut { name, email, password_hash: put.password_hash.clone(), roles: roles.into_iter().collect() })
}

/// A colon ends the kind of a subject (`user:`, `role:`), a comma stands between roles on the command line.
fn is_word(text: &str, chars_max: usize) -> bool {
    let is_bad = |c: char| c.is_whitespace() || c.is_control() || matches!(c, ':' | ',');
    !text.is_empty() && text.chars().count() <= chars_max && !text.chars().any(is_bad)
}
