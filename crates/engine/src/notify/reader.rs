//! Who is told: the people behind a member of the audience, with address, language and zone. A mail address is itself;
//! a role is everybody who holds it, by local account or by what single sign-on said of them last.

use std::collections::BTreeMap;

use effectgate_core::{actor::Subject, ids::Tenant, time::Timestamp};
use effectgate_lang::{Language, Zone};
use effectgate_store::{ProfileRow, UserRow};

use super::{Channels, content::Reading};
use crate::{engine::Engine, error::Result};

/// One who is told by mail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reader {
    pub(super) address: String,
    pub(super) language: Language,
    pub(super) zone: Zone,
}

impl Reader {
    pub(super) fn is_same(&self, other: &Self) -> bool {
        Subject::mail(&self.address) == Subject::mail(&other.address)
    }

    pub(super) fn as_reading(&self, now: Timestamp) -> Reading<'_> {
        Reading { language: self.language, zone: &self.zone, now }
    }
}

/// Everybody the tenant knows.
pub(super) struct People {
    users: Vec<UserRow>,
    profiles: Vec<ProfileRow>,
    language: Language,
    zone: Zone,
}

impl Engine {
    pub(super) async fn people(&self, tenant: &Tenant) -> Result<People> {
        let users = self.store().user_list(tenant).await?;
        let profiles = self.store().profile_list(tenant).await?;
        let Channels { language, zone, .. } = &self.policy().channels;
        Ok(People { users, profiles, language: *language, zone: zone.clone() })
    }

    /// A room of several people is spoken to in the house's language.
    pub(super) fn house_reader(&self, room: &str) -> Reader {
        let Channels { language, zone, .. } = &self.policy().channels;
        Reader { address: room.to_owned(), language: *language, zone: zone.clone() }
    }
}

impl People {
    /// The readers behind one member; none for a role that nobody with an address holds, and none for the address of
    /// an account that is out of use.
    pub(super) fn behind(&self, member: &str) -> Vec<Reader> {
        let readers = match member.strip_prefix("role:") {
            Some(role) => self.holders(role),
            None => match member.strip_prefix("user:") {
                Some(name) => self.account(name).into_iter().collect(),
                None => self.known(member.strip_prefix("mail:").unwrap_or(member)).into_iter().collect(),
            },
        };
        // One who holds the role twice, by an account and by single sign-on, is told once.
        let by_person: BTreeMap<Subject, Reader> =
            readers.into_iter().rev().map(|reader| (Subject::mail(&reader.address), reader)).collect();
        by_person.into_values().collect()
    }

    fn holders(&self, role: &str) -> Vec<Reader> {
        let users = self.users.iter().filter(|u| !u.disabled && u.roles.iter().any(|r| r == role));
        let users = users.filter_map(|u| Some(self.reader(u.email.as_ref()?, self.profile_of(u))));
        let others = self.profiles.iter().filter(|p| !self.is_account(p) && p.roles.iter().any(|r| r == role));
        let others = others.filter_map(|p| Some(self.reader(p.email.as_ref()?, Some(p))));
        users.chain(others).collect()
    }

    /// The holder of a local account, where it has an address.
    fn account(&self, name: &str) -> Option<Reader> {
        let user = self.users.iter().find(|u| !u.disabled && Subject::user(&u.name) == Subject::user(name))?;
        Some(self.reader(user.email.as_ref()?, self.profile_of(user)))
    }

    fn known(&self, address: &str) -> Option<Reader> {
        let who = Subject::mail(address);
        let is_them = |email: &Option<String>| email.as_ref().is_some_and(|email| Subject::mail(email) == who);
        let users: Vec<&UserRow> = self.users.iter().filter(|u| is_them(&u.email)).collect();
        if !users.is_empty() && users.iter().all(|u| u.disabled) {
            return None;
        }
        let of_account = users.iter().find_map(|u| self.profile_of(u));
        let profile = of_account.or_else(|| self.profiles.iter().find(|p| is_them(&p.email)));
        Some(self.reader(address, profile))
    }

    fn reader(&self, address: &str, profile: Option<&ProfileRow>) -> Reader {
        let set = |of: fn(&ProfileRow) -> Option<&String>| profile.and_then(of).map(String::as_str);
        Reader {
            address: address.to_owned(),
            language: set(|p| p.language.as_ref()).and_then(Language::of_tag).unwrap_or(self.language),
            zone: set(|p| p.zone.as_ref()).and_then(Zone::parse).unwrap_or_else(|| self.zone.clone()),
        }
    }

    fn profile_of(&self, user: &UserRow) -> Option<&ProfileRow> {
        let subject = Subject::user(&user.name);
        self.profiles.iter().find(|p| p.subject == subject.as_str())
    }

    /// True for the profile of a local account: its roles are the account's.
    fn is_account(&self, profile: &ProfileRow) -> bool {
        profile.source == effectgate_store::ProfileSource::Local
    }
}
