//! Crashes: a point is armed by name; whoever comes to it next goes no further, and the process it ran in is dropped.
//! Points stand around every write of the store (`<kind>.before`, `<kind>.after`, by the first entry that it writes: `auto_approved`
//! begins an inline effect) and
//! around the provider's wire (`wire.before`, `wire.after`).

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use tokio::sync::Notify;

/// Where a crash may be armed.
pub const POINTS: [&str; 18] = [
    "reserved.before",
    "reserved.after",
    "claimed.after",
    "proposed.before",
    "proposed.after",
    "decided.before",
    "decided.after",
    "attempt_started.before",
    "attempt_started.after",
    "wire.before",
    "wire.after",
    "attempt_ended.before",
    "attempt_ended.after",
    "attempt_lost.before",
    "looked.before",
    "looked.after",
    "auto_approved.after",
    "effect_resolved.after",
];

#[derive(Default)]
struct State {
    armed: Option<&'static str>,
    struck: bool,
    /// How often each point struck.
    hits: BTreeMap<&'static str, usize>,
}

#[derive(Clone, Default)]
pub struct Crash(Arc<(Mutex<State>, Notify)>);

impl Crash {
    pub fn arm(&self, point: Option<&'static str>) {
        self.0.0.lock().unwrap().armed = point;
    }

    /// Somebody has come to a point. Never returns if it is the armed one.
    pub async fn at(&self, kind: &str, side: &str) {
        let strikes = {
            let mut state = self.0.0.lock().unwrap();
            let here =
                state.armed.filter(|armed| armed.strip_prefix(kind).and_then(|r| r.strip_prefix('.')) == Some(side));
            if let Some(point) = here {
                (state.armed, state.struck) = (None, true);
                *state.hits.entry(point).or_default() += 1;
            }
            here.is_some()
        };
        if strikes {
            self.0.1.notify_one();
            std::future::pending::<()>().await;
        }
    }

    /// Returns when a point has struck.
    pub async fn struck(&self) {
        self.0.1.notified().await;
    }

    /// True once after a strike.
    pub fn take(&self) -> bool {
        std::mem::take(&mut self.0.0.lock().unwrap().struck)
    }

    pub fn hits(&self) -> BTreeMap<&'static str, usize> {
        self.0.0.lock().unwrap().hits.clone()
    }
}
