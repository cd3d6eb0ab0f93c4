//! Budgets: how many effects, or how much money, may leave in a window of time. Pure: which budgets an effect counts
//! against ([`wants`]), in which windows it finds room ([`plan()`]), what a wait looks like ([`hold()`]) and when a
//! charge is given back ([`give_back`]). The store adds in the very transaction that writes the attempt.
//!
//! A charge is made for an effect, not for an attempt: a re-issue with the same provider key charges nothing more. An
//! effect whose outcome nobody knows keeps its charge; one that provably did not happen gives it back. What finds no
//! room now is charged ahead, in the first window that has some, and is due when that window begins: each effect waits
//! once, in the order in which they came, and however many wait, none of them is in the way of the others.

mod hold;
mod plan;
mod words;

use serde::{Deserialize, Serialize};

use crate::{
    digest::Digest,
    effect::{Effect, EffectState},
    ids::{FlowName, ProviderName},
    json,
    run::Run,
    time::Timestamp,
};

pub use hold::{Wait, hold, is_waiting};
pub use plan::{AHEAD_MAX, Plan, Used, attach, plan};
pub use words::span_words;

/// The reason of an effect that waits for room in a budget.
pub const USED_UP: &str = "budget_used_up";
/// The reason of an effect that asks for more than the whole of a budget, or whose amount cannot be read.
pub const TOO_SMALL: &str = "budget_too_small";

/// The section of the config that a budget stands in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Holder {
    Provider(ProviderName),
    Flow(FlowName),
}

/// What is counted together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Per {
    Provider,
    Flow,
    /// One idempotency key, which is one run.
    Key,
    /// One target of one tenant.
    Target,
}

impl Per {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Provider => "provider",
            Self::Flow => "flow",
            Self::Key => "key",
            Self::Target => "target",
        }
    }
}

/// A budget as the config declares it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Budget {
    pub holder: Holder,
    pub per: Per,
    /// Windows of this length, one after the other since 1970-01-01 UTC.
    pub window_ms: i64,
    pub max: i64,
    /// Where in an effect's payload its amount lies, in whole minor units. `None`: every effect counts one.
    pub amount: Option<String>,
}

/// What one effect asks of one budget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Want {
    /// Names the count: whose it is, how long its windows are, and what is counted.
    pub scope: String,
    pub window_ms: i64,
    pub max: i64,
    /// `None`: the payload has no whole, non-negative number where the budget looks for it.
    pub amount: Option<i64>,
    /// The count in words, for people: `provider pay, 10 an hour`.
    pub words: String,
    /// The budget in words, whichever of its counts it is: `provider pay, 10 an hour for each target`.
    pub budget: String,
}

/// What an effect has been charged, kept in its row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Charged {
    pub scope: String,
    pub start: Timestamp,
    pub end: Timestamp,
    pub amount: i64,
}

/// One line of what a transition adds to the counts, or takes off them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Charge {
    pub scope: String,
    pub start: Timestamp,
    pub end: Timestamp,
    /// Zero where the effect has been charged already and only the limit is judged; negative for what is given back.
    pub amount: i64,
    /// Nothing of the transition is committed unless the count with the amount stays within this. `None` for what is
    /// given back.
    pub max: Option<i64>,
}

impl Budget {
    /// The window that a moment lies in.
    #[must_use]
    pub fn window(&self, at: Timestamp) -> (Timestamp, Timestamp) {
        window(self.window_ms, at)
    }

    /// True if effects of this flow at this provider count against it.
    #[must_use]
    pub fn concerns(&self, flow: &FlowName, provider: &ProviderName) -> bool {
        match &self.holder {
            Holder::Provider(name) => name == provider,
            Holder::Flow(name) => name == flow,
        }
    }

    fn want(&self, run: &Run, effect: &Effect, root: &str) -> Want {
        let amount = match &self.amount {
            None => Some(1),
            Some(pointer) => amount_at(&effect.payload, &format!("{root}{pointer}")),
        };
        let whose = self.whose(run, effect);
        Want {
            scope: self.scope(&whose),
            window_ms: self.window_ms,
            max: self.max,
            amount,
            words: format!("{whose}, {}", self.limit_words()),
            budget: self.words(),
        }
    }

    /// The name of a count. Two budgets of different length, or of different amounts, never share one; a new maximum
    /// goes on with the old count.
    #[must_use]
    pub fn scope(&self, whose: &str) -> String {
        format!("{whose} | {} | {}", self.window_ms, self.amount.as_deref().unwrap_or("effects"))
    }

    /// Whose count an effect is in. Targets are told by a hash: they are often people's addresses, and counts lie
    /// outside of what is erased with a run.
    fn whose(&self, run: &Run, effect: &Effect) -> String {
        match self.per {
            Per::Provider => self.whose_named(Some(effect.provider.as_str())),
            Per::Flow => self.whose_named(Some(run.flow.as_str())),
            Per::Key => format!("{}, key {}", self.whose_named(None), run.id),
            Per::Target => {
                let hash = Digest::of_parts(&[b"target", run.tenant.as_str().as_bytes(), effect.target.as_bytes()]);
                format!("{}, target {}", self.whose_named(None), &hash.to_string()[..32])
            }
        }
    }

    /// The holder, with the other name where the count is kept for each of those.
    #[must_use]
    pub fn whose_named(&self, name: Option<&str>) -> String {
        match (&self.holder, self.per, name) {
            (Holder::Provider(provider), Per::Flow, Some(flow)) => format!("provider {provider}, flow {flow}"),
            (Holder::Flow(flow), Per::Provider, Some(provider)) => format!("flow {flow}, provider {provider}"),
            (Holder::Provider(provider), ..) => format!("provider {provider}"),
            (Holder::Flow(flow), ..) => format!("flow {flow}"),
        }
    }
}

/// What an effect asks of all budgets, in their order. `root` is put before the pointer of an amount: where the payload
/// holds what the provider gets as a part of it.
#[must_use]
pub fn wants(budgets: &[Budget], run: &Run, effect: &Effect, root: &str) -> Vec<Want> {
    budgets.iter().filter(|b| b.concerns(&run.flow, &effect.provider)).map(|b| b.want(run, effect, root)).collect()
}

/// The amount in a payload: a whole number that is not negative, written without point or exponent. Money in minor
/// units is such a number; anything else would have to be rounded, and nothing here rounds.
#[must_use]
pub fn amount_at(payload: &str, pointer: &str) -> Option<i64> {
    let json = json::parse(payload.as_bytes()).ok()?;
    match json.pointer(pointer)? {
        json::Json::Number(number) => number.as_str().parse().ok().filter(|amount| *amount >= 0),
        _ => None,
    }
}

/// The window of a length that a moment lies in; windows follow each other since 1970-01-01 UTC.
#[must_use]
pub fn window(window_ms: i64, at: Timestamp) -> (Timestamp, Timestamp) {
    let length = window_ms.max(1).saturating_mul(1_000);
    let start = at.micros().div_euclid(length).saturating_mul(length);
    (Timestamp::from_micros(start), Timestamp::from_micros(start.saturating_add(length)))
}

/// Takes an effect's charges off again if it has ended and provably did not happen: failed or cancelled, with no
/// attempt behind it whose outcome nobody knows. An effect that is unknown or in review keeps its charge, and so does
/// one that failed while an earlier attempt of it is still in doubt.
#[must_use]
pub fn give_back(after: &mut Effect) -> Vec<Charge> {
    let did_not_happen =
        matches!(after.state, EffectState::Failed | EffectState::Cancelled) && after.unknown_since.is_none();
    if !did_not_happen || after.charged.is_empty() {
        return Vec::new();
    }
    std::mem::take(&mut after.charged).into_iter().map(plan::taken_off).collect()
}
