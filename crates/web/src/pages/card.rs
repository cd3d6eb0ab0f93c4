//! What the approval card shows, made of what the store holds: the effects as they will go out, and around them what a
//! person needs to judge them. Pure: no store, no request. Its parts: [`super::effect`] (what will be sent),
//! [`super::change`] (what people changed), [`super::ask`] (what the viewer may do), [`super::sla`] (the clock).
//!
//! Recipient and amount come from the effect's target and its structured payload, never from a model's prose.

use effectgate_core::{
    approval::{Approval, ApprovalState, Decision, Outcome, Verdict},
    ids::EffectId,
    proposal::Model,
    run::Aggregate,
    switch::Switch,
    time::Timestamp,
};
use effectgate_engine::policy::Policy;
use effectgate_lang::Msg;
use serde::Deserialize;

use super::{
    ask::Ask,
    change::EditShown,
    effect::EffectCard,
    sla::Clock,
    text::{Shown, TextBlock, one_line},
    time::When,
    tongue::Tongue,
    viewer::Viewer,
};

/// The card. Every text from outside is a [`Shown`] or a [`TextBlock`].
pub(crate) struct Card {
    pub(crate) flow: Shown,
    pub(crate) key: Shown,
    pub(crate) source: Option<Source>,
    /// The run's page, for those who may read it.
    pub(crate) run_href: Option<String>,
    pub(crate) state: StateLine,
    pub(crate) expires: When,
    pub(crate) clock: Option<Clock>,
    pub(crate) effects: Vec<EffectCard>,
    pub(crate) edits: Vec<EditShown>,
    pub(crate) why: Vec<Shown>,
    pub(crate) facts: Vec<Fact>,
    pub(crate) checks: Vec<String>,
    pub(crate) output: Option<TextBlock>,
    pub(crate) summary: Option<TextBlock>,
    pub(crate) decisions: Vec<DecisionLine>,
    pub(crate) people: Vec<Shown>,
    /// `1 of 2 approvals`, where more than one is wanted.
    pub(crate) quorum: Option<String>,
    /// What is still missing, in sentences.
    pub(crate) wants: Vec<String>,
    pub(crate) is_undeliverable: bool,
    pub(crate) ask: Ask,
}

/// Where the event came from. A link only for http and https; anything else is text.
pub(crate) struct Source {
    pub(crate) href: Option<String>,
    pub(crate) shown: Shown,
}

pub(crate) struct Fact {
    pub(crate) name: String,
    pub(crate) value: Shown,
}

/// How the approval stands, in a word and a sentence.
pub(crate) struct StateLine {
    /// `open` or the outcome's word: also the style.
    pub(crate) word: &'static str,
    pub(crate) title: String,
    pub(crate) text: String,
    pub(crate) reason: Option<TextBlock>,
}

pub(crate) struct DecisionLine {
    pub(crate) subject: Shown,
    /// The style, and the verdict in words.
    pub(crate) word: &'static str,
    pub(crate) verdict: String,
    pub(crate) at: When,
    pub(crate) reason: Option<TextBlock>,
    pub(crate) by_link: bool,
    /// About effects that were edited since: it stays on record and does not count.
    pub(crate) is_superseded: bool,
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
    /// Effects that the viewer may call back now.
    pub(crate) cancellable: Vec<EffectId>,
    /// As they stand, the ceiling included.
    pub(crate) switches: &'a [Switch],
    pub(crate) tongue: &'a Tongue,
    pub(crate) now: Timestamp,
}

impl Card {
    pub(crate) fn new(parts: &Parts<'_>) -> Self {
        let Parts { agg, approval, kept, tongue, now, .. } = parts;
        let effect = |(n, proposed)| EffectCard::new(n + 1, proposed, parts);
        let sla = parts.policy.flow(&agg.run.flow).and_then(|flow| flow.flow.sla);
        Self {
            flow: Shown::new(agg.run.flow.as_str()),
            key: Shown::new(&agg.run.key),
            source: kept.source_url.as_ref().or(agg.run.origin.source_url.as_ref()).map(|url| source(url)),
            run_href: parts.viewer.may_read_runs().then(|| format!("/runs/{}", agg.run.id)),
            state: state_line(parts),
            expires: tongue.when(approval.expires_at, *now),
            clock: sla
                .filter(|_| !agg.run.state.is_final())
                .map(|sla| Clock::new(&sla, &agg.run, approval, *now, tongue)),
            effects: approval.proposed.iter().enumerate().map(effect).collect(),
            edits: approval.edits.iter().map(|edit| EditShown::new(approval, edit, *now, tongue)).collect(),
            why: approval.terms.why.iter().map(|why| Shown::new(why)).collect(),
            facts: facts(parts),
            checks: checks(parts),
            output: parts.output.map(|output| TextBlock::of(output, tongue)),
            summary: kept.summary.as_deref().map(|summary| TextBlock::of(summary, tongue)),
            decisions: approval.decisions.iter().map(|d| decision_line(d, parts)).collect(),
            people: approval.terms.audience.iter().map(|member| Shown::new(member)).collect(),
            quorum: quorum(approval, tongue),
            wants: wants(approval, *now, tongue),
            is_undeliverable: approval.is_open(*now) && approval.terms.undeliverable,
            ask: Ask::new(approval, parts.viewer, *now, tongue),
        }
    }
}

/// A link only where the address says all of itself: http(s), no user part that looks like a host, nothing unseen.
fn source(url: &str) -> Source {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    let host = rest.map(|rest| rest.split(['/', '?', '#', '\\']).next().unwrap_or_default());
    let is_plain = url.chars().all(|c| c.is_ascii_graphic());
    let is_link = is_plain && host.is_some_and(|host| !host.is_empty() && !host.contains('@'));
    Source { href: is_link.then(|| url.to_owned()), shown: Shown::new(url) }
}

/// The outcome as it is for a reader now: past its end an approval is over, whether or not the sweeper has noted it.
pub(crate) fn outcome(approval: &Approval, now: Timestamp) -> Option<Outcome> {
    if approval.state == ApprovalState::Open && !approval.is_open(now) {
        let told = !approval.terms.undeliverable;
        return Some(if told { Outcome::Expired } else { Outcome::Undeliverable });
    }
    approval.outcome()
}

/// The title of how it stands: `Waiting for a decision`, `Approved`.
pub(crate) fn outcome_title(outcome: Option<Outcome>) -> Msg {
    match outcome {
        None => Msg::OutcomeOpen,
        Some(Outcome::Approved) => Msg::OutcomeApproved,
        Some(Outcome::Rejected) => Msg::OutcomeRejected,
        Some(Outcome::Expired) => Msg::OutcomeExpired,
        Some(Outcome::Withdrawn) => Msg::OutcomeWithdrawn,
        Some(Outcome::Undeliverable) => Msg::OutcomeUndeliverable,
    }
}

fn state_line(parts: &Parts<'_>) -> StateLine {
    let Parts { agg, approval, tongue, now, .. } = parts;
    let at = |at: Option<Timestamp>| at.map(|at| tongue.when(at, *now).text).unwrap_or_default();
    let decided = at(approval.decided_at);
    let last = approval.decisions.last().map(|d| d.known_as().to_string()).unwrap_or_default();
    let by = |msg, who: &str, when: &str| tongue.around(msg, &[("who", &one_line(who)), ("when", when)]);
    let ended = tongue.when(approval.expires_at, *now).text;
    let outcome = outcome(approval, *now);
    let text = match outcome {
        None => String::new(),
        Some(Outcome::Expired) => tongue.around(Msg::OutcomeExpiredText, &[("when", &ended)]),
        Some(Outcome::Undeliverable) => tongue.around(Msg::OutcomeUndeliverableText, &[("when", &ended)]),
        Some(Outcome::Approved) => format!("{} {}", by(Msg::OutcomeApprovedText, &last, &decided), sent(agg, tongue)),
        Some(Outcome::Rejected) => by(Msg::OutcomeRejectedText, &last, &decided),
        Some(Outcome::Withdrawn) => match &approval.terms.withdrawn {
            Some(withdrawn) => by(Msg::OutcomeWithdrawnBy, &withdrawn.by, &at(Some(withdrawn.at))),
            None => tongue.around(Msg::OutcomeWithdrawnText, &[("when", &decided)]),
        },
    };
    StateLine {
        word: outcome.map_or("open", Outcome::as_str),
        title: tongue.say(outcome_title(outcome)),
        text,
        reason: approval.terms.withdrawn.as_ref().map(|by| TextBlock::of(&by.reason, tongue)),
    }
}

/// How the effects of an approved run stand.
fn sent(agg: &Aggregate, tongue: &Tongue) -> String {
    let counts = agg.run.effects;
    let whole = |n: i32| usize::try_from(n).unwrap_or_default();
    let done = counts.total - counts.open - counts.failed - counts.cancelled;
    match counts.total {
        0 => tongue.say(Msg::SentNone),
        total => tongue.part(Msg::SentPart, whole(done), whole(total)),
    }
}

fn facts(parts: &Parts<'_>) -> Vec<Fact> {
    let Parts { agg, approval, kept, tongue, .. } = parts;
    let mut facts = Vec::new();
    let mut fact = |name, value: Option<String>| {
        let value = value.filter(|value| !value.is_empty()).map(|value| Shown::new(&value));
        facts.extend(value.map(|value| Fact { name: tongue.say(name), value }));
    };
    let model = &kept.model;
    fact(Msg::FactModel, model.name.clone());
    fact(Msg::FactModelRevision, model.revision.clone());
    fact(Msg::FactPromptRevision, model.prompt_revision.clone());
    fact(Msg::FactModelProvider, model.provider_class.clone());
    fact(Msg::FactIterations, kept.agent_iterations.map(|n| n.to_string()));
    let key = || agg.run.origin.api_key.as_ref().map(|key| format!("key:{key}"));
    fact(Msg::FactAskedBy, kept.requested_by.clone().or_else(key));
    fact(Msg::FactQualification, Some(approval.terms.qualifications.join(", ")));
    fact(Msg::FactRun, Some(agg.run.id.to_string()));
    fact(Msg::FactFlowRevision, Some(agg.run.flow_revision.clone()));
    facts
}

/// What validation found. An approval exists only for a proposal that passed it.
fn checks(parts: &Parts<'_>) -> Vec<String> {
    let Parts { agg, kept, tongue, .. } = parts;
    let has_schema = parts.policy.flow(&agg.run.flow).is_some_and(|flow| flow.output_schema.is_some());
    let output = match (parts.output, has_schema) {
        (None, _) => Msg::CheckNoOutput,
        (Some(_), true) => Msg::CheckFits,
        (Some(_), false) => Msg::CheckNoSchema,
    };
    let mut checks = vec![tongue.say(output), tongue.say(Msg::CheckEffects)];
    if kept.extracted {
        checks.push(tongue.say(Msg::CheckExtracted));
    }
    if agg.run.repairs_used > 0 {
        checks.push(tongue.count(Msg::CheckRepairs, usize::try_from(agg.run.repairs_used).unwrap_or_default()));
    }
    if let Some(reason) = &kept.finish_reason {
        checks.push(tongue.with(Msg::CheckFinish, "reason", reason));
    }
    checks
}

fn decision_line(decision: &Decision, parts: &Parts<'_>) -> DecisionLine {
    let (word, verdict) = match decision.verdict {
        Verdict::Approve => ("approved", Msg::CardDecisionApproved),
        Verdict::Reject => ("rejected", Msg::CardDecisionRejected),
        Verdict::Edit => ("edited", Msg::CardDecisionEdited),
    };
    DecisionLine {
        subject: Shown::new(decision.known_as().as_str()),
        word,
        verdict: parts.tongue.say(verdict),
        at: parts.tongue.when(decision.at, parts.now),
        reason: decision.reason.as_deref().map(|reason| TextBlock::of(reason, parts.tongue)),
        by_link: decision.sign_in == effectgate_core::actor::SignIn::Token,
        is_superseded: !parts.approval.counts(decision),
    }
}

/// `1 of 2 approvals`, where one is not enough.
pub(crate) fn quorum(approval: &Approval, tongue: &Tongue) -> Option<String> {
    let wanted = approval.terms.quorum();
    (wanted > 1).then(|| tongue.part(Msg::CardQuorum, approval.approvals().count(), wanted))
}

fn wants(approval: &Approval, now: Timestamp, tongue: &Tongue) -> Vec<String> {
    let wants = approval.wants();
    if !approval.is_open(now) {
        return Vec::new();
    }
    let mut said = vec![tongue.count(Msg::CardWants, wants.more)];
    said.extend(wants.by_non_editor.then(|| tongue.say(Msg::CardWantsNonEditor)));
    said
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
