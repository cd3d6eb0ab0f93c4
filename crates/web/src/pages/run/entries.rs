//! Journal entries as a timeline: in words, with who, when and the hash. The entry stays the record.

use effectgate_core::{effect::Effect, journal::SealedEntry, run::Aggregate, time::Timestamp};
use effectgate_engine::{EngineError, explain};

use super::super::{listing::Moment, text::Shown, visit::Visit};
use crate::{auth::Identity, problem::Result};

/// The end of a run's chain, oldest first.
pub(crate) struct Chain {
    pub(crate) entries: Vec<EntryLine>,
    /// How many stand before these, and where to read them.
    pub(crate) earlier: Option<(i64, String)>,
}

pub(crate) struct EntryLine {
    pub(crate) seq: i64,
    pub(crate) at: Moment,
    pub(crate) actor: Shown,
    pub(crate) text: Shown,
    pub(crate) hash: String,
    pub(crate) hash_short: String,
}

/// Entries on the page of a run. One that renews its lease for long has more.
const ENTRIES: i64 = 100;

pub(super) async fn tail(visit: &Visit, who: &Identity, agg: &Aggregate) -> Result<Chain> {
    let after = (agg.run.head.seq - ENTRIES).max(0);
    let store = visit.app.engine.store();
    // One read for a page of the chain, whatever its length.
    let entries = store.journal_read(agg.run.id, after, ENTRIES as u32).await.map_err(EngineError::from)?;
    let earlier =
        (after > 0).then(|| (after, super::super::listing::address("/journal", &[("run", &agg.run.id.to_string())])));
    // Only auditors search the journal.
    let may_audit = who.need(<crate::auth::allowed::Audit as crate::auth::allowed::Need>::ANY_OF).is_ok();
    let earlier = earlier.map(|(n, href)| (n, if may_audit { href } else { String::new() }));
    Ok(Chain { entries: entries.iter().map(|entry| EntryLine::new(visit, entry, &agg.effects)).collect(), earlier })
}

impl EntryLine {
    /// `effects`: those of the entry's run, where they are at hand.
    pub(crate) fn new(visit: &Visit, entry: &SealedEntry, effects: &[Effect]) -> Self {
        let told = explain::moment(entry, effects);
        let hash = entry.hash.to_string();
        Self {
            seq: entry.seq,
            at: Moment::new(visit, entry.at),
            actor: Shown::new(&told.actor),
            text: Shown::new(&local(visit, &told.text)),
            hash_short: hash.chars().take(10).collect(),
            hash,
        }
    }
}

/// A text of ours with its moments (RFC 3339, as core writes them) in the person's zone.
pub(crate) fn local(visit: &Visit, text: &str) -> String {
    let reading = |word: &str| {
        let (at, rest) = word.split_at_checked(MOMENT_CHARS)?;
        if !at.ends_with('Z') || !at.is_ascii() {
            return None;
        }
        let at: Timestamp = at.parse().ok()?;
        Some(format!("{}{rest}", Moment::new(visit, at).text))
    };
    text.split(' ').map(|word| reading(word).unwrap_or_else(|| word.to_owned())).collect::<Vec<_>>().join(" ")
}

/// `2026-09-21T14:13:20.123Z`.
const MOMENT_CHARS: usize = 24;
