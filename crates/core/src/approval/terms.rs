//! What was asked of whom: the audience and how its members are recognised, quorum, sign-in, separation, reminders.
//! What the asked may then do is decided in [`super::decide()`].

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{Approval, Resume, member_key, member_keys_of};
use crate::{
    actor::{Person, Subject},
    digest::Digest,
    flow::Login,
    ids::ApprovalId,
    time::Timestamp,
};

/// What was asked of whom; fixed when the request is made, apart from the audience, which an escalation widens, and
/// what became of the asking.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Terms {
    /// `role:<name>` or mail addresses.
    pub audience: Vec<String>,
    pub quorum: i32,
    pub login: LoginRule,
    pub separation: bool,
    /// Qualifications that the decider must hold, all of them.
    pub qualifications: Vec<String>,
    /// Why a person is asked, in words.
    pub why: Vec<String>,
    /// Who asked: the requester named in the proposal and the API key or owner behind it.
    pub requesters: Vec<Subject>,
    /// What is left to do before expiry.
    #[serde(default)]
    pub remind_at: Option<Timestamp>,
    #[serde(default)]
    pub escalate_at: Option<Timestamp>,
    #[serde(default)]
    pub escalate_to: Vec<String>,
    /// True where the flow says that the caller delivers the link: then nobody is told by us of an edit either.
    #[serde(default)]
    pub caller_delivers: bool,
    /// True as long as nobody could be told.
    #[serde(default)]
    pub undeliverable: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withdrawn: Option<Withdrawal>,
    /// Where waiting executions are told of its end; while it is open, one at most.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resumes: Vec<Resume>,
}

impl Terms {
    /// How many different people must agree; at least one, whatever the row says.
    #[must_use]
    pub fn quorum(&self) -> usize {
        usize::try_from(self.quorum).unwrap_or(1).max(1)
    }

    /// The audience as [`member_key`]s, each once.
    #[must_use]
    pub fn members(&self) -> BTreeSet<String> {
        self.audience.iter().map(|member| member_key(member)).collect()
    }
}

/// Who took the question back, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Withdrawal {
    /// As the journal names the actor.
    pub by: String,
    pub at: Timestamp,
    pub reason: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoginRule {
    Required,
    Token,
}

impl From<Login> for LoginRule {
    fn from(login: Login) -> Self {
        match login {
            Login::Required => Self::Required,
            Login::Token => Self::Token,
        }
    }
}

/// A one-use token, known by its hash only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenGrant {
    pub hash: Digest,
    pub approval: ApprovalId,
    /// The audience it was issued to: a mail address or `role:<name>`.
    pub audience: String,
    pub expires_at: Timestamp,
    pub created_at: Timestamp,
}

/// True if the person is one of those who were asked.
#[must_use]
pub fn is_in_audience(approval: &Approval, person: &Person) -> bool {
    !approval.terms.members().is_disjoint(&member_keys_of(person))
}
