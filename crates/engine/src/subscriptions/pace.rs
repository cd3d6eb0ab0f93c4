//! How many deliveries one subscription may have under way. One that fails again and again is only probed, so that a
//! receiver that is away costs neither the others their turn nor itself a storm when it comes back.
//!
//! In memory: each process learns it for itself within three tries.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use effectgate_core::{ids::SubscriptionId, time::Timestamp};

/// Failures in a row after which one delivery at a time goes out as a probe. One bad event must not slow the others
/// down, three in a row are no accident of one event.
const PROBED_FROM: u32 = 3;
/// The pause before the first probe; it doubles.
const PAUSE_MS: i64 = 1_000;
/// One probe a minute finds a receiver that is back soon enough.
const PAUSE_MS_MAX: i64 = 60_000;

#[derive(Debug, Clone, Copy, Default)]
struct Pace {
    under_way: usize,
    failures: u32,
    /// Nothing goes out before.
    until: Option<Timestamp>,
}

/// The paces of one process; what is idle and well takes no room.
#[derive(Default)]
pub(crate) struct Paces(Mutex<HashMap<SubscriptionId, Pace>>);

impl Paces {
    /// How many more may go out now.
    pub(super) fn room(&self, id: SubscriptionId, at_once: usize, now: Timestamp) -> usize {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(pace) = all.get(&id) else { return at_once };
        let at_once = if pace.failures >= PROBED_FROM { 1 } else { at_once };
        if pace.until.is_some_and(|until| now < until) { 0 } else { at_once.saturating_sub(pace.under_way) }
    }

    pub(super) fn began(&self, id: SubscriptionId) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(id).or_default().under_way += 1;
    }

    /// One ended: well, or not.
    pub(super) fn ended(&self, id: SubscriptionId, well: bool, now: Timestamp) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(pace) = all.get_mut(&id) else { return };
        pace.under_way = pace.under_way.saturating_sub(1);
        pace.failures = if well { 0 } else { pace.failures.saturating_add(1) };
        let doubled = |over: u32| (PAUSE_MS << over.min(16)).min(PAUSE_MS_MAX);
        pace.until = pace.failures.checked_sub(PROBED_FROM).map(|over| now.plus_ms(doubled(over)));
        if pace.under_way == 0 && pace.failures == 0 {
            all.remove(&id);
        }
    }

    /// The subscription is gone.
    pub(super) fn forget(&self, id: SubscriptionId) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_fails_three_times_in_a_row_is_probed_one_at_a_time_and_less_and_less_often() {
        let (paces, id, now) = (Paces::default(), SubscriptionId::derive("k", "u"), Timestamp::from_micros(0));
        let fail = || {
            paces.began(id);
            paces.ended(id, false, now);
        };
        fail();
        fail();
        assert_eq!(paces.room(id, 4, now), 4);

        fail();
        assert_eq!((paces.room(id, 4, now.plus_ms(999)), paces.room(id, 4, now.plus_ms(1_000))), (0, 1));
        paces.began(id);
        assert_eq!(paces.room(id, 4, now.plus_ms(1_000)), 0, "one probe");
        paces.ended(id, false, now);
        assert_eq!((paces.room(id, 4, now.plus_ms(1_999)), paces.room(id, 4, now.plus_ms(2_000))), (0, 1));
        (0..40).for_each(|_| fail());
        assert_eq!(paces.room(id, 4, now.plus_ms(PAUSE_MS_MAX)), 1);

        paces.began(id);
        paces.ended(id, true, now);
        assert_eq!(paces.room(id, 4, now), 4);
        assert!(paces.0.lock().unwrap().is_empty());
    }
}
