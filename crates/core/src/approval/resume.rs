//! Where a workflow execution that waits for an approval is told that it has ended. Asked for with the proposal or
//! later; the end itself carries a notice for each such place, in its own transaction, whatever the end is.
//!
//! Not here: calling it. That is an effect like every other, of a run of its own.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Approval, ApprovalState};
use crate::{
    actor::Actor,
    facts,
    ids::ApprovalId,
    journal::EntryKind,
    notice::{Notice, NoticeKind, RESUME_PLACE},
    run::Aggregate,
    time::Timestamp,
    transition::{Draft, Transition},
};

/// How often one approval may be given another place. An execution that is tried again waits at a new one; more than a
/// hundred is a loop (G15).
pub const RESUMES_MAX: u32 = 100;

/// One place. The address carries a signature: it is neither journalled nor shown.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resume {
    /// Counts from 1 within the approval.
    pub n: u32,
    pub url: String,
    /// The execution's id over there.
    pub execution: String,
    /// The node it waits at: its id, or its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
}

impl fmt::Debug for Resume {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Resume({}, execution {}, node {:?})", self.n, self.execution, self.node)
    }
}

impl Resume {
    /// A first place, for an approval that has none yet.
    #[must_use]
    pub fn first(url: String, execution: String, node: Option<String>) -> Self {
        Self { n: 1, url, execution, node }
    }

    /// True if it is the same place, whichever number it has.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        (&self.url, &self.execution, &self.node) == (&other.url, &other.execution, &other.node)
    }
}

/// What a wish to be told at a place comes to.
#[derive(Debug, Clone)]
pub enum ResumeAt {
    Set(Box<Transition>),
    /// It is the place already.
    Same,
    /// There is no approval of this id in the run.
    Absent,
    TooOften,
}

/// Says where the end of an approval is to be told. While it is open a new place takes the old one's; once it has ended
/// the place is told at once, beside those that were told before.
#[must_use]
pub fn resume_at(agg: &Aggregate, id: ApprovalId, actor: &Actor, resume: &Resume, now: Timestamp) -> ResumeAt {
    let Some(approval) = agg.approvals.iter().find(|a| a.id == id) else { return ResumeAt::Absent };
    let places = &approval.terms.resumes;
    if places.iter().any(|there| there.is_same(resume)) {
        return ResumeAt::Same;
    }
    let n = places.last().map_or(0, |last| last.n) + 1;
    if n > RESUMES_MAX {
        return ResumeAt::TooOften;
    }
    let mut next = approval.clone();
    let mut draft = Draft::on(&agg.run, now);
    draft.entry(
        EntryKind::ResumeAsked,
        actor,
        facts! { "approval" => id, "execution" => resume.execution, "node" => resume.node, "n" => n },
    );
    if next.state == ApprovalState::Open {
        next.terms.resumes.clear();
    } else {
        tell(&mut draft, id, n);
    }
    next.terms.resumes.push(Resume { n, ..resume.clone() });
    draft.transition_mut().approvals.push(next);
    ResumeAt::Set(Box::new(draft.noted()))
}

/// Adds a notice for each place where the end is to be told.
pub(super) fn tell_all(draft: &mut Draft, approval: &Approval) {
    for place in &approval.terms.resumes {
        tell(draft, approval.id, place.n);
    }
}

fn tell(draft: &mut Draft, id: ApprovalId, n: u32) {
    let (seq, now) = (draft.run().head.seq, draft.now());
    let kind = NoticeKind::Resume { approval: id, n };
    draft.notice(Notice::new(seq, RESUME_PLACE, kind, format!("resume:{id}:{n}"), now));
}
