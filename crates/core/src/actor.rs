//! Who did it: a worker, a person, an API key, or the server itself. Written into every journal entry.

use std::{collections::BTreeSet, fmt};

use serde::{Deserialize, Serialize};

use unicode_normalization::UnicodeNormalization;

use crate::{
    ids::{Owner, SourceName},
    key::is_invisible,
};

/// The stable identity of a person: `user:<name>` for a local account, `mail:<address>` for the audience of a token,
/// `oidc:<issuer>#<sub>` for single sign-on. Compared by bytes; constructors normalise.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Subject(String);

impl Subject {
    /// A local account. Names are compared without regard to case, Unicode form or characters that show nothing.
    #[must_use]
    pub fn user(name: &str) -> Self {
        Self(format!("user:{}", normal(name)))
    }

    /// The person behind a mail address.
    #[must_use]
    pub fn mail(address: &str) -> Self {
        let inside = address.trim().strip_suffix('>').and_then(|a| a.rsplit_once('<'));
        Self(format!("mail:{}", normal(inside.map_or(address, |(_, address)| address))))
    }

    /// Somebody an issuer vouches for. Both parts are the issuer's own spelling, byte by byte: subjects of single sign-on
    /// are compared with regard to case (OpenID Connect Core section 2).
    #[must_use]
    pub fn single_sign_on(issuer: &str, sub: &str) -> Self {
        Self(format!("oidc:{issuer}#{sub}"))
    }

    /// What a caller named in `requested_by`: a kind and a name. A word without a kind counts as a user, one with an
    /// `@` as a mail address. Kinds are read in any case, `mailto` is `mail`, and of `Anna <anna@example.test>` the
    /// address counts.
    #[must_use]
    pub fn named(text: &str) -> Self {
        let (kind, rest) = match text.trim().split_once(':') {
            Some((kind, rest)) => (normal(kind), rest.trim()),
            None => (String::new(), text.trim()),
        };
        match kind.as_str() {
            "mail" | "mailto" => Self::mail(rest),
            "user" => Self::user(rest),
            "" if rest.contains('@') => Self::mail(rest),
            "" => Self::user(rest),
            _ => Self(format!("{kind}:{rest}")),
        }
    }

    /// Everyone that such a text may mean: an account may be named by its mail address. For rules that must rather
    /// recognise too many than too few.
    #[must_use]
    pub fn meant(text: &str) -> Vec<Self> {
        let named = Self::named(text);
        let other = match named.0.split_once(':') {
            Some(("user", name)) if name.contains('@') => Some(Self::mail(name)),
            Some(("mail", address)) => Some(Self::user(address)),
            _ => None,
        };
        std::iter::once(named).chain(other).collect()
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// NFKC, so that full-width and decomposed letters are the letters they look like; lower case; nothing invisible.
fn normal(name: &str) -> String {
    let lower = name.nfkc().collect::<String>().to_lowercase();
    let visible: String = lower.nfkc().filter(|c| c.is_whitespace() || !is_invisible(*c)).collect();
    visible.trim().to_owned()
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
    /// A sender at the inbound door, by the source whose signature it bore.
    Source(SourceName),
    /// A worker of the server: `dispatcher`, `sweeper`, `reconciler`, `policy`.
    System(&'static str),
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Worker(owner) => write!(f, "worker:{owner}"),
            Self::Person(subject) => f.write_str(subject.as_str()),
            Self::ApiKey(name) => write!(f, "key:{name}"),
            Self::Source(name) => write!(f, "source:{name}"),
            Self::System(what) => write!(f, "system:{what}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_of_single_sign_on_is_itself_when_it_is_written_down_and_read_again() {
        let subject = Subject::single_sign_on("https://sso.test/realms/a", "F00:Bar#1");

        assert_eq!(subject.as_str(), "oidc:https://sso.test/realms/a#F00:Bar#1");
        assert_eq!(Subject::named(subject.as_str()), subject);
        assert_ne!(Subject::named(&subject.as_str().to_lowercase()), subject, "case counts");
    }

    #[test]
    fn another_spelling_of_an_address_is_the_same_person() {
        let spellings = [
            "mail:Anna@Example.test",
            " anna@example.test ",
            "ANNA@EXAMPLE.TEST",
            " Mail: anna@example.test",
            "mailto:anna@example.test",
            "Anna Svensson <anna@example.test>",
            "\u{ff21}nna@example.test",
            "an\u{200b}na@example.test\u{feff}",
        ];
        for spelling in spellings {
            assert_eq!(Subject::named(spelling), Subject::mail("anna@example.test"), "{spelling}");
        }
    }
}
