//! The append-only record: one hash chain per run. Entries are sealed here, in pure code, and written by the store in
//! the same transaction as the change they tell of. The head is kept in the run's row, so a chain cannot fork.
//!
//! `hash = SHA-256(canonical entry with prev_hash)`. An entry holds names, ids and hashes; no raw output, no secret.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{actor::Actor, digest::Digest, ids::RunId, time::Timestamp};

/// What happened, as a stable word.
macro_rules! kinds {
    ($($variant:ident = $word:literal),+ $(,)?) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum EntryKind { $($variant),+ }
        impl EntryKind {
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }
    };
}

kinds! {
    Reserved = "reserved",
    Accepted = "accepted",
    Claimed = "claimed",
    Delivered = "delivered",
    Undelivered = "undelivered",
    Renewed = "renewed",
    Conflict = "conflict",
    ProposalInvalid = "proposal_invalid",
    Proposed = "proposed",
    AutoApproved = "auto_approved",
    ApprovalRequested = "approval_requested",
    ApprovalTokenIssued = "approval_token_issued",
    Decided = "decided",
    Edited = "edited",
    DecisionRefused = "decision_refused",
    SeparationWaived = "separation_waived",
    ApprovalReminded = "approval_reminded",
    ApprovalEscalated = "approval_escalated",
    ApprovalExpired = "approval_expired",
    ApprovalWithdrawn = "approval_withdrawn",
    ResumeAsked = "resume_asked",
    EffectQueued = "effect_queued",
    EffectBegun = "effect_begun",
    BudgetUsedUp = "budget_used_up",
    AttemptStarted = "attempt_started",
    AttemptEnded = "attempt_ended",
    AttemptLost = "attempt_lost",
    EffectsInDoubt = "effects_in_doubt",
    Looked = "looked",
    ReviewOverdue = "review_overdue",
    EffectCancelled = "effect_cancelled",
    EffectResolved = "effect_resolved",
    LateReport = "late_report",
    Completed = "completed",
    Failed = "failed",
    Abandoned = "abandoned",
    Stuck = "stuck",
    Quarantined = "quarantined",
    Released = "released",
    Closed = "closed",
    Replayed = "replayed",
    Corrected = "corrected",
    ReplayDryRun = "replay_dry_run",
    ReplayPlanned = "replay_planned",
    ReplayStarted = "replay_started",
    ReplayEnded = "replay_ended",
    SwitchTurned = "switch_turned",
    SwitchReceipt = "switch_receipt",
    SwitchDrill = "switch_drill",
    KeyCreated = "key_created",
    KeyRevoked = "key_revoked",
    SubscriptionCreated = "subscription_created",
    SubscriptionChanged = "subscription_changed",
    SubscriptionDropped = "subscription_dropped",
    UserCreated = "user_created",
    UserChanged = "user_changed",
    SignInRefused = "sign_in_refused",
    Purged = "purged",
    NoticeFailed = "notice_failed",
    NoticeDelivered = "notice_delivered",
}

/// The facts of an entry: names to values. Only strings, whole numbers, booleans and lists or maps of them, so that
/// serde_json's sorted output is the RFC 8785 form.
pub type Facts = BTreeMap<&'static str, Value>;

/// Builds [`Facts`]: `facts! { "owner" => owner.as_str(), "fence" => 3 }`. A value of `None` is left out.
#[macro_export]
macro_rules! facts {
    ($($name:literal => $value:expr),* $(,)?) => {{
        #[allow(unused_mut)]
        let mut facts = $crate::journal::Facts::new();
        $(
            let value = serde_json::json!($value);
            if !value.is_null() { facts.insert($name, value); }
        )*
        facts
    }};
}

/// The end of a chain: how many entries there are and the hash of the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    pub seq: i64,
    /// `None` before the first entry.
    pub hash: Option<Digest>,
}

impl Head {
    pub const EMPTY: Self = Self { seq: 0, hash: None };
}

/// An entry in its final form, as it lies in the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedEntry {
    pub run: RunId,
    pub seq: i64,
    pub at: Timestamp,
    pub kind: String,
    /// The canonical text that was hashed.
    pub text: String,
    pub hash: Digest,
}

/// The members of an entry, in the order of their names.
#[derive(Serialize)]
struct Body<'a> {
    actor: String,
    at: Timestamp,
    facts: &'a Facts,
    kind: &'static str,
    prev_hash: Option<Digest>,
    run: RunId,
    seq: i64,
}

/// Seals the next entry of a chain and moves the head on.
#[must_use]
pub fn seal(head: &mut Head, run: RunId, at: Timestamp, kind: EntryKind, actor: &Actor, facts: &Facts) -> SealedEntry {
    let seq = head.seq + 1;
    let body = Body { actor: actor.to_string(), at, facts, kind: kind.as_str(), prev_hash: head.hash, run, seq };
    let text = serde_json::to_string(&body).expect("names and plain values always serialise");
    let hash = Digest::of(text.as_bytes());
    *head = Head { seq, hash: Some(hash) };
    SealedEntry { run, seq, at, kind: kind.as_str().to_owned(), text, hash }
}

/// Seals an entry again as the next of another chain: the first entry of a key that is used again after its run was
/// purged goes on where the old chain ended, so that nothing of the record is lost and nothing forks.
///
/// # Errors
/// The entry's text is not what [`seal`] makes.
pub fn reseal(head: &mut Head, entry: &SealedEntry) -> Result<SealedEntry, serde_json::Error> {
    let mut body: BTreeMap<String, Value> = serde_json::from_str(&entry.text)?;
    let seq = head.seq + 1;
    body.insert("prev_hash".to_owned(), serde_json::to_value(head.hash)?);
    body.insert("seq".to_owned(), Value::from(seq));
    let text = serde_json::to_string(&body)?;
    let hash = Digest::of(text.as_bytes());
    *head = Head { seq, hash: Some(hash) };
    Ok(SealedEntry { seq, text, hash, ..entry.clone() })
}

/// Where a chain is broken, in words an auditor can act on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChainError {
    #[error("entry {seq} of {run}: its text does not give its hash")]
    Altered { run: RunId, seq: i64 },
    #[error("entry {seq} of {run}: does not name the hash of the entry before it")]
    Unlinked { run: RunId, seq: i64 },
    #[error("{run}: entry {wanted} is missing, {found} comes next")]
    Gap { run: RunId, wanted: i64, found: i64 },
    #[error("{run}: the chain ends at entry {found}, the run's row says {wanted}")]
    Head { run: RunId, wanted: i64, found: i64 },
}

/// Checks one run's whole chain against the head kept in its row.
///
/// # Errors
/// The first break, naming the row.
pub fn verify(run: RunId, entries: &[SealedEntry], head: Head) -> Result<(), ChainError> {
    let mut last = Head::EMPTY;
    for entry in entries {
        let seq = entry.seq;
        if seq != last.seq + 1 {
            return Err(ChainError::Gap { run, wanted: last.seq + 1, found: seq });
        }
        if Digest::of(entry.text.as_bytes()) != entry.hash {
            return Err(ChainError::Altered { run, seq });
        }
        if !names_predecessor(entry, last.hash) {
            return Err(ChainError::Unlinked { run, seq });
        }
        last = Head { seq, hash: Some(entry.hash) };
    }
    if last == head { Ok(()) } else { Err(ChainError::Head { run, wanted: head.seq, found: last.seq }) }
}

/// The columns beside the text are for queries; they must say what the hashed text says.
fn names_predecessor(entry: &SealedEntry, prev: Option<Digest>) -> bool {
    #[derive(Deserialize)]
    struct Hashed {
        at: Timestamp,
        kind: String,
        prev_hash: Option<Digest>,
        run: RunId,
        seq: i64,
    }
    serde_json::from_str::<Hashed>(&entry.text).is_ok_and(|hashed| {
        hashed.prev_hash == prev
            && hashed.run == entry.run
            && hashed.seq == entry.seq
            && hashed.kind == entry.kind
            && hashed.at.millis() == entry.at.millis()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{FlowName, Owner, Tenant};

    fn chain() -> (RunId, Vec<SealedEntry>, Head) {
        let run = RunId::derive(&Tenant::new("t"), &FlowName::new("f"), "k");
        let (mut head, actor) = (Head::EMPTY, Actor::Worker(Owner::new("w")));
        let entries = [EntryKind::Reserved, EntryKind::Renewed, EntryKind::Completed]
            .into_iter()
            .enumerate()
            .map(|(i, kind)| {
                seal(
                    &mut head,
                    run,
                    Timestamp::from_micros(i as i64),
                    kind,
                    &actor,
                    &facts! { "fence" => 1, "x" => "é\u{1}" },
                )
            })
            .collect();
        (run, entries, head)
    }

    #[test]
    fn an_honest_chain_verifies() {
        let (run, entries, head) = chain();
        assert_eq!(verify(run, &entries, head), Ok(()));
    }

    #[test]
    fn the_hashed_text_is_canonical_json() {
        let (_, entries, _) = chain();
        let value: Value = serde_json::from_str(&entries[0].text).unwrap();
        assert_eq!(serde_json::to_string(&value).unwrap(), entries[0].text);
    }

    #[test]
    fn an_entry_sealed_again_goes_on_where_the_chain_ended() {
        let (run, mut entries, mut head) = chain();

        entries.push(reseal(&mut head, &entries[0]).unwrap());

        assert_eq!(verify(run, &entries, head), Ok(()));
        assert_eq!(entries[3].text.len(), entries[0].text.len() + 62, "only prev_hash (null until now) and seq change");
    }

    #[test]
    fn each_kind_of_tampering_is_named() {
        let (run, entries, head) = chain();
        let mut altered = entries.clone();
        altered[1].text = altered[1].text.replace("\"fence\":1", "\"fence\":2");
        let mut rehashed = altered.clone();
        rehashed[1].hash = Digest::of(rehashed[1].text.as_bytes());
        let mut gap = entries.clone();
        gap.remove(1);
        let mut relabelled = entries.clone();
        relabelled[1].kind = "completed".into();

        assert_eq!(verify(run, &altered, head), Err(ChainError::Altered { run, seq: 2 }));
        assert_eq!(verify(run, &rehashed, head), Err(ChainError::Unlinked { run, seq: 3 }));
        assert_eq!(verify(run, &gap, head), Err(ChainError::Gap { run, wanted: 2, found: 3 }));
        assert_eq!(verify(run, &relabelled, head), Err(ChainError::Unlinked { run, seq: 2 }));
        assert_eq!(verify(run, &entries[..2], head), Err(ChainError::Head { run, wanted: 3, found: 2 }));
    }
}
