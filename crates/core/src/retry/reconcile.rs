//! How an unknown outcome is settled: by what a lookup said, by the same key where it still holds, else by a person.

use super::key_holds;
use crate::{
    effect::Effect,
    provider::{self, Provider},
    time::Timestamp,
};

/// What a lookup said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Look {
    Found {
        external_id: Option<String>,
    },
    FoundMany {
        count: usize,
    },
    Absent,
    InProgress,
    /// An error or a time-out: no information.
    Nothing {
        detail: String,
    },
}

impl Look {
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Found { .. } => "found",
            Self::FoundMany { .. } => "found_many",
            Self::Absent => "absent",
            Self::InProgress => "in_progress",
            Self::Nothing { .. } => "no_information",
        }
    }
}

/// What the reconciler does with an unknown effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Settlement {
    /// Ask the provider first; only where a lookup is declared and re-issue is not safe.
    AskFirst,
    Complete {
        external_id: Option<String>,
    },
    LookAgain {
        at: Timestamp,
    },
    /// The same key again; the effect stays marked as unknown until the answer.
    Reissue,
    /// Proof of absence: nothing happened, so it may be sent as if for the first time.
    SendAfterProof,
    Review {
        reason: &'static str,
    },
}

/// A lookup that says nothing for this long hands over to a person.
pub const LOOK_MS_MAX: i64 = 24 * 3_600_000;

/// Settles an unknown effect by what is known. Without `look` it says whether to ask.
#[must_use]
pub fn reconcile(effect: &Effect, provider: &Provider, look: Option<&Look>, now: Timestamp) -> Settlement {
    if let Some(look) = look {
        return looked(effect, provider, look, now);
    }
    let may_reissue = key_holds(effect, provider, now);
    if may_reissue && effect.attempts < provider.attempts_max {
        return Settlement::Reissue;
    }
    match provider.lookup {
        Some(_) => Settlement::AskFirst,
        None if may_reissue => Settlement::Review { reason: "attempts_exhausted" },
        None if matches!(provider.class, provider::Class::Enforcing { .. }) => {
            Settlement::Review { reason: "key_window_over" }
        }
        None => Settlement::Review { reason: "outcome_unknown" },
    }
}

fn looked(effect: &Effect, provider: &Provider, look: &Look, now: Timestamp) -> Settlement {
    let Some(lookup) = provider.lookup else { return Settlement::Review { reason: "outcome_unknown" } };
    let since = effect.unknown_since.unwrap_or(effect.updated_at);
    // The older the doubt, the rarer the looks: one for each sixtieth of its age, so that a day of silence is a few
    // hundred entries of the journal and not one every few seconds.
    let next = now.plus_ms(lookup.period_ms.max(now.ms_since(since) / 60));
    match look {
        Look::Found { external_id } => Settlement::Complete { external_id: external_id.clone() },
        Look::FoundMany { .. } => Settlement::Review { reason: "found_many" },
        Look::Absent if now.ms_since(since) < lookup.settle_delay_ms => {
            Settlement::LookAgain { at: next.min(since.plus_ms(lookup.settle_delay_ms)) }
        }
        Look::Absent if key_holds(effect, provider, now) && effect.attempts < provider.attempts_max => {
            Settlement::Reissue
        }
        Look::Absent if lookup.authoritative && effect.attempts < provider.attempts_max => Settlement::SendAfterProof,
        Look::Absent => Settlement::Review { reason: "not_found" },
        Look::InProgress | Look::Nothing { .. } if now.ms_since(since) > LOOK_MS_MAX => {
            Settlement::Review { reason: "lookup_silent" }
        }
        Look::InProgress | Look::Nothing { .. } => Settlement::LookAgain { at: next },
    }
}
