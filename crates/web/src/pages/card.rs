//! What the approval card shows, made of what the store holds: the effects as they will go out, and around them what a
//! person needs to judge them. Pure: no store, no request.
//!
//! Recipient and amount come from the effect's target and its structured payload, never from a model's prose.

use effectgate_core::{
    approval::{Approval, ApprovalState, Decision, Verdict, is_in_audience, separates_duties},
    flow::Sla,
    proposal::Model,
    run::Aggregate,
    time::Timestamp,
};
use effectgate_engine::policy::Policy;
use serde::Deserialize;

use super::{
    effect::EffectCard,
    text::{Shown, TextBlock, plural},
    time::{When, span},
    viewer::Viewer,
};

/// The card. Every text from outside is a [`Shown`] or a [`TextBlock`].
pub(crate) struct Card {
    pub(crate) flow: Shown,
    pub(crate) key: Shown,
    pub(crate) source: Option<Source>,
    pub(crate) state: StateLine,
    pub(crate) expires: When,
    pub(crate) effects: Vec<EffectCard>,
    pub(crate) why: Vec<Shown>,
    pub(crate) facts: Vec<Fact>,
    pub(crate) checks: Vec<String>,
    pub(crate) output: Option<TextBlock>,
    pub(crate) summary: Option<TextBlock>,
    pub(crate) decisions: Vec<DecisionLine>,
    /// `1 of 2 approvals`, where more than one is wanted.
    pub(crate) quorum: Option<String>,
    pub(crate) ask: Ask,
}

/// Where the event came from. A link only for http and https; anything else is text.
pub(crate) struct Source {
    pub(crate) href: Option<String>,
    pub(crate) shown: Shown,
}

pub(crate) struct Fact {
    pub(crate) name: &'static str,
    pub(crate) value: Shown,
}

/// How the approval stands, in a word and a sentence.
pub(crate) struct StateLine {
    /// `open`, `approved`, `rejected`, `expired`, `withdrawn`: also the style.
    pub(crate) word: &'static str,
    pub(crate) title: &'static str,
    pub(crate) text: String,
}

pub(crate) struct DecisionLine {
    pub(crate) subject: Shown,
    pub(crate) verdict: &'static str,
    pub(crate) at: When,
    pub(crate) reason: Option<TextBlock>,
    pub(crate) by_link: bool,
}

/// What the viewer may do.
pub(crate) struct Ask {
    /// Who will be logged as the decider.
    pub(crate) decider: Shown,
    pub(crate) by_link: bool,
    pub(crate) may_approve: bool,
    pub(crate) may_reject: bool,
    /// Why not, in a sentence.
    pub(crate) notes: Vec<String>,
}

/// What the engine keeps for the card beside the effects (`engine::propose`).
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Kept {
    summary: Option<String>,
    source_url: Option<String>,
    requested_by: Option<String>,
    finish_reason: Option<String>,
    model: Model,
    agent_iterations: Option<i64>,
    extracted: bool,
}

/// Everything a card is made of.
pub(crate) struct Parts<'a> {
    pub(crate) agg: &'a Aggregate,
    pub(crate) approval: &'a Approval,
    pub(crate) output: Option<&'a str>,
    pub(crate) kept: Kept,
    pub(crate) policy: &'a Policy,
    pub(crate) viewer: &'a Viewer,
    pub(crate) now: Timestamp,
}

impl Card {
    pub(crate) fn new(parts: &Parts<'_>) -> Self {
        let Parts { agg, approval, kept, now, .. } = parts;
        let effect = |(n, proposed)| EffectCard::new(n + 1, proposed, agg, parts.policy);
        Self {
            flow: Shown::new(agg.run.flow.as_str()),
            key: Shown::new(&agg.run.key),
            source: kept.source_url.as_ref().or(agg.run.origin.source_url.as_ref()).map(|url| source(url)),
            state: state_line(agg, approval, *now),
            expires: When::new(approval.expires_at, *now),
            effects: approval.proposed.iter().enumerate().map(effect).collect(),
            why: approval.terms.why.iter().map(|why| Shown::new(why)).collect(),
            facts: facts(parts),
            checks: checks(parts),
            output: parts.output.map(TextBlock::new),
            summary: kept.summary.as_deref().map(TextBlock::new),
            decisions: approval.decisions.iter().map(|d| decision_line(d, *now)).collect(),
            quorum: quorum(approval),
            ask: ask(approval, parts.viewer, *now),
        }
    }
}

/// Open and before its end. The sweeper notes the end a little later.
pub(crate) fn is_open(approval: &Approval, now: Timestamp) -> bool {
    approval.state == ApprovalState::Open && approval.expires_at > now
}

/// A link only where the address says all of itself: http(s), no user part that looks like a host, nothing unseen.
fn source(url: &str) -> Source {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    let host = rest.map(|rest| rest.split(['/', '?', '#', '\\']).next().unwrap_or_default());
    let is_plain = url.chars().all(|c| c.is_ascii_graphic());
    let is_link = is_plain && host.is_some_and(|host| !host.is_empty() && !host.contains('@'));
    Source { href: is_link.then(|| url.to_owned()), shown: Shown::new(url) }
}

fn state_line(agg: &Aggregate, approval: &Approval, now: Timestamp) -> StateLine {
    let at = |at: Option<Timestamp>| at.map(|at| When::new(at, now).text).unwrap_or_default();
    let last = approval.decisions.last().map(|d| d.subject.to_string()).unwrap_or_default();
    match approval.state {
        ApprovalState::Open if approval.expires_at > now => {
            StateLine { word: "open", title: "Waiting for a decision", text: String::new() }
        }
        ApprovalState::Open | ApprovalState::Expired => StateLine {
            word: "expired",
            title: "Expired",
            text: format!(
                "Nobody decided before {}. Nothing was sent, and this link decides nothing any more.",
                When::new(approval.expires_at, now).text
            ),
        },
        ApprovalState::Approved => StateLine {
            word: "approved",
            title: "Approved",
            text: format!("By {last}, {}. {}", at(approval.decided_at), sent(agg)),
        },
        ApprovalState::Rejected => StateLine {
            word: "rejected",
            title: "Rejected",
            text: format!("By {last}, {}. Nothing was sent, and nothing will be.", at(approval.decided_at)),
        },
        ApprovalState::Withdrawn => StateLine {
            word: "withdrawn",
            title: "Withdrawn",
            text: format!("Taken back {}. There is nothing to decide any more.", at(approval.decided_at)),
        },
    }
}

/// How the effects of an approved run stand.
fn sent(agg: &Aggregate) -> String {
    let counts = agg.run.effects;
    let done = counts.total - counts.open - counts.failed - counts.cancelled;
    match (counts.total, counts.open, counts.failed + counts.cancelled) {
        (0, ..) => "It has no effects.".into(),
        (total, 0, 0) => format!("All {total} completed."),
        (total, 0, other) => format!("{done} of {total} completed, {other} failed or cancelled."),
        (total, open, _) => format!("{done} of {total} completed, {open} on the way."),
    }
}

fn facts(parts: &Parts<'_>) -> Vec<Fact> {
    let Parts { agg, approval, kept, .. } = parts;
    let mut facts = Vec::new();
    let mut fact = |name, value: Option<String>| {
        let value = value.filter(|value| !value.is_empty()).map(|value| Shown::new(&value));
        facts.extend(value.map(|value| Fact { name, value }));
    };
    let model = &kept.model;
    fact("Model", model.name.clone());
    fact("Model revision", model.revision.clone());
    fact("Prompt revision", model.prompt_revision.clone());
    fact("Model provider", model.provider_class.clone());
    fact("Agent iterations", kept.agent_iterations.map(|n| n.to_string()));
    fact(
        "Asked for by",
        kept.requested_by.clone().or_else(|| agg.run.origin.api_key.clone().map(|k| format!("key:{k}"))),
    );
    fact("People asked", Some(approval.terms.audience.join(", ")));
    fact("Qualification wanted", Some(approval.terms.qualifications.join(", ")));
    let sla = parts.policy.flow(&agg.run.flow).and_then(|flow| flow.flow.sla);
    fact("Time to answer", sla.map(|sla| clock(&sla, agg, approval, parts.now)));
    fact("Run", Some(agg.run.id.to_string()));
    fact("Flow revision", Some(agg.run.flow_revision.clone()));
    facts
}

/// The SLA clock. Where it stops while people are asked, the wait does not count.
fn clock(sla: &Sla, agg: &Aggregate, approval: &Approval, now: Timestamp) -> String {
    let until = approval.decided_at.unwrap_or(now);
    let end = if sla.stops_while_waiting { approval.created_at } else { until };
    let used = end.ms_since(agg.run.created_at).max(0);
    let left = sla.answer_ms - used;
    let state = if left >= 0 { format!("{} left", span(left)) } else { format!("over by {}", span(-left)) };
    let rule = if sla.stops_while_waiting { "the clock stands still while people decide" } else { "the clock runs" };
    format!("{state} of {}; {rule}", span(sla.answer_ms))
}

/// What validation found. An approval exists only for a proposal that passed it.
fn checks(parts: &Parts<'_>) -> Vec<String> {
    let Parts { agg, kept, .. } = parts;
    let has_schema = parts.policy.flow(&agg.run.flow).is_some_and(|flow| flow.output_schema.is_some());
    let output = match (parts.output, has_schema) {
        (None, _) => "There was no model output, or it is not kept any more.",
        (Some(_), true) => "The output fits the flow's schema.",
        (Some(_), false) => "The flow has no schema for the output.",
    };
    let mut checks = vec![output.to_owned(), "Each effect passed the checks of its type and its provider.".to_owned()];
    if kept.extracted {
        checks.push("The JSON was taken out of surrounding text; nothing in it was changed.".into());
    }
    if agg.run.repairs_used > 0 {
        let n = usize::try_from(agg.run.repairs_used).unwrap_or_default();
        checks.push(format!("The model was asked again {n} {} after an invalid output.", plural(n, "time", "times")));
    }
    if let Some(reason) = &kept.finish_reason {
        checks.push(format!("The model ended with “{}”.", super::text::one_line(reason)));
    }
    checks
}

fn decision_line(decision: &Decision, now: Timestamp) -> DecisionLine {
    DecisionLine {
        subject: Shown::new(decision.subject.as_str()),
        verdict: match decision.verdict {
            Verdict::Approve => "approved",
            Verdict::Reject => "rejected",
            Verdict::Edit => "edited and approved",
        },
        at: When::new(decision.at, now),
        reason: decision.reason.as_deref().map(TextBlock::new),
        by_link: decision.sign_in == effectgate_core::actor::SignIn::Token,
    }
}

fn quorum(approval: &Approval) -> Option<String> {
    let approvals = approval.approvals().count();
    (approval.terms.quorum > 1).then(|| format!("{approvals} of {} approvals", approval.terms.quorum))
}

/// The same rules as [`effectgate_core::approval::may_decide`], to show a form only where it can be used. The decision
/// itself is judged there and nowhere else.
fn ask(approval: &Approval, viewer: &Viewer, now: Timestamp) -> Ask {
    let person = &viewer.person;
    let mut notes = Vec::new();
    if !is_open(approval, now) {
        return Ask::closed(viewer, notes);
    }
    if !is_in_audience(approval, person) {
        notes.push("You may read this, but you are not among those who were asked to decide.".into());
        return Ask::closed(viewer, notes);
    }
    let missing: Vec<&str> =
        approval.terms.qualifications.iter().filter(|q| !person.roles.contains(*q)).map(String::as_str).collect();
    if !missing.is_empty() {
        notes.push(format!("This decision wants the qualification {}.", super::text::one_line(&missing.join(", "))));
        return Ask::closed(viewer, notes);
    }
    if let Some(own) = approval.decisions.iter().find(|d| person.is(&d.subject)) {
        notes.push(format!("You decided already: {}. Others of the quorum are waited for.", own.verdict.as_str()));
        return Ask::closed(viewer, notes);
    }
    let may_approve = separates_duties(approval, person);
    if !may_approve {
        notes.push("You asked for this yourself, so somebody else has to approve it. You may reject it.".into());
    }
    Ask { may_approve, may_reject: true, ..Ask::closed(viewer, notes) }
}

impl Ask {
    fn closed(viewer: &Viewer, notes: Vec<String>) -> Self {
        Self {
            decider: Shown::new(viewer.person.subject.as_str()),
            by_link: viewer.is_by_link(),
            may_approve: false,
            may_reject: false,
            notes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_honest_web_address_becomes_a_link() {
        assert!(source("https://desk.example.test/t/42").href.is_some());
        for text in [
            "javascript:alert(1)",
            "data:text/html,x",
            "https://desk.example.test@attacker.test/",
            "https://a\u{202e}b/",
            "https:///x",
            "https://x y",
        ] {
            assert!(source(text).href.is_none(), "{text}");
        }
    }
}
