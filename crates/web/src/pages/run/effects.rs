//! The effects of a run as operators see them: how each stands, what was tried, and what to search for over there. No
//! payload: that is content, and shown on the review desk and on the card.

use effectgate_core::{
    effect::{Effect, EffectState, Executor},
    run::Aggregate,
};
use effectgate_engine::{
    act::{self, Act},
    explain::{AttemptStory, EffectStory, Explanation},
};

use super::super::{
    action::{Action, Refusal, Words},
    listing::{Moment, Tag},
    text::{Shown, grouped},
    visit::Visit,
};

/// One effect.
pub(crate) struct EffectBlock {
    pub(crate) n: i32,
    pub(crate) kind: Shown,
    pub(crate) target: Shown,
    pub(crate) provider: Shown,
    pub(crate) executor: &'static str,
    pub(crate) state: Tag,
    pub(crate) provider_key: Shown,
    pub(crate) handle: Option<Shown>,
    pub(crate) external_id: Option<Shown>,
    /// What happens next by itself, and when.
    pub(crate) wait: Option<(&'static str, Moment)>,
    pub(crate) attempts: Vec<AttemptLine>,
    /// Its page on the review desk, where there is something to settle or to look at.
    pub(crate) desk: Option<String>,
    pub(crate) is_in_doubt: bool,
    pub(crate) actions: Vec<Action>,
}

/// One attempt.
pub(crate) struct AttemptLine {
    pub(crate) n: usize,
    pub(crate) at: Moment,
    pub(crate) outcome: Tag,
    pub(crate) phase: &'static str,
    pub(crate) bytes_sent: String,
    pub(crate) status: String,
    pub(crate) detail: Shown,
}

pub(super) fn blocks(
    visit: &Visit,
    agg: &Aggregate,
    explanation: &Explanation,
    may_operate: bool,
    refusal: Option<&Refusal>,
) -> Vec<EffectBlock> {
    let story = |effect: &Effect| explanation.effects.iter().find(|story| story.id == effect.id.to_string());
    let told = agg.effects.iter().filter_map(|effect| Some((effect, story(effect)?)));
    told.map(|(effect, story)| {
        let actions = if may_operate { actions(visit, agg, effect, refusal) } else { Vec::new() };
        EffectBlock { actions, ..EffectBlock::new(visit, effect, story) }
    })
    .collect()
}

impl EffectBlock {
    pub(crate) fn new(visit: &Visit, effect: &Effect, story: &EffectStory) -> Self {
        Self {
            n: effect.id.n,
            kind: Shown::new(effect.effect_type.as_str()),
            target: Shown::new(&effect.target),
            provider: Shown::new(effect.provider.as_str()),
            executor: match effect.executor {
                Executor::Dispatcher => "this server",
                Executor::Inline => "the worker itself, on record here",
            },
            state: Tag::new(effect.state.as_str(), story.reason.as_deref()),
            provider_key: Shown::new(&effect.provider_key),
            handle: story.handle.as_deref().filter(|handle| *handle != effect.provider_key).map(Shown::new),
            external_id: effect.external_id.as_deref().map(Shown::new),
            wait: wait(visit, effect),
            attempts: story.attempts.iter().map(|attempt| line(visit, attempt)).collect(),
            desk: (effect.fence.0 > 0).then(|| format!("/review/{}", effect.id)),
            is_in_doubt: matches!(effect.state, EffectState::Review { .. } | EffectState::Unknown { .. }),
            actions: Vec::new(),
        }
    }
}

fn wait(visit: &Visit, effect: &Effect) -> Option<(&'static str, Moment)> {
    let (what, at) = match effect.state {
        EffectState::Scheduled { not_before } => ("Held back until", not_before),
        EffectState::Pending { due_at } => ("Due", due_at),
        EffectState::Unknown { look_at } => ("Next look", look_at),
        EffectState::Review { since } => ("In review since", since),
        _ => return None,
    };
    Some((what, Moment::new(visit, at)))
}

fn line(visit: &Visit, attempt: &AttemptStory) -> AttemptLine {
    let none = || "–".to_owned();
    let number = |n: i64| grouped(usize::try_from(n).unwrap_or_default());
    AttemptLine {
        n: attempt.n,
        at: Moment::new(visit, attempt.at),
        outcome: Tag::new(attempt.outcome, attempt.class.filter(|class| *class != attempt.outcome)),
        phase: attempt.phase.map_or("not known", phase_words),
        bytes_sent: attempt.bytes_sent.map_or_else(none, number),
        status: attempt.status.map_or_else(none, |status| status.to_string()),
        detail: Shown::new(attempt.detail.as_deref().unwrap_or("–")),
    }
}

/// How far an attempt got, for somebody who has not read the code.
fn phase_words(phase: &'static str) -> &'static str {
    match phase {
        "prepared" => "held back before the first byte",
        "resolve" => "finding the address",
        "connect" => "connecting",
        "handshake" => "the greeting",
        "envelope" => "the envelope (before the message)",
        "request" => "the request was on its way",
        "answered" => "an answer was read",
        other => other,
    }
}

/// Cancelling is for what cannot have left.
fn actions(visit: &Visit, agg: &Aggregate, effect: &Effect, refusal: Option<&Refusal>) -> Vec<Action> {
    let waits = matches!(effect.state, EffectState::Scheduled { .. } | EffectState::Pending { .. });
    if !waits || effect.unknown_since.is_some() {
        return Vec::new();
    }
    let words = Words {
        name: "cancel",
        title: "Cancel this effect",
        does: "Nothing of it has left. It will not be sent, and the run ends once its other effects have.".into(),
        button: "Cancel the effect",
        is_stop: true,
    };
    let path = format!("/effects/{}/cancel", effect.id);
    let shown = act::mark(agg, &Act::Cancel(effect.id)).unwrap_or_default();
    vec![Action::new(visit, path, usize::try_from(effect.id.n).unwrap_or_default(), shown, words).again(refusal)]
}
