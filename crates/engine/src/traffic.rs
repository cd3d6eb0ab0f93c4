//! Limits on the way out: attempts under way at once, calls per second, and the circuit breaker, per provider. Kept in
//! the process; a limit that is shared by replicas is divided among them in the config.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use effectgate_core::{ids::ProviderName, provider::Breaker, retry::Class, time::Timestamp};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::policy::Policy;

/// The lanes of all providers and the bound over all of them.
pub(crate) struct Traffic {
    lanes: BTreeMap<ProviderName, Lane>,
    all: Arc<Semaphore>,
    all_max: usize,
}

struct Lane {
    permits: Arc<Semaphore>,
    state: Mutex<State>,
    per_second: f64,
    breaker: Breaker,
}

#[derive(Debug)]
struct State {
    /// Calls that may go now; refilled by time, at most a second's worth.
    tokens: f64,
    refilled_at: Option<Timestamp>,
    failures: u32,
    open_until: Option<Timestamp>,
}

/// The right to make one attempt; given back when dropped.
pub(crate) struct Permit {
    _provider: OwnedSemaphorePermit,
    _all: OwnedSemaphorePermit,
}

impl Traffic {
    #[must_use]
    pub(crate) fn new(policy: &Policy) -> Self {
        let lanes = policy.providers.iter().map(|(name, p)| {
            let rate = p.provider.rate;
            let state = State { tokens: rate.per_second.max(1.0), refilled_at: None, failures: 0, open_until: None };
            let lane = Lane {
                permits: Arc::new(Semaphore::new(rate.concurrent)),
                state: Mutex::new(state),
                per_second: rate.per_second,
                breaker: p.provider.breaker,
            };
            (name.clone(), lane)
        });
        // Lanes do not share: a provider that hangs uses up its own places and nobody else's (HC-36).
        let all_max = policy.providers.values().map(|p| p.provider.rate.concurrent).sum();
        Self { lanes: lanes.collect(), all: Arc::new(Semaphore::new(all_max)), all_max }
    }

    /// How many attempts could start for this provider now.
    pub(crate) fn room(&self, provider: &ProviderName, now: Timestamp) -> usize {
        let Some(lane) = self.lanes.get(provider) else { return 0 };
        let mut state = lane.state();
        if state.open_until.is_some_and(|until| until > now) {
            return 0;
        }
        lane.refill(&mut state, now);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "tokens are small and not negative"
        )]
        let tokens = state.tokens as usize;
        tokens.min(lane.permits.available_permits()).min(self.all.available_permits())
    }

    /// Takes the right to one attempt, and one call of the rate. `None` if there is no room after all.
    pub(crate) fn take(&self, provider: &ProviderName) -> Option<Permit> {
        let lane = self.lanes.get(provider)?;
        let all = self.all.clone().try_acquire_owned().ok()?;
        let provider = lane.permits.clone().try_acquire_owned().ok()?;
        lane.state().tokens -= 1.0;
        Some(Permit { _provider: provider, _all: all })
    }

    /// Gives a call of the rate back: no attempt was made.
    pub(crate) fn give_back(&self, provider: &ProviderName) {
        if let Some(lane) = self.lanes.get(provider) {
            lane.state().tokens += 1.0;
        }
    }

    /// Counts how an attempt ended; true if this opened the circuit. A refusal is an answer: the provider is well.
    /// What is unknown is never the breaker's business beyond waiting: it decides nothing about the effect.
    pub(crate) fn count(&self, provider: &ProviderName, class: Class, now: Timestamp) -> bool {
        let Some(lane) = self.lanes.get(provider) else { return false };
        let mut state = lane.state();
        match class {
            Class::HeldBack => return false,
            Class::Unauthorized => state.failures = lane.breaker.failures,
            Class::NotSent | Class::Unknown | Class::Overloaded => state.failures += 1,
            _ => state.failures = 0,
        }
        let opens = state.failures >= lane.breaker.failures;
        if opens {
            state.failures = 0;
            state.open_until = Some(now.plus_ms(lane.breaker.open_ms));
        } else if state.failures == 0 {
            state.open_until = None;
        }
        opens
    }

    /// Attempts under way now.
    pub(crate) fn under_way(&self) -> usize {
        self.all_max - self.all.available_permits()
    }

    /// Waits until no attempt is under way.
    pub(crate) async fn idle(&self) {
        let all = u32::try_from(self.all_max).unwrap_or(u32::MAX);
        // The semaphore is never closed.
        let _ = self.all.acquire_many(all).await;
    }

    /// Providers whose circuit is open, with the moment of the next try.
    #[must_use]
    pub(crate) fn open_circuits(&self, now: Timestamp) -> Vec<(ProviderName, Timestamp)> {
        let open = |(name, lane): (&ProviderName, &Lane)| {
            let until = lane.state().open_until.filter(|until| *until > now)?;
            Some((name.clone(), until))
        };
        self.lanes.iter().filter_map(open).collect()
    }
}

impl Lane {
    fn state(&self) -> MutexGuard<'_, State> {
        // A panic while the lock was held left plain numbers behind, which are still good.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn refill(&self, state: &mut State, now: Timestamp) {
        let since = state.refilled_at.replace(now).map_or(0, |at| now.ms_since(at).max(0));
        #[expect(clippy::cast_precision_loss, reason = "milliseconds since the last look are few")]
        let fresh = since as f64 / 1_000.0 * self.per_second;
        state.tokens = (state.tokens + fresh).min(self.per_second.max(1.0));
    }
}
