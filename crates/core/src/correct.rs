//! Corrections: a new event with its own key from upstream, linked to a final run. What lives here: whether a key is the
//! original's under another spelling or with a suffix, from which states there is such a way, and the entry in the
//! original's chain. The new run itself is an ordinary one; it goes through its own gate and outbox.

use unicode_normalization::UnicodeNormalization;

use crate::{
    actor::Actor,
    facts,
    ids::RunId,
    journal::EntryKind,
    key::is_invisible,
    operate::{Refused, reason_given},
    replay,
    run::{Aggregate, Correction},
    time::Timestamp,
    transition::{Draft, Transition},
};

/// Corrections of corrections whose keys are compared as well. A longer chain is a process, not a mistake.
pub const ANCESTORS_MAX: usize = 8;

/// What a correction of this run will know of it.
///
/// # Errors
/// No reason, or the run has not ended: a recovery or the review desk is the way then.
pub fn correction(original: &Aggregate, by: &Actor, reason: &str) -> Result<Correction, Refused> {
    let reason = reason_given(reason)?;
    if !original.run.state.is_final() {
        return Err(Refused::WrongState(original.run.state.as_str()));
    }
    Ok(Correction {
        by: by.to_string(),
        reason,
        original_key: original.run.key.clone(),
        original_state: original.run.state.as_str().to_owned(),
        results: replay::results(original),
    })
}

/// Notes in the original's chain that it was corrected. Nothing of it changes: a final run stays as it ended.
#[must_use]
pub fn corrected(
    original: &Aggregate,
    by_run: RunId,
    key: &str,
    actor: &Actor,
    reason: &str,
    now: Timestamp,
) -> Transition {
    let mut draft = Draft::on(&original.run, now);
    draft.entry(EntryKind::Corrected, actor, facts! { "by" => by_run, "key" => key, "reason" => reason.trim() });
    draft.noted()
}

/// True if a key is another one's in disguise: the same but for case, white space or separators, or the same with
/// something put before or behind it (`old-2`, `old:retry`, `old (1)`, `re:old`). Such a key names the same event
/// twice. A number that merely goes on (`order-1`, `order-12`) is another number.
#[must_use]
pub fn is_made_from(key: &str, old: &str) -> bool {
    let (key, old) = (plain(key), plain(old));
    let (words, old_words) = (words(&key), words(&old));
    let bears = !old_words.is_empty() && words.windows(old_words.len()).any(|part| part == old_words);
    bears || is_lengthened(&closed_up(&key), &closed_up(&old))
}

/// NFKC, lower case, nothing that shows nothing but white space.
fn plain(text: &str) -> String {
    let lower = text.nfkc().collect::<String>().to_lowercase();
    lower.chars().filter(|c| c.is_whitespace() || !is_invisible(*c)).collect()
}

fn closed_up(text: &str) -> String {
    text.split_whitespace().collect()
}

/// The parts between separators.
fn words(text: &str) -> Vec<&str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect()
}

/// Something was put right before or right behind it, without a separator.
fn is_lengthened(key: &str, old: &str) -> bool {
    let behind = key.strip_prefix(old).is_some_and(|rest| !goes_on(old.chars().next_back(), rest.chars()));
    let before = key.strip_suffix(old).is_some_and(|rest| !goes_on(old.chars().next(), rest.chars().rev()));
    behind || before
}

/// True if a number at the edge is only longer: digits on both sides, and nothing but digits to the end.
fn goes_on(edge: Option<char>, mut rest: impl Iterator<Item = char>) -> bool {
    edge.is_some_and(|c| c.is_ascii_digit()) && rest.all(|c| c.is_ascii_digit())
}
