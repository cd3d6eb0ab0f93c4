//! An edit: a person changes payloads while approving. Number, order, types and targets are what was gated and stay;
//! the effects get a new hash, so that decisions about the old ones do not count any more, and the others are asked
//! again. Values lie with the content; the journal names only where something changed.

use serde::{Deserialize, Serialize};

use super::{Approval, Refused, Wish, member_key, member_keys_of};
use crate::{
    actor::{Actor, Person, Subject},
    diff::{self, Change},
    digest::Digest,
    facts,
    journal::EntryKind,
    notice::{Notice, NoticeKind, Urgency},
    proposal::{self, Proposed},
    time::Timestamp,
    transition::Draft,
};

/// One edit, with both texts. Lies in the approval's row, is erased with the content, and never enters the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edit {
    pub by: Subject,
    pub at: Timestamp,
    pub from_hash: Digest,
    pub to_hash: Digest,
    pub before: Vec<Proposed>,
    pub after: Vec<Proposed>,
}

/// An effect as a person wants it, at its place in the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditedEffect {
    pub effect_type: String,
    /// `None` leaves it unsaid; another than the present one is refused.
    pub target: Option<String>,
    /// The JSON text as it came in.
    pub payload: String,
}

/// One member of one effect that changed. `effect` counts from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EffectChange {
    pub effect: usize,
    pub change: Change,
}

/// Where an edit touches more than payloads. `effect` counts from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Misfit {
    Count { wanted: usize, found: usize },
    Type { effect: usize },
    Target { effect: usize },
}

/// Edits of one approval. More rounds than a review takes; each keeps both texts, and a row must stay readable (G15).
pub const EDITS_MAX: usize = 16;
/// Members named in one journal entry, and the characters of each name: enough to find the place, and no way to smuggle
/// a text into the record.
const NAMED_MAX: usize = 50;
const POINTER_CHARS_MAX: usize = 200;

/// The effects with the new payloads. A payload that has the same values keeps its old bytes, so that a form which
/// writes JSON in its own way changes nothing by that.
///
/// # Errors
/// Every place where more than a payload differs.
pub fn edited(before: &[Proposed], asked: &[EditedEffect]) -> Result<Vec<Proposed>, Vec<Misfit>> {
    if before.len() != asked.len() {
        return Err(vec![Misfit::Count { wanted: before.len(), found: asked.len() }]);
    }
    let pairs = || before.iter().zip(asked);
    let misfits: Vec<Misfit> = pairs().enumerate().filter_map(|(n, (old, new))| misfit(n, old, new)).collect();
    if !misfits.is_empty() {
        return Err(misfits);
    }
    Ok(pairs().map(|(old, new)| with_payload(old, &new.payload)).collect())
}

fn misfit(effect: usize, old: &Proposed, new: &EditedEffect) -> Option<Misfit> {
    if new.effect_type != old.effect_type.as_str() {
        return Some(Misfit::Type { effect });
    }
    let is_other = new.target.as_ref().is_some_and(|target| *target != old.target);
    is_other.then_some(Misfit::Target { effect })
}

fn with_payload(old: &Proposed, payload: &str) -> Proposed {
    let is_same = diff::diff(&old.payload, payload).is_empty();
    Proposed { payload: if is_same { old.payload.clone() } else { payload.to_owned() }, ..old.clone() }
}

/// What differs between two lists of the same effects.
#[must_use]
pub fn changes(before: &[Proposed], after: &[Proposed]) -> Vec<EffectChange> {
    let pairs = before.iter().zip(after).enumerate();
    let of_one = |(effect, (old, new)): (usize, (&Proposed, &Proposed))| {
        diff::diff(&old.payload, &new.payload).into_iter().map(move |change| EffectChange { effect, change })
    };
    pairs.flat_map(of_one).collect()
}

/// The edit that a wish comes to.
pub(super) fn made(approval: &Approval, person: &Person, wish: &Wish, now: Timestamp) -> Result<Edit, Refused> {
    let asked = wish.edited.as_deref().unwrap_or_default();
    let after = edited(&approval.proposed, asked).map_err(|_| Refused::InvalidEdit)?;
    let to_hash = proposal::effects_hash(&after);
    if to_hash == approval.effects_hash {
        return Err(Refused::NothingChanged);
    }
    if approval.edits.len() >= EDITS_MAX {
        return Err(Refused::TooManyEdits);
    }
    let (by, before) = (person.subject.clone(), approval.proposed.clone());
    Ok(Edit { by, at: now, from_hash: approval.effects_hash, to_hash, before, after })
}

/// Puts an edit in force: the effects, their hash, the record.
pub(super) fn put(draft: &mut Draft, approval: &mut Approval, edit: Edit, actor: &Actor) {
    let changed = changes(&edit.before, &edit.after);
    let named: Vec<_> = changed.iter().take(NAMED_MAX).map(named).collect();
    draft.entry(
        EntryKind::Edited,
        actor,
        facts! {
            "approval" => approval.id, "from_hash" => edit.from_hash, "effects_hash" => edit.to_hash,
            "changes" => named, "changes_total" => changed.len(),
        },
    );
    approval.effects_hash = edit.to_hash;
    approval.proposed.clone_from(&edit.after);
    approval.edits.push(edit);
}

fn named(change: &EffectChange) -> serde_json::Value {
    let pointer = &change.change.pointer;
    let pointer = match pointer.char_indices().nth(POINTER_CHARS_MAX) {
        Some((at, _)) => format!("{}…", &pointer[..at]),
        None => pointer.clone(),
    };
    serde_json::json!({ "effect": change.effect, "pointer": pointer, "kind": change.change.kind.as_str() })
}

/// Asks the others again: what they may have read is not what will go out.
pub(super) fn tell(draft: &mut Draft, approval: &Approval, editor: &Person) {
    let own = member_keys_of(editor);
    let is_other = |member: &&String| member.starts_with("role:") || !own.contains(&member_key(member));
    let audience: Vec<String> = approval.terms.audience.iter().filter(is_other).cloned().collect();
    if audience.is_empty() || approval.terms.caller_delivers {
        return;
    }
    let ask = NoticeKind::ApprovalRequest { approval: approval.id, audience, urgency: Urgency::Edited };
    let (seq, now) = (draft.run().head.seq, draft.now());
    draft.notice(Notice::new(seq, 0, ask, format!("{}:{seq}", approval.id), now));
}
