//! Why a decision was not taken, and how the try is recorded. Expected, so a value; the web room says it with a status.

use crate::{
    actor::{Actor, Person},
    digest::Digest,
    facts,
    ids::ApprovalId,
    journal::EntryKind,
    run::Aggregate,
    time::Timestamp,
    transition::{Draft, Transition},
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused {
    /// Decided, expired or withdrawn before; the approval as it is says who and when.
    Over,
    /// The effects are not the ones that were shown.
    Changed {
        now: Digest,
    },
    LoginRequired,
    NotInAudience,
    NotQualified {
        missing: Vec<String>,
    },
    SeparationOfDuties,
    /// This person decided already about these effects and waits for the others of the quorum.
    AlreadyDecided,
    ReasonRequired,
    ReasonTooLong,
    /// The edit breaks the rules that a proposal keeps, or touches more than payloads.
    InvalidEdit,
    /// An edit that leaves every value as it was.
    NothingChanged,
    TooManyEdits,
}

impl Refused {
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Over => "approval_over",
            Self::Changed { .. } => "effects_changed",
            Self::LoginRequired => "login_required",
            Self::NotInAudience => "not_in_audience",
            Self::NotQualified { .. } => "not_qualified",
            Self::SeparationOfDuties => "separation_of_duties",
            Self::AlreadyDecided => "already_decided",
            Self::ReasonRequired => "reason_required",
            Self::ReasonTooLong => "reason_too_long",
            Self::InvalidEdit => "invalid_edit",
            Self::NothingChanged => "nothing_changed",
            Self::TooManyEdits => "too_many_edits",
        }
    }
}

/// Records a refused try without touching the run, or nothing once the run has recorded enough of them.
#[must_use]
pub fn refused(agg: &Aggregate, id: ApprovalId, person: &Person, why: &Refused, now: Timestamp) -> Option<Transition> {
    let mut draft = Draft::on(&agg.run, now);
    crate::lease::count_refusal(&mut draft)?;
    draft.entry(
        EntryKind::DecisionRefused,
        &Actor::Person(person.subject.clone()),
        facts! { "approval" => id, "code" => why.code() },
    );
    Some(draft.noted())
}
