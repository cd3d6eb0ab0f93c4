//! Looks at a provider beside the reconciler's own: what an answer means for an effect as it stands, and how it is put
//! on record. A look takes nothing back and settles nothing (G12, HC-27): one that contradicts the record is written
//! down and told to people. Also the alert for an effect that waits on the desk for too long.

use serde::{Deserialize, Serialize};

use crate::{
    actor::Actor,
    effect::{Effect, EffectState},
    facts,
    journal::{EntryKind, Facts},
    lease::{alert, count_refusal},
    notice::{Alert, Notice, NoticeKind},
    provider::Provider,
    retry::Look,
    run::Run,
    sending::RECONCILER,
    time::Timestamp,
    transition::{Draft, Transition},
};

/// What a provider's answer means for an effect as it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Meaning {
    /// In doubt, and found once.
    Happened,
    /// In doubt, and found more than once.
    HappenedTwice,
    /// Not there, and the provider's index may still lag behind: no information.
    TooEarly,
    /// Not there after the settle delay: what a person goes by, no proof.
    NotThere,
    /// Not there after the settle delay, and the lookup is declared authoritative.
    ProvedAbsent,
    UnderWay,
    NoInformation,
    /// It says what the record says.
    Agrees,
    /// It says the opposite of what the record says. Recorded and told; nothing changed.
    Contradicts,
}

impl Meaning {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Happened => "happened",
            Self::HappenedTwice => "happened_twice",
            Self::TooEarly => "too_early",
            Self::NotThere => "not_there",
            Self::ProvedAbsent => "proved_absent",
            Self::UnderWay => "under_way",
            Self::NoInformation => "no_information",
            Self::Agrees => "agrees",
            Self::Contradicts => "contradicts",
        }
    }
}

/// What is on record of the outside world.
enum Record {
    Doubt,
    Happened,
    /// Provably, or on a person's word.
    DidNot,
}

fn record(effect: &Effect) -> Record {
    match effect.state {
        EffectState::Completed => Record::Happened,
        EffectState::Failed | EffectState::Cancelled => Record::DidNot,
        // Tried before, and no doubt is left of it: whatever was tried did not happen.
        EffectState::Pending { .. } | EffectState::Scheduled { .. } if effect.unknown_since.is_none() => Record::DidNot,
        _ => Record::Doubt,
    }
}

/// Until when "not there" says nothing: the provider's index may lag behind its writes for that long.
#[must_use]
pub fn settles_at(effect: &Effect, provider: &Provider) -> Timestamp {
    let since = effect.unknown_since.unwrap_or(effect.updated_at);
    since.plus_ms(provider.lookup.map_or(0, |lookup| lookup.settle_delay_ms))
}

/// What a look means for an effect as it stands now.
#[must_use]
pub fn meaning(effect: &Effect, provider: &Provider, look: &Look, now: Timestamp) -> Meaning {
    let is_proof = provider.lookup.is_some_and(|lookup| lookup.authoritative);
    match (look, record(effect)) {
        (Look::InProgress, _) => Meaning::UnderWay,
        (Look::Nothing { .. }, _) => Meaning::NoInformation,
        (Look::Found { .. }, Record::Doubt) => Meaning::Happened,
        (Look::FoundMany { .. }, Record::Doubt) => Meaning::HappenedTwice,
        (Look::Found { external_id }, Record::Happened) if is_same(external_id.as_ref(), effect) => Meaning::Agrees,
        (Look::Found { .. } | Look::FoundMany { .. }, _) => Meaning::Contradicts,
        (Look::Absent, Record::DidNot) => Meaning::Agrees,
        (Look::Absent, _) if now < settles_at(effect, provider) => Meaning::TooEarly,
        (Look::Absent, Record::Doubt) if is_proof => Meaning::ProvedAbsent,
        (Look::Absent, Record::Happened) if is_proof => Meaning::Contradicts,
        (Look::Absent, _) => Meaning::NotThere,
    }
}

/// An id that one side does not know contradicts nothing.
fn is_same(found: Option<&String>, effect: &Effect) -> bool {
    match (found, &effect.external_id) {
        (Some(found), Some(known)) => found == known,
        _ => true,
    }
}

/// A look as facts of an entry.
pub(crate) fn said(facts: &mut Facts, look: &Look) {
    let mut say = |name, value| facts.insert(name, value);
    say("lookup", look.as_str().into());
    match look {
        Look::Found { external_id: Some(id) } => drop(say("external_id", id.as_str().into())),
        Look::FoundMany { count } => drop(say("count", (*count).into())),
        Look::Nothing { detail } => drop(say("detail", detail.as_str().into())),
        Look::Found { external_id: None } | Look::Absent | Look::InProgress => {}
    }
}

/// The reason in the entry of a look that a person asked for.
pub const ASKED: &str = "asked";

/// Records what the provider said when a person asked. Nothing else changes: what follows from it is the person's to
/// say, or the reconciler's at its own time. What contradicts the record is told.
#[must_use]
pub fn asked(run: &Run, effect: &Effect, actor: &Actor, look: &Look, meaning: Meaning, now: Timestamp) -> Transition {
    let mut draft = Draft::on(run, now);
    note(&mut draft, effect, actor, look, meaning, ASKED);
    draft.noted()
}

/// Records a finding of the reconciler for an effect that somebody settled while the provider was being asked, if it
/// says otherwise. `None` if it does not, or once the run has recorded enough of them.
#[must_use]
pub fn too_late(run: &Run, effect: &Effect, look: &Look, meaning: Meaning, now: Timestamp) -> Option<Transition> {
    if meaning != Meaning::Contradicts {
        return None;
    }
    let mut draft = Draft::on(run, now);
    count_refusal(&mut draft)?;
    note(&mut draft, effect, &RECONCILER, look, meaning, "too_late");
    Some(draft.noted())
}

fn note(draft: &mut Draft, effect: &Effect, actor: &Actor, look: &Look, meaning: Meaning, reason: &str) {
    let mut facts = facts! { "effect" => effect.id, "next" => effect.state.as_str(), "reason" => reason,
    "means" => meaning.as_str() };
    said(&mut facts, look);
    draft.entry(EntryKind::Looked, actor, facts);
    if meaning == Meaning::Contradicts {
        let (said, stands) = (look.as_str().replace('_', " "), effect.state.as_str());
        alert(draft, Alert::ContraryReport, format!("effect {} is {stands}, and the provider says: {said}", effect.id));
    }
}

/// Says that an effect has waited on the desk for `times` of its flow's limit. The row stays as it is.
#[must_use]
pub fn review_overdue(run: &Run, effect: &Effect, waited_ms: i64, times: i64, now: Timestamp) -> Transition {
    let mut draft = Draft::on(run, now);
    draft.entry(
        EntryKind::ReviewOverdue,
        &Actor::System("sweeper"),
        facts! { "effect" => effect.id, "waited_ms" => waited_ms, "times" => times },
    );
    let minutes = waited_ms / 60_000;
    let detail = format!("effect {} has waited for a person for {minutes} min", effect.id);
    let kind = NoticeKind::Alert { alert: Alert::Review, detail };
    // A word of its own: the alert at the beginning of the wait must not swallow this one.
    let dedupe = format!("review_overdue:{}:{times}", effect.id);
    let seq = draft.run().head.seq;
    draft.notice(Notice::new(seq, 0, kind, dedupe, now));
    draft.noted()
}
