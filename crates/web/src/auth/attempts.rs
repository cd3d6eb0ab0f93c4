//! How often somebody may try: sign-ins by account and by peer address, links by peer address. Bounded tables in this
//! process; with several replicas each counts for itself, which multiplies the bounds by their number.
//!
//! A try counts before the password is looked at, so that tries at the same moment are counted too.

use std::{
    collections::HashMap,
    hash::Hash,
    net::IpAddr,
    sync::{Mutex, PoisonError},
};

use effectgate_core::{digest::Digest, ids::Tenant, time::Timestamp};

/// Entries of one table: about a megabyte.
const ENTRIES_MAX: usize = 8_192;
const QUARTER_HOUR_MS: i64 = 900_000;
const HOUR_MS: i64 = 3_600_000;
const MINUTE_MS: i64 = 60_000;

/// How many refused sign-ins are borne before the next one waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lockout {
    /// One account from one address, within `window_ms`.
    pub tries_max: u32,
    /// One account from anywhere, within `account_window_ms`.
    pub account_tries_max: u32,
    /// One address, whatever accounts, within `window_ms`. Refused single sign-ons count here too.
    pub address_tries_max: u32,
    pub window_ms: i64,
    pub account_window_ms: i64,
}

impl Default for Lockout {
    /// Ten typing errors, then a pause of a quarter of an hour. One account from anywhere 100 an hour: NIST SP 800-63B
    /// section 3.2.2 bounds failures of one account at 100; below it a stranger cannot keep the owner out, at it a
    /// guessed account is more of a danger than a locked one. One address 100 in a quarter of an hour: an office behind
    /// one address signs in, a list of passwords does not.
    fn default() -> Self {
        Self {
            tries_max: 10,
            account_tries_max: 100,
            address_tries_max: 100,
            window_ms: QUARTER_HOUR_MS,
            account_window_ms: HOUR_MS,
        }
    }
}

/// How many tries in which time.
#[derive(Debug, Clone, Copy)]
struct Bound {
    tries: u32,
    window_ms: i64,
}

/// Links that lead nowhere. They cannot be guessed (256 bits); this bounds the look-ups.
const LINKS: Bound = Bound { tries: 60, window_ms: MINUTE_MS };
/// Single sign-ons that an address begins: each is a redirect and a cookie; this bounds what a loop can ask of us. Far
/// above what an office does behind one address.
const BEGINNINGS: Bound = Bound { tries: 300, window_ms: MINUTE_MS };
/// Entries about refused sign-ins that the journal takes in an hour.
const NOTES: Bound = Bound { tries: 20, window_ms: HOUR_MS };

/// What a try comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Try {
    Allowed,
    /// `is_first` at the moment when the bound was reached: to be noted once.
    Wait {
        ms: i64,
        is_first: bool,
        what: &'static str,
    },
}

/// The tables.
#[derive(Default)]
pub(crate) struct Attempts {
    lockout: Lockout,
    account_from_peer: Windows<(Digest, IpAddr)>,
    account: Windows<Digest>,
    peer: Windows<IpAddr>,
    links: Windows<IpAddr>,
    beginnings: Windows<IpAddr>,
    notes: Windows<()>,
}

impl Attempts {
    pub(crate) fn new(lockout: Lockout) -> Self {
        Self { lockout, ..Self::default() }
    }

    /// Counts a sign-in before it is looked at.
    pub(crate) fn sign_in(&self, tenant: &Tenant, name: &str, peer: IpAddr, now: Timestamp) -> Try {
        let (account, peer) = (account_key(tenant, name), network(peer));
        let Lockout { tries_max, account_tries_max, window_ms, account_window_ms, .. } = self.lockout;
        let together = Bound { tries: tries_max, window_ms };
        let alone = Bound { tries: account_tries_max, window_ms: account_window_ms };
        let counted = [
            ("account from one address", self.account_from_peer.count((account, peer), together, now)),
            ("account", self.account.count(account, alone, now)),
            ("address", self.peer.count(peer, self.of_address(), now)),
        ];
        let over = counted.into_iter().find_map(|(what, over)| over.map(|(ms, is_first)| (what, ms, is_first)));
        over.map_or(Try::Allowed, |(what, ms, is_first)| Try::Wait { ms, is_first, what })
    }

    /// The password was right: the account's tries are forgotten, and this one was no failure of the address.
    pub(crate) fn signed_in(&self, tenant: &Tenant, name: &str, peer: IpAddr) {
        let (account, peer) = (account_key(tenant, name), network(peer));
        self.account_from_peer.forget(&(account, peer));
        self.account.forget(&account);
        self.peer.uncount(&peer);
    }

    /// Counts the end of a single sign-on before it is looked at.
    pub(crate) fn sign_on(&self, peer: IpAddr, now: Timestamp) -> Try {
        match self.peer.count(network(peer), self.of_address(), now) {
            None => Try::Allowed,
            Some((ms, is_first)) => Try::Wait { ms, is_first, what: "address" },
        }
    }

    /// The issuer vouched for somebody: this was no failure of the address.
    pub(crate) fn signed_on(&self, peer: IpAddr) {
        self.peer.uncount(&network(peer));
    }

    /// Counts the beginning of a single sign-on: milliseconds to wait, if there were too many.
    pub(crate) fn beginning(&self, peer: IpAddr, now: Timestamp) -> Option<i64> {
        self.beginnings.count(network(peer), BEGINNINGS, now).map(|(ms, _)| ms)
    }

    const fn of_address(&self) -> Bound {
        Bound { tries: self.lockout.address_tries_max, window_ms: self.lockout.window_ms }
    }

    /// Milliseconds to wait before this address may open another link; `None` if it may now.
    pub(crate) fn links_blocked(&self, peer: IpAddr, now: Timestamp) -> Option<i64> {
        self.links.blocked(&network(peer), LINKS, now)
    }

    /// A link led nowhere.
    pub(crate) fn dead_link(&self, peer: IpAddr, now: Timestamp) {
        self.links.count(network(peer), LINKS, now);
    }

    /// True if the journal may take one more note about refused sign-ins.
    pub(crate) fn may_note(&self, now: Timestamp) -> bool {
        self.notes.count((), NOTES, now).is_none()
    }
}

/// Names are what people type, sometimes a password by mistake: the table knows only their hash.
fn account_key(tenant: &Tenant, name: &str) -> Digest {
    Digest::of_parts(&[tenant.as_str().as_bytes(), name.trim().to_lowercase().as_bytes()])
}

/// One subscriber: an IPv4 address, or the /64 that an IPv6 subscriber gets at least.
fn network(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V6(v6) => IpAddr::from((u128::from(v6) >> 64 << 64).to_be_bytes()),
        v4 => v4,
    }
}

/// Tries by key, each in a window that begins with its first try.
struct Windows<K>(Mutex<HashMap<K, (Timestamp, u32)>>);

impl<K> Default for Windows<K> {
    fn default() -> Self {
        Self(Mutex::new(HashMap::new()))
    }
}

impl<K: Eq + Hash + Clone> Windows<K> {
    /// Counts a try. Over the bound: how long to wait in milliseconds, and whether this try was the first over it.
    fn count(&self, key: K, bound: Bound, now: Timestamp) -> Option<(i64, bool)> {
        let mut table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if table.len() >= ENTRIES_MAX && !table.contains_key(&key) {
            make_room(&mut table, bound, now);
        }
        let (since, tries) = table.entry(key).or_insert((now, 0));
        if now.ms_since(*since) >= bound.window_ms {
            (*since, *tries) = (now, 0);
        }
        *tries = tries.saturating_add(1);
        (*tries > bound.tries).then(|| (left(*since, bound, now), *tries == bound.tries + 1))
    }

    fn blocked(&self, key: &K, bound: Bound, now: Timestamp) -> Option<i64> {
        let table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (since, tries) = table.get(key)?;
        let ms = left(*since, bound, now);
        (*tries >= bound.tries && ms > 0).then_some(ms)
    }

    fn uncount(&self, key: &K) {
        let mut table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, tries)) = table.get_mut(key) {
            *tries = tries.saturating_sub(1);
        }
    }

    fn forget(&self, key: &K) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(key);
    }
}

fn left(since: Timestamp, bound: Bound, now: Timestamp) -> i64 {
    bound.window_ms - now.ms_since(since)
}

/// Drops what is over, else whoever tried least: a flood of names cannot wash out the count of the one under attack.
fn make_room<K: Eq + Hash + Clone>(table: &mut HashMap<K, (Timestamp, u32)>, bound: Bound, now: Timestamp) {
    table.retain(|_, (since, _)| left(*since, bound, now) > 0);
    if table.len() >= ENTRIES_MAX
        && let Some(least) = table.iter().min_by_key(|(_, (_, tries))| *tries).map(|(key, _)| key.clone())
    {
        table.remove(&least);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_micros(1_790_000_000_000_000);

    fn peer(n: u32) -> IpAddr {
        IpAddr::from(n.to_be_bytes())
    }

    fn tenant() -> Tenant {
        Tenant::new("t")
    }

    fn tries(attempts: &Attempts, name: &str, n: u32) {
        for _ in 0..n {
            attempts.sign_in(&tenant(), name, peer(1), NOW);
        }
    }

    #[test]
    fn the_eleventh_try_waits_and_is_noted_once() {
        let attempts = Attempts::default();
        let one = |name: &str| attempts.sign_in(&tenant(), name, peer(1), NOW);
        (0..10).for_each(|_| assert_eq!(one("anna"), Try::Allowed));

        assert!(matches!(one("Anna "), Try::Wait { is_first: true, .. }));
        assert!(matches!(one("anna"), Try::Wait { is_first: false, .. }));
        assert_eq!(one("berta"), Try::Allowed);
    }

    #[test]
    fn a_window_ends() {
        let attempts = Attempts::default();
        tries(&attempts, "anna", 11);

        assert_eq!(attempts.sign_in(&tenant(), "anna", peer(1), NOW.plus_ms(QUARTER_HOUR_MS)), Try::Allowed);
    }

    #[test]
    fn an_account_is_bounded_over_all_addresses() {
        let attempts = Attempts::default();
        let allowed = (0..200).filter(|n| attempts.sign_in(&tenant(), "anna", peer(*n), NOW) == Try::Allowed);

        assert_eq!(allowed.count(), 100);
    }

    #[test]
    fn a_flood_of_names_does_not_wash_out_the_one_under_attack() {
        let attempts = Attempts::default();
        tries(&attempts, "anna", 11);
        for n in 0..9_000 {
            attempts.sign_in(&tenant(), &n.to_string(), peer(n), NOW);
        }

        assert!(matches!(attempts.sign_in(&tenant(), "anna", peer(1), NOW), Try::Wait { .. }));
        assert!(attempts.account.0.lock().unwrap().len() <= ENTRIES_MAX);
    }

    #[test]
    fn neighbours_in_one_ipv6_network_are_one_peer() {
        let of = |text: &str| network(text.parse().unwrap());
        assert_eq!(of("2001:db8::1"), of("2001:db8::ffff:1"));
        assert_ne!(of("2001:db8::1"), of("2001:db8:0:1::1"));
        assert_eq!(of("::ffff:10.0.0.1"), of("10.0.0.1"));
    }
}
