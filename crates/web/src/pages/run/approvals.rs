//! The approvals of a run: who was asked, who said what when and why, and where somebody edited. The effects that were
//! asked about, and what was changed in them, are content, and stand on the card.

use effectgate_core::{
    actor::{SignIn, Subject},
    approval::{self, Approval, Decision, Edit, Verdict},
    run::Aggregate,
};

use super::super::{
    action::{Action, Refusal, Words},
    listing::{Moment, Tag},
    text::{Shown, TextBlock, plural},
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
    pub(super) edits: Vec<EditLine>,
    /// How many effects wait in it; none once it is decided: then they are in the outbox, or nowhere.
    pub(super) proposed: Option<String>,
    /// Nobody could be told of the question.
    pub(super) is_undeliverable: bool,
    pub(super) actions: Vec<Action>,
}

/// An edit: by whom, and where; never what.
pub(super) struct EditLine {
    pub(super) by: Shown,
    pub(super) at: Moment,
    pub(super) places: Vec<Shown>,
}

pub(super) struct DecisionLine {
    pub(super) subject: Shown,
    pub(super) verdict: &'static str,
    pub(super) at: Moment,
    pub(super) reason: Option<TextBlock>,
    pub(super) is_by_link: bool,
    /// About effects that somebody edited afterwards: it does not count any more.
    pub(super) is_superseded: bool,
}

/// Newest first: the one that counts stands on top.
pub(super) fn blocks(
    visit: &Visit,
    agg: &Aggregate,
    may_operate: bool,
    refusal: Option<&Refusal>,
) -> Vec<ApprovalBlock> {
    let block = |approval: &Approval| {
        let actions = if may_operate && approval.is_open(visit.now) { vec![withdraw(visit, approval)] } else { vec![] };
        let actions = actions.into_iter().map(|action| action.again(refusal)).collect();
        ApprovalBlock { actions, ..block(visit, approval) }
    };
    agg.approvals.iter().rev().map(block).collect()
}

fn block(visit: &Visit, approval: &Approval) -> ApprovalBlock {
    let outcome = approval.outcome().map_or(approval.state.as_str(), |outcome| outcome.as_str());
    ApprovalBlock {
        href: format!("/approvals/{}", approval.id),
        state: Tag::new(outcome, None),
        audience: Shown::new(&approval.terms.audience.join(", ")),
        quorum: approval.terms.quorum,
        asked: Moment::new(visit, approval.created_at),
        expires: Moment::new(visit, approval.expires_at),
        why: approval.terms.why.iter().map(|why| Shown::new(why)).collect(),
        decisions: approval.decisions.iter().map(|decision| line(visit, approval, decision)).collect(),
        edits: approval.edits.iter().map(|edit| edited(visit, approval, edit)).collect(),
        proposed: approval.is_open(visit.now).then(|| proposed(approval.proposed.len())),
        is_undeliverable: approval.terms.undeliverable,
        actions: Vec::new(),
    }
}

/// The name that colleagues know, and the subject of the record where that is another.
fn both(known: &Subject, subject: &Subject) -> String {
    if known == subject { subject.to_string() } else { format!("{known} ({subject})") }
}

fn proposed(n: usize) -> String {
    format!("{n} {}", plural(n, "effect waits", "effects wait"))
}

fn line(visit: &Visit, approval: &Approval, decision: &Decision) -> DecisionLine {
    DecisionLine {
        subject: Shown::new(&both(decision.known_as(), &decision.subject)),
        verdict: match decision.verdict {
            Verdict::Approve => "approved",
            Verdict::Reject => "rejected",
            Verdict::Edit => "edited and approved",
        },
        at: Moment::new(visit, decision.at),
        reason: decision.reason.as_deref().map(TextBlock::new),
        is_by_link: decision.sign_in == SignIn::Token,
        is_superseded: !approval.counts(decision),
    }
}

fn edited(visit: &Visit, approval: &Approval, edit: &Edit) -> EditLine {
    let changes = approval::changes(&edit.before, &edit.after);
    let place = |change: &approval::EffectChange| {
        let pointer = if change.change.pointer.is_empty() { "the whole payload" } else { &change.change.pointer };
        Shown::new(&format!("effect {}: {pointer} {}", change.effect + 1, change.change.kind.as_str()))
    };
    EditLine {
        by: Shown::new(&both(approval.known_as(&edit.by), &edit.by)),
        at: Moment::new(visit, edit.at),
        places: changes.iter().map(place).collect(),
    }
}

fn withdraw(visit: &Visit, approval: &Approval) -> Action {
    let words = Words {
        name: "withdraw",
        title: "Take the question back",
        does: "Nobody can decide any more, the run ends here for good, and nothing of it is sent.".into(),
        button: "Withdraw the approval",
        is_stop: true,
    };
    let path = format!("/runs/{}/withdraw", approval.id.run);
    Action::new(visit, path, usize::try_from(approval.id.n).unwrap_or_default(), i64::from(approval.id.n), words)
}
