//! One effect on the card: what will really be sent, member by member, and the exact text in full.

use effectgate_core::{
    effect::Effect,
    json::{self, Json},
    proposal::Proposed,
    provider::Class,
    run::Aggregate,
    vital,
};
use effectgate_engine::policy::Policy;

use super::{
    text::{Shown, TextBlock},
    time::span,
};

pub(crate) struct EffectCard {
    pub(crate) n: usize,
    pub(crate) kind: Shown,
    pub(crate) target: Shown,
    pub(crate) provider: Shown,
    /// What kind of system it is and what stops a second execution there.
    pub(crate) provider_note: &'static str,
    pub(crate) impact: Impact,
    /// What happens after the approval, where it is not sent at once.
    pub(crate) window: Option<String>,
    pub(crate) members: Vec<Member>,
    pub(crate) exact: TextBlock,
    /// How it stands once it is in the outbox.
    pub(crate) progress: Option<Progress>,
}

pub(crate) struct Impact {
    pub(crate) word: &'static str,
    pub(crate) text: &'static str,
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
    pub(crate) external_id: Option<Shown>,
}

impl EffectCard {
    pub(crate) fn new(n: usize, proposed: &Proposed, agg: &Aggregate, policy: &Policy) -> Self {
        let in_outbox = agg.effects.iter().find(|e| is_same(e, proposed));
        Self {
            n,
            kind: Shown::new(proposed.effect_type.as_str()),
            target: Shown::new(&proposed.target),
            provider: Shown::new(proposed.provider.as_str()),
            provider_note: provider_note(proposed, policy),
            impact: impact(&proposed.impact),
            window: (proposed.window_ms > 0).then(|| {
                format!("Sent {} after the approval; it can be cancelled until then.", span(proposed.window_ms))
            }),
            members: members(&proposed.payload),
            exact: TextBlock::new(&proposed.payload),
            progress: in_outbox.map(|effect| Progress {
                state: effect.state.as_str(),
                external_id: effect.external_id.as_deref().map(Shown::new),
            }),
        }
    }
}

fn is_same(effect: &Effect, proposed: &Proposed) -> bool {
    effect.effect_type == proposed.effect_type && effect.target == proposed.target
}

fn provider_note(proposed: &Proposed, policy: &Policy) -> &'static str {
    let Some(provider) = policy.provider(&proposed.provider).map(|p| &p.provider) else {
        return "not in the config any more: this would wait";
    };
    match (provider.smtp, provider.class) {
        (true, _) => "mail server; a mail cannot be called back",
        (false, Class::Enforcing { .. }) => "honours our key: the same request twice is done once",
        (false, Class::Advisory) => "nothing over there stops a second execution",
    }
}

fn impact(word: &str) -> Impact {
    match word {
        "high" => Impact { word: "high", text: "High impact" },
        "low" => Impact { word: "low", text: "Low impact" },
        _ => Impact { word: "normal", text: "Normal impact" },
    }
}

/// Longer values and those with line ends get a frame of their own.
const INLINE_CHARS: usize = 90;

/// The members of the payload: who and how much first, then the rest in the order it goes out.
fn members(payload: &str) -> Vec<Member> {
    let Ok(json) = json::parse(payload.as_bytes()) else { return Vec::new() };
    let Some(object) = json.as_object() else { return Vec::new() };
    vital::ordered(object).into_iter().map(|(name, value)| member(name, value)).collect()
}

fn member(name: &str, value: &Json) -> Member {
    let text = match value {
        Json::String(text) => text.clone(),
        other => other.to_text(),
    };
    Member {
        name: Shown::new(name),
        is_long: text.chars().count() > INLINE_CHARS || text.contains('\n'),
        is_vital: vital::is_vital(name),
        value: TextBlock::new(&text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(payload: &str) -> Vec<String> {
        use askama::Template as _;
        members(payload).iter().map(|m| m.name.render().unwrap()).collect()
    }

    #[test]
    fn hc_34_recipient_and_amount_come_first_whatever_order_the_model_chose() {
        let payload = r#"{"text":"amount: 9.99","note":1,"amount":9999.00,"subject":"s","to":"a@example.test"}"#;
        assert_eq!(names(payload), ["to", "amount", "subject", "text", "note"]);
    }

    #[test]
    fn a_number_is_shown_with_every_digit_that_goes_out() {
        use askama::Template as _;
        let shown = |payload: &str| members(payload)[0].value.shown.render().unwrap();
        assert_eq!(shown(r#"{"amount": 9999.00}"#), "9999.00");
        assert_eq!(shown(r#"{"amount": 12345678901234567890.10}"#), "12345678901234567890.10");
    }
}
