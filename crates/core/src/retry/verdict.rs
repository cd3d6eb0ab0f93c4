//! What follows from a class, for the effect: done, again, failed, unknown or a person's. Also the wait between
//! attempts, and for how long the provider's key holds.

use super::{Class, Classified};
use crate::{
    effect::Effect,
    provider::{self, Provider},
    time::Timestamp,
};

/// Exponential backoff with full jitter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    pub base_ms: i64,
    pub max_ms: i64,
}

impl Backoff {
    /// The wait before the attempt after `attempts` failed ones: between half and all of `base · 2^(attempts-1)`,
    /// bounded. `jitter` is from 0 to 1. Half is kept, so that a wait is never nothing.
    #[must_use]
    pub fn wait_ms(&self, attempts: i32, jitter: f64) -> i64 {
        let doublings = u32::try_from(attempts.saturating_sub(1).clamp(0, 30)).unwrap_or(0);
        let full = self.base_ms.saturating_mul(1 << doublings).min(self.max_ms).max(1);
        #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "waits are far below 2^53 ms")]
        let extra = (full as f64 / 2.0 * jitter.clamp(0.0, 1.0)) as i64;
        full / 2 + extra
    }
}

/// What follows from a class, for the effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Complete,
    /// Back to pending at that moment. Only where nothing can have happened.
    Retry {
        at: Timestamp,
    },
    /// Held back before the first byte: pending again, no attempt counted.
    HoldBack,
    Fail {
        reason: &'static str,
    },
    /// Unknown, looked at again at that moment by the reconciler.
    Unknown {
        look_at: Timestamp,
    },
    /// A person must settle it.
    Review {
        reason: &'static str,
    },
}

/// The reason of a review where the provider keeps an error under our key and only ever gives it again: one more attempt
/// would show nothing, and whether the first one did anything is not known.
pub const KEY_POISONED: &str = "key_poisoned";

/// Applies the matrix. `jitter` is from 0 to 1.
#[must_use]
pub fn verdict(found: &Classified, effect: &Effect, provider: &Provider, now: Timestamp, jitter: f64) -> Verdict {
    let backoff = now.plus_ms(provider.backoff.wait_ms(effect.attempts, jitter));
    let later = match found.retry_after_ms {
        Some(ms) => now.plus_ms(ms).max(backoff),
        None => backoff,
    };
    match found.class {
        Class::Applied => Verdict::Complete,
        Class::HeldBack => Verdict::HoldBack,
        Class::NotSent | Class::RateLimited | Class::Overloaded => again(effect, provider, later),
        // The provider did not look at our key, so an earlier unknown attempt stays unknown.
        Class::Unauthorized | Class::Redirect if effect.unknown_since.is_some() => {
            Verdict::Review { reason: found.class.as_str() }
        }
        Class::Refused | Class::Redirect | Class::Unauthorized => Verdict::Fail { reason: found.class.as_str() },
        Class::Unknown if found.repeats => Verdict::Review { reason: KEY_POISONED },
        Class::ConflictInFlight | Class::Unknown => Verdict::Unknown { look_at: first_look(provider, now, backoff) },
    }
}

fn again(effect: &Effect, provider: &Provider, at: Timestamp) -> Verdict {
    let exhausted = effect.attempts >= provider.attempts_max;
    match (exhausted, effect.unknown_since) {
        (false, None) => Verdict::Retry { at },
        // An earlier attempt is still unknown: this one proves nothing about it.
        (false, Some(_)) => Verdict::Unknown { look_at: at },
        (true, None) => Verdict::Fail { reason: "attempts_exhausted" },
        (true, Some(_)) => Verdict::Review { reason: "attempts_exhausted" },
    }
}

/// A lookup is asked after a period, an enforcing provider after the backoff; else the reconciler sees it at once.
fn first_look(provider: &Provider, now: Timestamp, backoff: Timestamp) -> Timestamp {
    match (&provider.class, &provider.lookup) {
        (provider::Class::Enforcing { .. }, _) => backoff,
        (provider::Class::Advisory, Some(lookup)) => now.plus_ms(lookup.period_ms),
        (provider::Class::Advisory, None) => now,
    }
}

/// True while a re-issue with the same provider key is safe: an enforcing provider, inside the key window less the
/// margin, counted from the first send.
#[must_use]
pub fn key_holds(effect: &Effect, provider: &Provider, now: Timestamp) -> bool {
    match provider.class {
        provider::Class::Advisory => false,
        provider::Class::Enforcing { key_window_ms, margin_ms } => {
            effect.first_sent_at.is_none_or(|first| now.ms_since(first) < key_window_ms - margin_ms)
        }
    }
}
