//! Failed authentications of each peer address in the last minute, in a bounded table.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// A window long enough to blunt a flood of lookups, short enough that a typing error mends itself.
const WINDOW: Duration = Duration::from_secs(60);
/// A misconfigured worker with ten executions a minute is told what is wrong; a flood is not looked up.
const FAILURES_MAX: u32 = 30;
/// About a megabyte. When it is full, windows that are over are dropped, then everything.
const PEERS_MAX: usize = 10_000;

/// Failed authentications by peer address.
#[derive(Default)]
pub(crate) struct Failures(Mutex<HashMap<IpAddr, (Instant, u32)>>);

impl Failures {
    /// True if this address has failed too often in the present window.
    pub(crate) fn is_blocked(&self, peer: IpAddr) -> bool {
        let table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        table.get(&peer).is_some_and(|(since, n)| since.elapsed() < WINDOW && *n >= FAILURES_MAX)
    }

    pub(crate) fn count(&self, peer: IpAddr) {
        let mut table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if table.len() >= PEERS_MAX && !table.contains_key(&peer) {
            table.retain(|_, (since, _)| since.elapsed() < WINDOW);
            if table.len() >= PEERS_MAX {
                table.clear();
            }
        }
        let (since, n) = table.entry(peer).or_insert((Instant::now(), 0));
        if since.elapsed() >= WINDOW {
            (*since, *n) = (Instant::now(), 0);
        }
        *n += 1;
    }
}

/// Units: whole seconds, for `Retry-After`.
pub(crate) const RETRY_AFTER_MS: i64 = 60_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_blocked_after_too_many_failures_and_others_are_not() {
        let failures = Failures::default();
        let (bad, good) = (IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, 2]));

        (0..FAILURES_MAX).for_each(|_| failures.count(bad));

        assert!(failures.is_blocked(bad));
        assert!(!failures.is_blocked(good));
    }

    #[test]
    fn the_table_stays_bounded() {
        let failures = Failures::default();
        (0..20_000_u32).for_each(|n| failures.count(IpAddr::from(n.to_be_bytes())));

        assert!(failures.0.lock().unwrap().len() <= PEERS_MAX);
    }
}
