//! The approvals of a run: who was asked, who said what when and why. The effects that were asked about are content, and
//! stand on the card.

use effectgate_core::{
    actor::SignIn,
    approval::{Approval, Decision, Verdict},
    run::Aggregate,
};

use super::super::{
    listing::{Moment, Tag},
    text::{Shown, TextBlock},
    visit::Visit,
};

pub(super) struct ApprovalBlock {
    pub(super) href: String,
    pub(super) state: Tag,
    pub(super) audience: Shown,
    pub(super) quorum: i32,
    pub(super) asked: Moment,
    pub(super) expires: Moment,
    pub(super) why: Vec<Shown>,
    pub(super) decisions: Vec<DecisionLine>,
}

pub(super) struct DecisionLine {
    pub(super) subject: Shown,
    pub(super) verdict: &'static str,
    pub(super) at: Moment,
    pub(super) reason: Option<TextBlock>,
    pub(super) is_by_link: bool,
}

/// Newest first: the one that counts stands on top.
pub(super) fn blocks(visit: &Visit, agg: &Aggregate) -> Vec<ApprovalBlock> {
    agg.approvals.iter().rev().map(|approval| block(visit, approval)).collect()
}

fn block(visit: &Visit, approval: &Approval) -> ApprovalBlock {
    ApprovalBlock {
        href: format!("/approvals/{}", approval.id),
        state: Tag::new(approval.state.as_str(), None),
        audience: Shown::new(&approval.terms.audience.join(", ")),
        quorum: approval.terms.quorum,
        asked: Moment::new(visit, approval.created_at),
        expires: Moment::new(visit, approval.expires_at),
        why: approval.terms.why.iter().map(|why| Shown::new(why)).collect(),
        decisions: approval.decisions.iter().map(|decision| line(visit, decision)).collect(),
    }
}

fn line(visit: &Visit, decision: &Decision) -> DecisionLine {
    DecisionLine {
        subject: Shown::new(decision.subject.as_str()),
        verdict: match decision.verdict {
            Verdict::Approve => "approved",
            Verdict::Reject => "rejected",
        },
        at: Moment::new(visit, decision.at),
        reason: decision.reason.as_deref().map(TextBlock::new),
        is_by_link: decision.sign_in == SignIn::Token,
    }
}
