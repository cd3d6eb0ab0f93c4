//! What the viewer of a card may do, to show a form only where it can be used. The rules are core's; the decision
//! itself is judged there and nowhere else.

use effectgate_core::{
    approval::{Approval, Refused, Verdict, Wish, may_decide},
    time::Timestamp,
};
use effectgate_lang::Msg;

use super::{text::Shown, tongue::Tongue, viewer::Viewer};

pub(crate) struct Ask {
    /// Who will be logged as the decider.
    pub(crate) decider: Shown,
    pub(crate) by_link: bool,
    pub(crate) may_approve: bool,
    pub(crate) may_reject: bool,
    /// Take the question back.
    pub(crate) may_withdraw: bool,
    /// Why not, in a sentence.
    pub(crate) notes: Vec<String>,
}

impl Ask {
    pub(crate) fn new(approval: &Approval, viewer: &Viewer, now: Timestamp, tongue: &Tongue) -> Self {
        let is_open = approval.is_open(now);
        let stop = |verdict| if is_open { stops(approval, viewer, verdict) } else { Some(Refused::Over) };
        let (approve, reject) = (stop(Verdict::Approve), stop(Verdict::Reject));
        let note = approve.as_ref().filter(|_| is_open).map(|why| said(why, tongue));
        Self {
            decider: Shown::new(viewer.person.subject.as_str()),
            by_link: viewer.is_by_link(),
            may_approve: approve.is_none(),
            may_reject: reject.is_none(),
            may_withdraw: is_open && !viewer.is_by_link() && (viewer.is_operator() || is_requester(approval, viewer)),
            notes: note.into_iter().collect(),
        }
    }

    /// True if there is anything to do about the question itself.
    pub(crate) fn may_decide(&self) -> bool {
        self.may_approve || self.may_reject
    }
}

fn is_requester(approval: &Approval, viewer: &Viewer) -> bool {
    approval.terms.requesters.iter().any(|requester| viewer.person.is(requester))
}

/// What would stand in the way of this verdict, given with a reason and about what is shown.
fn stops(approval: &Approval, viewer: &Viewer, verdict: Verdict) -> Option<Refused> {
    let wish = Wish { verdict, reason: Some("-".into()), shown: approval.effects_hash, edited: None };
    may_decide(approval, &viewer.person, &wish).err()
}

/// What stands in the way, as the card says it.
pub(crate) fn said(why: &Refused, tongue: &Tongue) -> String {
    match why {
        Refused::Over => tongue.say(Msg::StopOver),
        Refused::Changed { .. } => tongue.say(Msg::StopChanged),
        Refused::LoginRequired => tongue.say(Msg::StopSignIn),
        Refused::NotInAudience => tongue.say(Msg::StopNotAsked),
        Refused::NotQualified { missing } => tongue.with(Msg::StopQualification, "names", &missing.join(", ")),
        Refused::SeparationOfDuties => tongue.say(Msg::StopOwnRequest),
        Refused::AlreadyDecided => tongue.say(Msg::StopDecidedAlready),
        Refused::ReasonRequired => tongue.say(Msg::StopReason),
        Refused::ReasonTooLong => tongue.say(Msg::StopReasonTooLong),
        Refused::InvalidEdit => tongue.say(Msg::EditErrors),
        Refused::NothingChanged => tongue.say(Msg::EditNothing),
        Refused::TooManyEdits => tongue.say(Msg::EditTooMany),
    }
}
