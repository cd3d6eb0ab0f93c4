//! What an engine operation could not do. Answers a good caller branches on (busy, replay, waiting …) are values of the
//! operations, not errors. Each variant has a stable code; the web room turns them into responses in one match.

use effectgate_core::{approval, flow::LeaseOutOfBounds, json::JsonError, key::KeyError, time::Timestamp};
use effectgate_store::StoreError;

use crate::view::{ApprovalView, ChangeView, EffectView, Findings, RunView};

pub type Result<T, E = EngineError> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    #[error("no flow of this name is configured")]
    UnknownFlow,
    #[error("{0}")]
    BadKey(KeyError),
    /// A JSON text inside the request that cannot be taken. The pointer leads to the member, from the request's root.
    #[error("{}", error.detail)]
    BadJson { pointer: String, error: JsonError },
    #[error("{detail}")]
    BadMember { pointer: String, detail: String },
    /// An address that is not at a base of `[n8n]`. In words without the address: it may carry a signature.
    #[error("{why}")]
    UrlNotAllowed { pointer: String, why: String },
    #[error("{0}")]
    BadLease(LeaseOutOfBounds),
    #[error("the payload breaks the flow's schema")]
    InvalidPayload { findings: Findings },
    #[error("the output or its effects are invalid")]
    InvalidOutput { findings: Findings, repairs_left: i32, run: Box<RunView> },
    #[error("there is no {0} of this id")]
    NotFound(&'static str),
    /// Another owner, another fence, an expired lease, or a run that has moved on.
    #[error("the lease is not yours any more")]
    LeaseLost { run: Box<RunView> },
    #[error("inline effects were begun and not settled: settle them first")]
    EffectsOpen { run: Box<RunView> },
    #[error("the same effect was begun with another payload")]
    EffectDiffers { effect: Box<EffectView> },
    #[error("this effect is not in the hands of this worker")]
    NotBegun { effect: Box<EffectView> },
    /// An inline effect may not begin now (G11). Nothing was written.
    #[error("actions are switched off")]
    SwitchOff,
    /// An effect on the desk whose key only ever repeats a stored error (`retry::KEY_POISONED`).
    #[error(
        "the provider keeps an error under this key and would only repeat it: look whether it happened; if not, cancel it and make a correction, which has a key of its own"
    )]
    KeyPoisoned { effect: Box<EffectView> },
    #[error("this cannot be done in the state {state}{}", next.map(|next| format!(": {next}")).unwrap_or_default())]
    WrongState {
        state: String,
        /// The way to go instead, where there is one.
        next: Option<&'static str>,
        run: Box<RunView>,
    },
    /// A correction's key is the original's in disguise, or stands for another run already.
    #[error("{detail}")]
    CorrectionKey { detail: &'static str, run: Option<Box<RunView>> },
    #[error("this plan could be executed until {at}; make a new one, the runs may have changed")]
    ReplayExpired { at: effectgate_core::time::Timestamp },
    /// An inline effect may not begin now: a budget has no room. Nothing was written. `until` is the end of its window,
    /// and how far away that is in milliseconds; `None` where the effect asks for more than the whole budget, or its
    /// amount cannot be read.
    #[error("{}", if until.is_some() { format!("the budget of {budget} is used up") } else { format!("this asks for more than the whole budget of {budget} allows, or its amount cannot be read") })]
    BudgetUsedUp { budget: String, until: Option<(Timestamp, i64)> },
    #[error("this wants the role operator, or one of those who were asked")]
    NotEntitled,
    #[error("a reason is required")]
    ReasonRequired,
    #[error("no class of this name: see the error page for the list")]
    UnknownClass,
    #[error("the decision was not taken: {}", why.code())]
    DecisionRefused {
        why: approval::Refused,
        /// What is wrong with an edit; pointers from the request's root.
        findings: Findings,
        /// With `Changed`: what became other since the person looked, where that is known.
        changes: Vec<ChangeView>,
        approval: Box<ApprovalView>,
        run: Box<RunView>,
    },
    #[error("this link leads nowhere")]
    UnknownToken,
    #[error("too many others changed the same run; try again")]
    Contended,
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl EngineError {
    /// The stable code; one page each in `docs/errors`.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::UnknownFlow => "unknown_flow",
            Self::BadKey(_) => "bad_key",
            Self::BadJson { error, .. } => error.code.as_str(),
            Self::BadMember { .. } => "bad_member",
            Self::UrlNotAllowed { .. } => "url_not_allowed",
            Self::BadLease(_) => "bad_lease",
            Self::InvalidPayload { .. } => "invalid_payload",
            Self::InvalidOutput { .. } => "invalid_output",
            Self::NotFound(_) => "not_found",
            Self::LeaseLost { .. } => "lease_lost",
            Self::EffectsOpen { .. } => "effects_open",
            Self::EffectDiffers { .. } => "effect_differs",
            Self::NotBegun { .. } => "effect_not_begun",
            Self::SwitchOff => "switch_off",
            Self::KeyPoisoned { .. } => "key_poisoned",
            Self::BudgetUsedUp { .. } => "budget_used_up",
            Self::WrongState { .. } => "wrong_state",
            Self::CorrectionKey { .. } => "correction_key",
            Self::ReplayExpired { .. } => "replay_expired",
            Self::NotEntitled => "forbidden",
            Self::ReasonRequired => "reason_required",
            Self::UnknownClass => "unknown_class",
            Self::DecisionRefused { why, .. } => why.code(),
            Self::UnknownToken => "unknown_token",
            Self::Contended => "contended",
            Self::Store(error) => store_code(error),
        }
    }
}

fn store_code(error: &StoreError) -> &'static str {
    match error {
        StoreError::Unavailable { .. } => "database_unavailable",
        StoreError::CommitUnknown { .. } => "commit_unknown",
        _ => "internal",
    }
}
