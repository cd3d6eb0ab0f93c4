//! What a message says, before it is laid out: the sentence, the link, whom and what it is about, bounded previews of
//! what would be sent. Text from outside is held in pieces with its marks (HC-34); no layout can mistake it for ours.

use effectgate_core::{
    approval::Approval,
    ids::RunId,
    json,
    notice::{Alert, Urgency},
    proposal::Proposed,
    run::Run,
    time::Timestamp,
    visible::Piece,
    vital,
};
use effectgate_lang::{Language, Msg, Value, Zone, mark, relative, say, when};
use serde_json::json;

use super::{
    Message, chat, html, plain,
    preview::{Bound, Preview},
};

/// Who reads it, and when.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reading<'a> {
    pub(super) language: Language,
    pub(super) zone: &'a Zone,
    pub(super) now: Timestamp,
}

/// A message in its parts.
pub(super) struct Content {
    pub(super) language: Language,
    /// What it is, without what it is about: `Decision wanted: ticket-reply`.
    pub(super) title: String,
    pub(super) lead: String,
    pub(super) link: Option<String>,
    pub(super) facts: Vec<Fact>,
    pub(super) effects: Vec<EffectPart>,
    pub(super) more: Option<String>,
    pub(super) foot: Vec<String>,
}

/// A named value of one line or a few.
pub(super) struct Fact {
    pub(super) name: String,
    pub(super) value: Preview,
}

/// One effect: what it does to whom, and the beginning of its payload.
pub(super) struct EffectPart {
    pub(super) title: String,
    pub(super) warning: Option<String>,
    pub(super) members: Vec<Fact>,
}

/// More than anybody reads in a mail; the card has them all.
const EFFECTS_SHOWN: usize = 5;
const MEMBERS_SHOWN: usize = 20;
/// Whom it reaches and how much it moves: whole, unless somebody made it absurd.
const VITAL: Bound = Bound { graphemes: 200, lines: 3 };
/// Enough to recognise a text by.
const OTHER: Bound = Bound { graphemes: 600, lines: 12 };
/// A key in a subject, which mail programs cut anyway.
const KEY_IN_SUBJECT: Bound = Bound { graphemes: 80, lines: 1 };

/// A request for a decision, to one reader.
pub(super) fn request(
    run: &Run,
    approval: &Approval,
    urgency: Urgency,
    link: &str,
    to: &str,
    reading: Reading<'_>,
) -> (Content, String) {
    let Reading { language, zone, now } = reading;
    let (subject, lead) = request_words(urgency);
    let until = when(approval.expires_at, zone, language);
    let distance = relative(approval.expires_at, now, language);
    let lead = say(language, lead, &[("when", Value::Text(&until)), ("relative", Value::Text(&distance))]);
    let mut foot = vec![say(language, Msg::MailFoot, &[])];
    if !to.starts_with("role:") {
        foot.push(say(language, Msg::MailForYou, &[("who", Value::Text(&line(to, language)))]));
    }
    let content = Content { link: Some(link.to_owned()), foot, ..about(run, approval, subject, lead, language) };
    (content, headline(subject, run, language))
}

/// The one notice after the end that nobody brought about.
pub(super) fn closed(run: &Run, approval: &Approval, reading: Reading<'_>) -> (Content, String) {
    let Reading { language, zone, .. } = reading;
    let until = when(approval.expires_at, zone, language);
    let lead = if approval.terms.undeliverable { Msg::MailLeadUndeliverable } else { Msg::MailLeadExpired };
    let lead = say(language, lead, &[("when", Value::Text(&until))]);
    let content = about(run, approval, Msg::MailSubjectClosed, lead, language);
    (content, headline(Msg::MailSubjectClosed, run, language))
}

/// Where an alert is looked into: the page of its run, or of the switch. What else belongs to no run has none.
fn page(alert: Alert, run: RunId, public_url: &str) -> Option<String> {
    match alert {
        Alert::Switch => Some(format!("{public_url}/switches")),
        Alert::Lockout => None,
        _ => Some(format!("{public_url}/runs/{run}")),
    }
}

/// An alert. Its name and its detail are the contract's words, in English.
pub(super) fn alert(run: RunId, alert: Alert, detail: &str, public_url: &str, language: Language) -> (Content, String) {
    let subject = say(language, Msg::AlertSubject, &[("alert", Value::Text(alert.as_str()))]);
    let more = format!("{}: effectgate explain {run}", say(language, Msg::AlertMore, &[]));
    let server = format!("{}: {public_url}", say(language, Msg::AlertServer, &[]));
    let content = Content {
        language,
        title: subject.clone(),
        lead: format!("{}: {}", alert.as_str(), line(detail, Language::En)),
        link: None,
        facts: Vec::new(),
        effects: Vec::new(),
        more: None,
        foot: [Some(more), page(alert, run, public_url), Some(server)].into_iter().flatten().collect(),
    };
    (content, bare(&subject))
}

const fn request_words(urgency: Urgency) -> (Msg, Msg) {
    match urgency {
        Urgency::First => (Msg::MailSubjectFirst, Msg::MailLeadFirst),
        Urgency::Reminder => (Msg::MailSubjectReminder, Msg::MailLeadReminder),
        Urgency::Escalation => (Msg::MailSubjectEscalation, Msg::MailLeadEscalation),
        Urgency::Edited => (Msg::MailSubjectEdited, Msg::MailLeadEdited),
    }
}

fn about(run: &Run, approval: &Approval, subject: Msg, lead: String, language: Language) -> Content {
    let named = |msg, text: &str| Fact { name: say(language, msg, &[]), value: Preview::new(text, VITAL) };
    let mut facts = vec![named(Msg::MailFlow, run.flow.as_str()), named(Msg::MailKey, &run.key)];
    facts.extend(approval.terms.why.iter().map(|why| named(Msg::MailWhy, why)));
    let more = approval.proposed.len().saturating_sub(EFFECTS_SHOWN);
    let more = (more > 0).then(|| {
        let n = Value::Number(i64::try_from(more).unwrap_or(i64::MAX));
        say(language, Msg::MailMoreEffects, &[("n", n)])
    });
    let title = say(language, subject, &[("flow", Value::Text(run.flow.as_str())), ("key", Value::Text(""))]);
    Content {
        language,
        title: bare(&title).trim().to_owned(),
        lead,
        link: None,
        facts,
        effects: approval.proposed.iter().take(EFFECTS_SHOWN).map(|p| effect(p, language)).collect(),
        more,
        foot: Vec::new(),
    }
}

fn effect(proposed: &Proposed, language: Language) -> EffectPart {
    let (target, kind) = (line(&proposed.target, language), proposed.effect_type.as_str());
    let args = [
        ("kind", Value::Text(kind)),
        ("target", Value::Text(&target)),
        ("provider", Value::Text(proposed.provider.as_str())),
    ];
    EffectPart {
        title: say(language, Msg::MailEffect, &args),
        warning: (proposed.impact == "high").then(|| say(language, Msg::MailImpactHigh, &[])),
        members: members(&proposed.payload),
    }
}

/// Whom it reaches and how much it moves first, then the rest in the order it goes out. A payload that is no object is
/// one value without a name.
fn members(payload: &str) -> Vec<Fact> {
    let parsed = json::parse(payload.as_bytes()).ok();
    let Some(object) = parsed.as_ref().and_then(json::Json::as_object) else {
        return vec![Fact { name: String::new(), value: Preview::new(payload, OTHER) }];
    };
    let member = |(name, value): &(String, json::Json)| {
        let text = match value {
            json::Json::String(text) => text.clone(),
            other => other.to_text(),
        };
        let bound = if vital::is_first(name) { VITAL } else { OTHER };
        Fact { name: line(name, Language::En), value: Preview::new(&text, bound) }
    };
    vital::ordered(object).into_iter().take(MEMBERS_SHOWN).map(member).collect()
}

/// A short text from outside as one line of plain characters, cut where it is absurd.
fn line(text: &str, language: Language) -> String {
    let preview = Preview::new(text, VITAL);
    let shown = plain_pieces(&preview.pieces, language).replace('\n', " ");
    if preview.is_cut { format!("{shown}…") } else { shown }
}

/// Pieces as plain text, marks in square brackets.
pub(super) fn plain_pieces(pieces: &[Piece], language: Language) -> String {
    let text = |piece: &Piece| match piece {
        Piece::Text(text) => text.clone(),
        Piece::Mark(named) => format!("[{}]", mark(*named, language)),
    };
    pieces.iter().map(text).collect()
}

fn headline(subject: Msg, run: &Run, language: Language) -> String {
    let key = Preview::new(&run.key, KEY_IN_SUBJECT);
    let cut = if key.is_cut { "…" } else { "" };
    let key = plain_pieces(&key.pieces, language) + cut;
    bare(&say(language, subject, &[("flow", Value::Text(run.flow.as_str())), ("key", Value::Text(&key))]))
}

/// Without the isolates: mail programs show them in a list of subjects as boxes.
fn bare(text: &str) -> String {
    text.replace(['\u{2066}', '\u{2067}', '\u{2068}', '\u{2069}'], "")
}

/// What a program reads of a request: WIRE's names.
pub(super) fn request_facts(
    run: &Run,
    approval: &Approval,
    kind: &str,
    urgency: Option<Urgency>,
    link: Option<&str>,
) -> serde_json::Value {
    let effects: Vec<_> = approval
        .proposed
        .iter()
        .map(|p| json!({"type": p.effect_type.as_str(), "target": p.target, "provider": p.provider.as_str(), "impact": p.impact}))
        .collect();
    json!({
        "kind": kind, "urgency": urgency, "approval_id": approval.id, "run_id": run.id, "flow": run.flow.as_str(),
        "key": run.key, "effects": effects, "effects_hash": approval.effects_hash, "expires_at": approval.expires_at,
        "link": link,
    })
}

/// The message for the channels.
pub(super) fn message(
    (content, subject): (Content, String),
    id: String,
    follows: Option<String>,
    facts: serde_json::Value,
) -> Message {
    Message {
        id,
        follows,
        language: content.language,
        text: plain::text(&content),
        html: html::page(&content, &subject),
        chat: chat::text(&content),
        subject,
        facts,
    }
}
