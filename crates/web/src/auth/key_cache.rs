//! API keys that were found good a moment ago, so that the hot path asks no database. An entry counts for
//! [`FRESH`]: a key that is revoked elsewhere works at most that long.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use effectgate_core::digest::Digest;

use super::KeyIdentity;

/// How long a revoked key may still work on another replica.
pub(crate) const FRESH: Duration = Duration::from_secs(5);
/// Far more than a house has keys; when it is full it starts anew.
const KEYS_MAX: usize = 4_096;

type Found = (Instant, Arc<KeyIdentity>);

/// Good keys by the hash of the whole token.
#[derive(Default)]
pub(crate) struct KeyCache(Mutex<HashMap<Digest, Found>>);

impl KeyCache {
    /// The identity, and whether it is fresh enough to be used without asking again.
    pub(crate) fn get(&self, token: &Digest) -> Option<(Arc<KeyIdentity>, bool)> {
        let table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        table.get(token).map(|(at, identity)| (identity.clone(), at.elapsed() < FRESH))
    }

    pub(crate) fn put(&self, token: Digest, identity: Arc<KeyIdentity>) {
        let mut table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if table.len() >= KEYS_MAX {
            table.clear();
        }
        table.insert(token, (Instant::now(), identity));
    }

    pub(crate) fn drop_key(&self, token: &Digest) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(token);
    }
}
