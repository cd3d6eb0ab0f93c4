//! What a purge writes into the record, the same for both twins. Which rows are purged is said by each twin's
//! statements; nothing here touches a database.

use effectgate_core::{
    actor::Actor,
    facts,
    ids::RunId,
    journal::{self, EntryKind, Head, SealedEntry},
    time::Timestamp,
};

/// How long the journal of a purged run is kept where its row does not say (it became final before rows said so),
/// counted from the purge: two years, the default of the config's `journal_days`.
pub(crate) const JOURNAL_KEPT_MS: i64 = 730 * 86_400_000;

/// What was removed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Removed {
    /// The run with all its children; only its journal stays.
    Run,
    /// Payload, output, result, proposal, and the texts of effects and approvals.
    Content,
}

/// The entry that tells of a purge, so that the record says why nothing is there.
pub(crate) fn purged_entry(run: RunId, head: &mut Head, now: Timestamp, removed: Removed) -> SealedEntry {
    let what = match removed {
        Removed::Run => "run",
        Removed::Content => "content",
    };
    journal::seal(head, run, now, EntryKind::Purged, &Actor::System("sweeper"), &facts! { "removed" => what })
}
