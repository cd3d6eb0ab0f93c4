//! One effect on the card: what will really be sent, member by member, and the exact text in full.

use effectgate_core::{
    effect::{Effect, EffectState},
    json::{self, Json},
    proposal::Proposed,
    provider::Class,
    switch::Applies,
    vital,
};
use effectgate_engine::policy::Policy;

use effectgate_lang::Msg;

use super::{
    card::Parts,
    text::{Shown, TextBlock},
    tongue::Tongue,
};

pub(crate) struct EffectCard {
    pub(crate) n: usize,
    pub(crate) kind: Shown,
    pub(crate) target: Shown,
    pub(crate) provider: Shown,
    /// What kind of system it is and what stops a second execution there.
    pub(crate) provider_note: String,
    pub(crate) impact: Impact,
    /// What happens after the approval, where it is not sent at once.
    pub(crate) window: Option<String>,
    pub(crate) members: Vec<Member>,
    pub(crate) exact: TextBlock,
    /// How it stands once it is in the outbox.
    /// A switch is off that holds it back.
    pub(crate) is_held: bool,
    pub(crate) progress: Option<Progress>,
}

pub(crate) struct Impact {
    pub(crate) word: &'static str,
    pub(crate) text: String,
}

/// A member of the payload.
pub(crate) struct Member {
    pub(crate) name: Shown,
    pub(crate) value: TextBlock,
    /// Shown in a frame of its own below its name.
    pub(crate) is_long: bool,
    /// Whom it reaches, or how much money it moves.
    pub(crate) is_vital: bool,
}

pub(crate) struct Progress {
    pub(crate) state: &'static str,
    /// The state in the reader's language.
    pub(crate) said: String,
    pub(crate) external_id: Option<Shown>,
    /// The effect's id, where the viewer may call it back.
    pub(crate) cancellable: Option<String>,
}

impl EffectCard {
    pub(crate) fn new(n: usize, proposed: &Proposed, parts: &Parts<'_>) -> Self {
        let (policy, tongue) = (parts.policy, parts.tongue);
        let in_outbox = parts.agg.effects.iter().find(|e| is_same(e, proposed));
        let window = tongue.around(Msg::CardWindow, &[("span", &tongue.span(proposed.window_ms))]);
        Self {
            n,
            kind: Shown::new(proposed.effect_type.as_str()),
            target: Shown::new(&proposed.target),
            provider: Shown::new(proposed.provider.as_str()),
            provider_note: tongue.say(provider_note(proposed, policy)),
            impact: impact(&proposed.impact, tongue),
            window: (proposed.window_ms > 0).then_some(window),
            members: members(&proposed.payload, tongue),
            exact: TextBlock::of(&proposed.payload, tongue),
            is_held: waits(in_outbox, parts) && applies(proposed, parts).stopped_by(parts.switches).is_some(),
            progress: in_outbox.map(|effect| progress(effect, parts)),
        }
    }
}

/// Whether it is still to leave: undecided, or decided and not on its way yet.
fn waits(in_outbox: Option<&Effect>, parts: &Parts<'_>) -> bool {
    match in_outbox {
        Some(effect) => matches!(effect.state, EffectState::Pending { .. } | EffectState::Scheduled { .. }),
        None => parts.approval.is_open(parts.now),
    }
}

fn applies(proposed: &Proposed, parts: &Parts<'_>) -> Applies {
    let run = &parts.agg.run;
    Applies {
        tenant: run.tenant.clone(),
        flow: run.flow.clone(),
        provider: proposed.provider.clone(),
        effect_type: proposed.effect_type.clone(),
    }
}

fn progress(effect: &Effect, parts: &Parts<'_>) -> Progress {
    Progress {
        state: effect.state.as_str(),
        said: parts.tongue.say(state(&effect.state)),
        external_id: effect.external_id.as_deref().map(Shown::new),
        cancellable: parts.cancellable.contains(&effect.id).then(|| effect.id.to_string()),
    }
}

fn state(state: &EffectState) -> Msg {
    match state {
        EffectState::Scheduled { .. } => Msg::EffectScheduled,
        EffectState::Pending { .. } => Msg::EffectPending,
        EffectState::Sending => Msg::EffectSending,
        EffectState::Unknown { .. } => Msg::EffectUnknown,
        EffectState::Review { .. } => Msg::EffectReview,
        EffectState::Completed => Msg::EffectCompleted,
        EffectState::Failed => Msg::EffectFailed,
        EffectState::Cancelled => Msg::EffectCancelled,
    }
}

/// A proposal names a type and a target together once.
fn is_same(effect: &Effect, proposed: &Proposed) -> bool {
    effect.effect_type == proposed.effect_type && effect.target == proposed.target
}

fn provider_note(proposed: &Proposed, policy: &Policy) -> Msg {
    let Some(provider) = policy.provider(&proposed.provider).map(|p| &p.provider) else {
        return Msg::CardProviderGone;
    };
    match (provider.smtp, provider.class) {
        (true, _) => Msg::CardProviderMail,
        (false, Class::Enforcing { .. }) => Msg::CardProviderEnforcing,
        (false, Class::Advisory) => Msg::CardProviderAdvisory,
    }
}

/// An impact's word as a pill says it.
pub(crate) fn impact(word: &str, tongue: &Tongue) -> Impact {
    let (word, msg) = match word {
        "high" => ("high", Msg::CardImpactHigh),
        "low" => ("low", Msg::CardImpactLow),
        _ => ("normal", Msg::CardImpactNormal),
    };
    Impact { word, text: tongue.say(msg) }
}

/// Longer values and those with line ends get a frame of their own.
const INLINE_CHARS: usize = 90;

/// The members of the payload: who and how much first, then the rest in the order it goes out.
fn members(payload: &str, tongue: &Tongue) -> Vec<Member> {
    let Ok(json) = json::parse(payload.as_bytes()) else { return Vec::new() };
    let Some(object) = json.as_object() else { return Vec::new() };
    vital::ordered(object).into_iter().map(|(name, value)| member(name, value, tongue)).collect()
}

fn member(name: &str, value: &Json, tongue: &Tongue) -> Member {
    let text = listed(value).unwrap_or_else(|| plain(value));
    Member {
        name: Shown::new(name),
        is_long: text.chars().count() > INLINE_CHARS || text.contains('\n'),
        is_vital: vital::is_vital(name),
        value: TextBlock::of(&text, tongue),
    }
}

/// A list of short values, one a line; `None` for everything else. One with a line end inside stays JSON, so that no
/// item passes for two.
fn listed(value: &Json) -> Option<String> {
    let Json::Array(items) = value else { return None };
    let is_simple = |item: &Json| !matches!(item, Json::Array(_) | Json::Object(_) | Json::Null);
    let lines: Vec<String> = items.iter().map(plain).collect();
    let is_listed = !items.is_empty()
        && items.iter().all(is_simple)
        && lines.iter().all(|line| !line.trim().is_empty() && !line.chars().any(char::is_control));
    is_listed.then(|| lines.join("\n"))
}

/// A value as a reader reads it: a text as it is, everything else as JSON, with every digit.
pub(crate) fn plain(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        other => other.to_text(),
    }
}

/// The members that say whom an effect reaches and how much it moves, for a line of a list: `amount 4200 · currency eur`.
/// Bounded: a list is no place for a letter.
pub(crate) fn vital_line(proposed: &Proposed) -> Vec<(Shown, Shown)> {
    const SHOWN_MAX: usize = 4;
    let Ok(Json::Object(object)) = json::parse(proposed.payload.as_bytes()) else { return Vec::new() };
    // The target stands on the line already.
    let says_more = |(name, value): &&(String, Json)| vital::is_first(name) && plain(value) != proposed.target;
    let vital = vital::ordered(&object).into_iter().filter(says_more);
    let short = |(name, value): &(String, Json)| {
        let text = plain(value);
        let cut: String = text.chars().take(INLINE_CHARS).collect();
        let is_cut = cut.len() < text.len();
        (Shown::new(name), Shown::new(&if is_cut { format!("{cut}…") } else { cut }))
    };
    vital.take(SHOWN_MAX).map(short).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(payload: &str) -> Vec<String> {
        use askama::Template as _;
        members(payload, &Tongue::default()).iter().map(|m| m.name.render().unwrap()).collect()
    }

    #[test]
    fn hc_34_recipient_and_amount_come_first_whatever_order_the_model_chose() {
        let payload = r#"{"text":"amount: 9.99","note":1,"amount":9999.00,"subject":"s","to":"a@example.test"}"#;
        assert_eq!(names(payload), ["to", "amount", "subject", "text", "note"]);
    }

    #[test]
    fn a_list_of_values_reads_one_a_line_and_never_as_more_than_there_are() {
        use askama::Template as _;
        let shown = |payload: &str| members(payload, &Tongue::default())[0].value.shown.render().unwrap();
        assert_eq!(shown(r#"{"lines": ["one", "two", 3]}"#), "one\ntwo\n3");
        assert!(shown(r#"{"lines": ["one\ntwo"]}"#).contains('['));
        assert!(shown(r#"{"lines": [{"a": 1}]}"#).contains('['));
        assert_eq!(shown(r#"{"lines": []}"#), "[]");
    }

    #[test]
    fn a_number_is_shown_with_every_digit_that_goes_out() {
        use askama::Template as _;
        let shown = |payload: &str| members(payload, &Tongue::default())[0].value.shown.render().unwrap();
        assert_eq!(shown(r#"{"amount": 9999.00}"#), "9999.00");
        assert_eq!(shown(r#"{"amount": 12345678901234567890.10}"#), "12345678901234567890.10");
    }
}
