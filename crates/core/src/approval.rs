//! An approval: a request to named people, with one-use tokens, that ends decided, expired or withdrawn. The rules of
//! who may decide (audience, qualification, separation of duties, quorum) and what a decision does.
//!
//! Journey (b) passes through [`decide`]; page, API and command line call the same function.

mod member;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::{
    actor::{Actor, Person, SignIn, Subject},
    digest::Digest,
    facts,
    flow::Login,
    ids::ApprovalId,
    journal::EntryKind,
    notice::{Alert, Notice, NoticeKind, Urgency},
    proposal::{self, Proposed},
    run::{Aggregate, RunState},
    time::Timestamp,
    transition::{Draft, Transition},
};

pub use member::{member_key, member_keys_of};

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

/// A request for a decision about exactly the effects whose hash it carries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approval {
    pub id: ApprovalId,
    pub state: ApprovalState,
    /// Over every effect of the proposal, in order.
    pub effects_hash: Digest,
    /// The effects as they will go out. They enter the outbox with the decision, not before.
    pub proposed: Vec<Proposed>,
    pub terms: Terms,
    pub decisions: Vec<Decision>,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
    /// When to remind or escalate next; `None` when there is nothing left to do before expiry.
    pub next_step_at: Option<Timestamp>,
    pub decided_at: Option<Timestamp>,
}

/// What was asked of whom; fixed when the request is made, apart from the audience, which an escalation widens.
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Approve,
    Reject,
}

impl Verdict {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Reject => "reject",
        }
    }
}

impl Decision {
    /// True if `person` took it, under whatever name.
    #[must_use]
    pub fn is_by(&self, person: &Person) -> bool {
        person.is(&self.subject) || self.aliases.iter().any(|alias| person.is(alias))
    }
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

/// Why a decision was not taken. Expected, so a value; the web room says it with a status.
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
    /// This person decided already and waits for the others of the quorum.
    AlreadyDecided,
    ReasonRequired,
    ReasonTooLong,
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
}

/// Separation of duties: may this person be the one who approves? The only place that knows; every path calls it
/// before any change, for administrators too, whatever the amount. Rejecting one's own request is allowed.
#[must_use]
pub fn separates_duties(approval: &Approval, person: &Person) -> bool {
    !approval.terms.separation || !approval.terms.requesters.iter().any(|requester| person.is(requester))
}

/// True if the person is one of those who were asked.
#[must_use]
pub fn is_in_audience(approval: &Approval, person: &Person) -> bool {
    approval.terms.audience.iter().any(|member| match member.strip_prefix("role:") {
        Some(role) => person.roles.contains(role),
        None => person.is(&Subject::mail(member)),
    })
}

/// Says whether the person may take this decision now.
///
/// # Errors
/// The first rule that stands in the way.
pub fn may_decide(approval: &Approval, person: &Person, wish: &Wish) -> Result<(), Refused> {
    if approval.state != ApprovalState::Open {
        return Err(Refused::Over);
    }
    if approval.terms.login == LoginRule::Required && person.sign_in == SignIn::Token {
        return Err(Refused::LoginRequired);
    }
    if !is_in_audience(approval, person) {
        return Err(Refused::NotInAudience);
    }
    let missing: Vec<String> =
        approval.terms.qualifications.iter().filter(|q| !person.roles.contains(*q)).cloned().collect();
    if !missing.is_empty() {
        return Err(Refused::NotQualified { missing });
    }
    if wish.verdict == Verdict::Approve && !separates_duties(approval, person) {
        return Err(Refused::SeparationOfDuties);
    }
    if approval.decisions.iter().any(|d| d.is_by(person)) {
        return Err(Refused::AlreadyDecided);
    }
    if wish.shown != approval.effects_hash {
        return Err(Refused::Changed { now: approval.effects_hash });
    }
    let reason = wish.reason.as_deref().unwrap_or_default().trim();
    if wish.verdict == Verdict::Reject && reason.is_empty() {
        return Err(Refused::ReasonRequired);
    }
    if reason.chars().count() > REASON_CHARS_MAX {
        return Err(Refused::ReasonTooLong);
    }
    Ok(())
}

/// Takes a decision: the approval, the run's state, the outbox and the journal in one transition. With a quorum, a
/// first approval is recorded and the run waits on.
///
/// # Errors
/// [`Refused`], with nothing changed.
pub fn decide(
    agg: &Aggregate,
    id: ApprovalId,
    person: &Person,
    wish: &Wish,
    now: Timestamp,
) -> Result<Transition, Refused> {
    let approval = agg.approvals.iter().find(|a| a.id == id).ok_or(Refused::Over)?;
    // The end is the moment that was promised, not the sweep that notes it.
    if approval.expires_at <= now {
        return Err(Refused::Over);
    }
    may_decide(approval, person, wish)?;
    // The bytes at hand, not only the hash beside them.
    let bytes_now = proposal::effects_hash(&approval.proposed);
    if bytes_now != approval.effects_hash {
        return Err(Refused::Changed { now: bytes_now });
    }
    Ok(taken(agg, approval, person, wish, now))
}

fn taken(agg: &Aggregate, approval: &Approval, person: &Person, wish: &Wish, now: Timestamp) -> Transition {
    let mut next = approval.clone();
    let reason = wish.reason.as_deref().map(str::trim).filter(|r| !r.is_empty()).map(str::to_owned);
    next.decisions.push(Decision {
        subject: person.subject.clone(),
        aliases: person.aliases.clone(),
        verdict: wish.verdict,
        reason: reason.clone(),
        at: now,
        sign_in: person.sign_in,
    });
    let approvals = next.decisions.iter().filter(|d| d.verdict == Verdict::Approve).count();
    let quorum = usize::try_from(approval.terms.quorum).unwrap_or(1);
    let actor = Actor::Person(person.subject.clone());
    let mut draft = Draft::on(&agg.run, now);
    if !approval.terms.separation && approval.terms.requesters.iter().any(|r| person.is(r)) {
        draft.entry(EntryKind::SeparationWaived, &actor, facts! { "approval" => approval.id });
    }
    draft.entry(
        EntryKind::Decided,
        &actor,
        facts! {
            "approval" => approval.id, "decision" => wish.verdict.as_str(), "reason" => reason,
            "effects_hash" => approval.effects_hash, "quorum" => approval.terms.quorum, "approvals" => approvals,
        },
    );
    match wish.verdict {
        Verdict::Reject => reject(&mut draft, &mut next, now),
        Verdict::Approve if approvals >= quorum => approve(&mut draft, &mut next, &actor, now),
        Verdict::Approve => {}
    }
    draft.transition_mut().approvals.push(next);
    draft.changed()
}

fn reject(draft: &mut Draft, approval: &mut Approval, now: Timestamp) {
    close(approval, ApprovalState::Rejected, now);
    draft.state(RunState::FailedTerminal { reason: "rejected".into() });
}

fn approve(draft: &mut Draft, approval: &mut Approval, actor: &Actor, now: Timestamp) {
    close(approval, ApprovalState::Approved, now);
    if approval.proposed.is_empty() {
        // Nothing will go out, so nothing would ever end the run.
        draft.state(RunState::Completed);
        draft.entry(EntryKind::Completed, actor, facts! { "effects" => 0 });
        return;
    }
    draft.state(RunState::Approved);
    for proposed in &approval.proposed {
        proposal::queue(draft, proposed, actor);
    }
}

fn close(approval: &mut Approval, state: ApprovalState, now: Timestamp) {
    approval.state = state;
    approval.decided_at = Some(now);
    approval.next_step_at = None;
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

/// Notes that a request for a decision reached nobody.
pub fn note_undeliverable(draft: &mut Draft, agg: &Aggregate) {
    let open = agg.approvals.iter().find(|a| a.state == ApprovalState::Open).map(|a| a.id);
    draft.entry(EntryKind::NoticeFailed, &Actor::System("notifier"), facts! { "approval" => open });
    crate::lease::alert(draft, Alert::Undeliverable, "a request for a decision reached nobody".into());
}

/// Ends an approval that nobody decided in time. Its own outcome, never a person's.
#[must_use]
pub fn expire(agg: &Aggregate, now: Timestamp) -> Option<Transition> {
    let approval = agg.approvals.iter().find(|a| a.state == ApprovalState::Open && a.expires_at <= now)?;
    let actor = Actor::System("sweeper");
    let mut next = approval.clone();
    close(&mut next, ApprovalState::Expired, now);
    let mut draft = Draft::on(&agg.run, now);
    draft.entry(EntryKind::ApprovalExpired, &actor, facts! { "approval" => approval.id });
    draft.state(RunState::FailedTerminal { reason: "approval_expired".into() });
    draft.transition_mut().approvals.push(next);
    Some(draft.changed())
}

/// Reminds the audience, or widens it, when the moment has come.
#[must_use]
pub fn remind(agg: &Aggregate, now: Timestamp) -> Option<Transition> {
    let approval = agg.approvals.iter().find(|a| a.state == ApprovalState::Open && a.expires_at > now)?;
    approval.next_step_at.filter(|at| *at <= now)?;
    let mut next = approval.clone();
    let mut draft = Draft::on(&agg.run, now);
    let actor = Actor::System("sweeper");
    let (kind, urgency) = if next.terms.escalate_at.is_some_and(|at| at <= now) {
        next.terms.escalate_at = None;
        next.terms.remind_at = None;
        let more = std::mem::take(&mut next.terms.escalate_to);
        next.terms.audience.extend(more);
        (EntryKind::ApprovalEscalated, Urgency::Escalation)
    } else {
        next.terms.remind_at = None;
        (EntryKind::ApprovalReminded, Urgency::Reminder)
    };
    next.next_step_at = [next.terms.remind_at, next.terms.escalate_at].into_iter().flatten().min();
    draft.entry(kind, &actor, facts! { "approval" => approval.id, "audience" => next.terms.audience });
    let ask = NoticeKind::ApprovalRequest { approval: approval.id, audience: next.terms.audience.clone(), urgency };
    let seq = draft.run().head.seq;
    draft.notice(Notice::new(seq, 0, ask, format!("{}:{seq}", approval.id), now));
    draft.transition_mut().approvals.push(next);
    Some(draft.noted())
}
