//! Who decides: `[flows.NAME.approval]`, held against the effects it is for.

use std::collections::BTreeSet;

use effectgate_core::flow::{ApprovalPolicy, Escalation, Login};
use effectgate_engine::connect::mail::validate_mail;
use serde_json::json;

use super::{judge::Judge, provider::unsigned_i32};
use crate::config::flow::{ApprovalConfig, FlowConfig, GateWord, ImpactWord, LoginWord};

/// Below a second nothing can be decided at all; after three months nobody remembers what it was about.
const EXPIRES_MS: (i64, i64) = (1_000, 90 * 86_400_000);
/// The least in which a person can read. Less is for programs, such as `effectgate certify`.
const READING_MS: i64 = 60_000;
/// More different people than this for one decision is a meeting.
const QUORUM_MAX: i64 = 20;

/// True for one bare mail address, as a mail effect takes it.
pub(super) fn is_address(text: &str) -> bool {
    validate_mail(&json!({"to": text, "subject": "", "text": ""})).is_ok()
}

pub(super) fn approval(judge: &mut Judge<'_>, at: &str, flow: &FlowConfig) -> Option<ApprovalPolicy> {
    let at = format!("{at}.approval");
    let wants_person = |gate| matches!(gate, GateWord::Approve | GateWord::Exceptions | GateWord::Regulated);
    let asking = flow.effects.iter().find(|(_, effect)| wants_person(effect.gate));
    let Some(config) = &flow.approval else {
        if let Some((effect, _)) = asking {
            let what = format!("the gate of {effect} wants a person, and nobody is named");
            judge.refuse(&at, what, "Add the section with an audience, or give the effect another gate.");
        }
        return None;
    };
    audience(judge, &format!("{at}.audience"), &config.audience);
    if config.audience.is_empty() {
        judge.refuse(&format!("{at}.audience"), "nobody is asked", "Name role:NAME or mail addresses.");
    }
    let quorum = quorum(judge, &at, config);
    token(judge, &at, flow, config);
    times(judge, &at, config);
    if !config.separation {
        judge.note(&format!("{at}.separation"), "off: a requester may approve alone; every use is journalled");
    }
    Some(ApprovalPolicy {
        audience: config.audience.clone(),
        quorum,
        login: match config.login {
            LoginWord::Required => Login::Required,
            LoginWord::Token => Login::Token,
        },
        link_in_answer: config.link_in_answer,
        separation: config.separation,
        expires_ms: config.expires_ms,
        remind_ms: config.remind_ms,
        escalate: config
            .escalate
            .as_ref()
            .map(|next| Escalation { after_ms: next.after_ms, audience: next.audience.clone() }),
    })
}

fn audience(judge: &mut Judge<'_>, at: &str, members: &[String]) {
    for member in members {
        let role = member
            .strip_prefix("role:")
            .map(|role| !role.is_empty() && role.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-')));
        if !role.unwrap_or_else(|| is_address(member)) {
            let what = format!("{member:?} is neither a role nor a mail address");
            judge.refuse(at, what, "Write role:support-lead or lead@example.com.");
        }
    }
}

/// Whether the number of people can be reached at all.
fn quorum(judge: &mut Judge<'_>, at: &str, config: &ApprovalConfig) -> i32 {
    let at = format!("{at}.quorum");
    let why = "One person at least decides, and a few at most.";
    let quorum = judge.within(&at, config.quorum, 1, QUORUM_MAX, why);
    let next = config.escalate.iter().flat_map(|next| &next.audience);
    let everybody: BTreeSet<String> = config.audience.iter().chain(next).map(|m| m.trim().to_lowercase()).collect();
    let has_role = everybody.iter().any(|member| member.starts_with("role:"));
    if !has_role && !everybody.is_empty() && i64::try_from(everybody.len()).unwrap_or(i64::MAX) < quorum {
        let what = format!("{quorum} people are wanted and {} named", everybody.len());
        judge.refuse(&at, what, "Name more people, or a role, or want fewer.");
    }
    unsigned_i32(quorum)
}

/// A link alone decides only where little can go wrong.
fn token(judge: &mut Judge<'_>, at: &str, flow: &FlowConfig, config: &ApprovalConfig) {
    if config.login != LoginWord::Token {
        return;
    }
    let high = flow.effects.iter().find(|(_, effect)| effect.impact == ImpactWord::High);
    if let Some((effect, _)) = high {
        let what = format!("whoever holds the link could decide about {effect}, which has high impact");
        judge.refuse(&format!("{at}.login"), what, "Say login = \"required\", or declare the effect's true impact.");
        if config.link_in_answer {
            let what = "the caller would get a link that decides about an effect of high impact";
            judge.refuse(&format!("{at}.link_in_answer"), what, "Say login = \"required\", or link_in_answer = false.");
        }
    }
    if let Some((effect, _)) = flow.effects.iter().find(|(_, effect)| effect.gate == GateWord::Regulated) {
        let what = format!("a link proves no qualification, and {effect} is regulated");
        judge.refuse(&format!("{at}.login"), what, "Say login = \"required\".");
    }
    if config.quorum > 1 && config.audience.iter().any(|member| member.starts_with("role:")) {
        let what = "links to a role cannot be told apart, so several of them may be one person";
        judge.refuse(&format!("{at}.quorum"), what, "Say login = \"required\", or name mail addresses only.");
    }
}

fn times(judge: &mut Judge<'_>, at: &str, config: &ApprovalConfig) {
    let why = "Between a second and 90 days.";
    judge.within(&format!("{at}.expires_ms"), config.expires_ms, EXPIRES_MS.0, EXPIRES_MS.1, why);
    if config.expires_ms < READING_MS {
        judge.note(&format!("{at}.expires_ms"), "less than a minute: no person can read and decide in that time");
    }
    let before = "It comes before the approval expires, and not at once.";
    let latest = config.expires_ms.saturating_sub(1).max(1_000);
    if let Some(ms) = config.remind_ms {
        judge.within(&format!("{at}.remind_ms"), ms, 1_000, latest, before);
    }
    if let Some(next) = &config.escalate {
        judge.within(&format!("{at}.escalate.after_ms"), next.after_ms, 1_000, latest, before);
        audience(judge, &format!("{at}.escalate.audience"), &next.audience);
        if next.audience.is_empty() {
            judge.refuse(
                &format!("{at}.escalate.audience"),
                "nobody is asked next",
                "Name them, or leave escalate out.",
            );
        }
    }
}
