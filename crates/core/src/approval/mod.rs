//! An approval: a request to named people, with one-use tokens, that ends approved, rejected, expired or withdrawn.
//! Here is what it is and what can be read off it; its neighbours say what was asked of whom ([`Terms`]), who may
//! decide and what a decision does ([`decide()`]), what an edit is ([`Edit`]), and how it ends without a decision.
//!
//! Journey (b) passes through [`decide()`]; page, API and command line call the same function.

mod decide;
mod edit;
mod ending;
mod member;
mod refusal;
mod remind;
mod resume;
mod telling;
mod terms;
mod wish;

pub use decide::{decide, may_decide, separates_duties};
pub use edit::{EDITS_MAX, Edit, EditedEffect, EffectChange, Misfit, changes, edited};
pub use ending::{expire, withdraw};
pub use member::{member_key, member_keys_of};
pub use refusal::{Refused, refused};
pub use remind::remind;
pub use resume::{RESUMES_MAX, Resume, ResumeAt, resume_at};
pub use telling::{Telling, note_telling};
pub use terms::{LoginRule, Terms, TokenGrant, Withdrawal, is_in_audience};
pub use wish::{Decision, REASON_CHARS_MAX, Verdict, Wish};

use serde::{Deserialize, Serialize};

use crate::{
    actor::{Person, Subject},
    digest::Digest,
    ids::ApprovalId,
    proposal::Proposed,
    time::Timestamp,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalState {
    Open,
    Approved,
    Rejected,
    Expired,
    Withdrawn,
}

impl ApprovalState {
    pub const ALL: [Self; 5] = [Self::Open, Self::Approved, Self::Rejected, Self::Expired, Self::Withdrawn];

    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Approved => "approved",
            Self::Rejected => "rejected",
            Self::Expired => "expired",
            Self::Withdrawn => "withdrawn",
        }
    }

    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|s| s.as_str() == word)
    }
}

/// How an approval ended. An expiry of which nobody could be told is an outcome of its own: nobody was slow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Approved,
    Rejected,
    Expired,
    Withdrawn,
    Undeliverable,
}

impl Outcome {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::Rejected => "rejected",
            Self::Expired => "expired",
            Self::Withdrawn => "withdrawn",
            Self::Undeliverable => "undeliverable",
        }
    }
}

/// A request for a decision about exactly the effects whose hash it carries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approval {
    pub id: ApprovalId,
    pub state: ApprovalState,
    /// Over every effect of the proposal, in order, as they are now: an edit changes it.
    pub effects_hash: Digest,
    /// The effects as they will go out. They enter the outbox with the decision, not before.
    pub proposed: Vec<Proposed>,
    pub terms: Terms,
    /// All of them, those about earlier effects too. [`Approval::counts`] says which are about the present ones.
    pub decisions: Vec<Decision>,
    /// What people changed, oldest first. Content: erased with it, so it may be shorter than the record.
    pub edits: Vec<Edit>,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
    /// When to remind or escalate next; `None` when there is nothing left to do before expiry.
    pub next_step_at: Option<Timestamp>,
    pub decided_at: Option<Timestamp>,
}

/// What an open approval still waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wants {
    /// Approvals missing until the quorum is full, or until somebody who edited nothing has agreed.
    pub more: usize,
    /// True if everybody who approved has edited: the next one must be somebody who did not.
    pub by_non_editor: bool,
}

impl Approval {
    /// [`Decision::known_as`] for a subject of which a decision is on record; else the subject itself.
    #[must_use]
    pub fn known_as<'a>(&'a self, subject: &'a Subject) -> &'a Subject {
        self.decisions.iter().find(|d| d.subject == *subject).map_or(subject, Decision::known_as)
    }

    /// How it ended; `None` while it is open.
    #[must_use]
    pub const fn outcome(&self) -> Option<Outcome> {
        match self.state {
            ApprovalState::Open => None,
            ApprovalState::Approved => Some(Outcome::Approved),
            ApprovalState::Rejected => Some(Outcome::Rejected),
            ApprovalState::Expired if self.terms.undeliverable => Some(Outcome::Undeliverable),
            ApprovalState::Expired => Some(Outcome::Expired),
            ApprovalState::Withdrawn => Some(Outcome::Withdrawn),
        }
    }

    /// True if it can be decided at `now`. The end is the moment that was promised, not the sweep that notes it.
    #[must_use]
    pub fn is_open(&self, now: Timestamp) -> bool {
        self.state == ApprovalState::Open && self.expires_at > now
    }

    /// True if a decision is about the effects as they are now. One from before decisions carried a hash is about those
    /// that were asked for first.
    #[must_use]
    pub fn counts(&self, decision: &Decision) -> bool {
        self.hash_of(decision) == self.effects_hash
    }

    fn hash_of(&self, decision: &Decision) -> Digest {
        let first = self.edits.first().map_or(self.effects_hash, |edit| edit.from_hash);
        decision.effects_hash.unwrap_or(first)
    }

    /// Those who agreed to the effects as they are now; whoever edited them agreed too. Each person once, with the latest
    /// word: who approved, and edits back to the very same effects after an edit by somebody else, agreed twice and is
    /// still one of a quorum.
    pub fn approvals(&self) -> impl Iterator<Item = &Decision> {
        let agrees = |d: &Decision| d.verdict != Verdict::Reject && self.counts(d);
        let later =
            move |n: usize, d: &Decision| self.decisions[n + 1..].iter().any(|l| agrees(l) && l.is_same_person(d));
        self.decisions.iter().enumerate().filter(move |(n, d)| agrees(d) && !later(*n, d)).map(|(_, d)| d)
    }

    /// True if the one who took this decision edited the effects, now or earlier. Whoever wrote some of it does not
    /// judge it alone.
    #[must_use]
    pub fn is_by_editor(&self, decision: &Decision) -> bool {
        self.decisions.iter().any(|d| d.verdict == Verdict::Edit && d.is_same_person(decision))
    }

    /// What is missing until the effects go out.
    #[must_use]
    pub fn wants(&self) -> Wants {
        let have = self.approvals().count();
        let by_non_editor = self.terms.separation && have > 0 && self.approvals().all(|d| self.is_by_editor(d));
        let more = self.terms.quorum().saturating_sub(have).max(usize::from(by_non_editor));
        Wants { more, by_non_editor }
    }

    /// True if `person` has decided about the effects as they are now.
    #[must_use]
    pub fn has_decided(&self, person: &Person) -> bool {
        self.decisions.iter().any(|d| self.counts(d) && d.is_by(person))
    }

    /// The effects as they were when this was their hash; `None` for a hash they never had, or once edits are erased.
    #[must_use]
    pub fn effects_at(&self, hash: Digest) -> Option<&[Proposed]> {
        if hash == self.effects_hash {
            return Some(&self.proposed);
        }
        let before = self.edits.iter().find(|edit| edit.from_hash == hash).map(|edit| &edit.before);
        let after = || self.edits.iter().find(|edit| edit.to_hash == hash).map(|edit| &edit.after);
        before.or_else(after).map(Vec::as_slice)
    }

    /// What changed from one hash to another: what a person is shown whose page was overtaken by an edit.
    /// `None` if one of them was never the hash of these effects.
    #[must_use]
    pub fn changes_between(&self, from: Digest, to: Digest) -> Option<Vec<EffectChange>> {
        Some(changes(self.effects_at(from)?, self.effects_at(to)?))
    }

    /// A repeated click: the same person, the same verdict, about what was shown then, and for an edit the same words.
    #[must_use]
    pub fn repeats(&self, person: &Person, wish: &Wish) -> bool {
        if wish.verdict == Verdict::Edit {
            return self.repeats_edit(person, wish);
        }
        let alike = |d: &Decision| d.verdict == wish.verdict && self.hash_of(d) == wish.shown;
        self.decisions.iter().any(|d| alike(d) && d.is_by(person))
    }

    fn repeats_edit(&self, person: &Person, wish: &Wish) -> bool {
        let came_to = |edit: &Edit| {
            let after = wish.edited.as_deref().and_then(|asked| edited(&edit.before, asked).ok());
            after.is_some_and(|after| crate::proposal::effects_hash(&after) == edit.to_hash)
        };
        let is_theirs = |edit: &Edit| {
            let alike = |d: &Decision| d.verdict == Verdict::Edit && d.effects_hash == Some(edit.to_hash);
            self.decisions.iter().any(|d| alike(d) && d.is_by(person))
        };
        self.edits.iter().any(|edit| edit.from_hash == wish.shown && is_theirs(edit) && came_to(edit))
    }
}
