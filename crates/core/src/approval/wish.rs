//! What a person wishes, and the decision it becomes.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::EditedEffect;
use crate::{
    actor::{Person, SignIn, Subject},
    digest::Digest,
    time::Timestamp,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Approve,
    Reject,
    /// Edit and approve: the payloads become others, and whoever changed them agrees to the result.
    Edit,
}

impl Verdict {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Reject => "reject",
            Self::Edit => "edit",
        }
    }
}

/// A reason is a sentence or two, not a document; it goes into the journal.
pub const REASON_CHARS_MAX: usize = 2_000;

/// A person's wish.
#[derive(Debug, Clone)]
pub struct Wish {
    pub verdict: Verdict,
    pub reason: Option<String>,
    /// The hash that was on the page or in the answer the person saw.
    pub shown: Digest,
    /// With [`Verdict::Edit`]: every effect, in the order shown.
    pub edited: Option<Vec<EditedEffect>>,
}

/// One person's decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    pub subject: Subject,
    /// Who else this person was known to be: a quorum counts people, not their names.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub aliases: BTreeSet<Subject>,
    pub verdict: Verdict,
    pub reason: Option<String>,
    pub at: Timestamp,
    pub sign_in: SignIn,
    /// The effects it is about; of an edit, those that came of it. `None` in rows from before there were edits.
    #[serde(default)]
    pub effects_hash: Option<Digest>,
}

impl Decision {
    /// How colleagues know the person: the verified mail address behind a single sign-on, whose own subject is an
    /// issuer's number; else the subject. For reading only; rules and the journal go by the subject.
    #[must_use]
    pub fn known_as(&self) -> &Subject {
        let mail = || self.aliases.iter().find(|alias| alias.as_str().starts_with("mail:"));
        if self.subject.as_str().starts_with("oidc:") { mail().unwrap_or(&self.subject) } else { &self.subject }
    }

    /// True if `person` took it, under whatever name.
    #[must_use]
    pub fn is_by(&self, person: &Person) -> bool {
        person.is(&self.subject) || self.aliases.iter().any(|alias| person.is(alias))
    }

    /// True if the same person took both.
    #[must_use]
    pub fn is_same_person(&self, other: &Self) -> bool {
        let names = |d: &Self| d.aliases.iter().chain([&d.subject]).cloned().collect::<BTreeSet<Subject>>();
        !names(self).is_disjoint(&names(other))
    }
}
