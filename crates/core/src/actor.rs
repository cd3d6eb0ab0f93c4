//! Who did it: a worker, a person, an API key, or the server itself. Written into every journal entry.

use std::{collections::BTreeSet, fmt};

use serde::{Deserialize, Serialize};

use crate::ids::Owner;

/// The stable identity of a person: `user:<name>` for a local account, `mail:<address>` for the audience of a token,
/// `oidc:<issuer>#<sub>` for single sign-on. Compared by bytes; constructors normalise.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Subject(String);

impl Subject {
    /// A local account. Names are compared without regard to case or surrounding blanks.
    #[must_use]
    pub fn user(name: &str) -> Self {
        Self(format!("user:{}", normal(name)))
    }

    /// The person behind a mail address.
    #[must_use]
    pub fn mail(address: &str) -> Self {
        Self(format!("mail:{}", normal(address)))
    }

    /// What a caller named in `requested_by`: a kind and a name. A word without a kind counts as a user.
    #[must_use]
    pub fn named(text: &str) -> Self {
        match text.split_once(':') {
            Some(("mail", address)) => Self::mail(address),
            Some(("user", name)) => Self::user(name),
            Some((kind, rest)) => Self(format!("{kind}:{rest}")),
            None if text.contains('@') => Self::mail(text),
            None => Self::user(text),
        }
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn normal(name: &str) -> String {
    name.trim().to_lowercase()
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How a person came to be known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SignIn {
    /// The one-use link alone; the identity is the audience the token was issued to.
    Token,
    /// A local account with a password, or single sign-on.
    Login,
}

/// A person who acts, with everything a rule may ask about them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    pub subject: Subject,
    /// Other subjects that are known to be the same person (the mail address of an account).
    pub aliases: BTreeSet<Subject>,
    /// Roles and qualifications.
    pub roles: BTreeSet<String>,
    pub sign_in: SignIn,
}

impl Person {
    /// True if `other` names this person.
    #[must_use]
    pub fn is(&self, other: &Subject) -> bool {
        self.subject == *other || self.aliases.contains(other)
    }
}

/// The actor of a journal entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Actor {
    Worker(Owner),
    Person(Subject),
    /// An API key, by its public name.
    ApiKey(String),
    /// A worker of the server: `dispatcher`, `sweeper`, `reconciler`, `policy`.
    System(&'static str),
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Worker(owner) => write!(f, "worker:{owner}"),
            Self::Person(subject) => f.write_str(subject.as_str()),
            Self::ApiKey(name) => write!(f, "key:{name}"),
            Self::System(what) => write!(f, "system:{what}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_spelling_of_an_address_is_the_same_person() {
        for spelling in ["mail:Anna@Example.test", " anna@example.test ", "ANNA@EXAMPLE.TEST"] {
            assert_eq!(Subject::named(spelling), Subject::mail("anna@example.test"), "{spelling}");
        }
    }
}
