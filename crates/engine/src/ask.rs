//! Ask: a person wants to know now what the provider says about an effect. The question goes through the same connector
//! as the reconciler's, never writes over there, and changes nothing here but the record: what follows from the answer
//! is the person's to say. Page, API and command ask here and read the same words.

use effectgate_core::{
    actor::Actor,
    effect::{Effect, EffectState},
    ids::{EffectId, Tenant},
    journal::{EntryKind, SealedEntry},
    look::{self, Meaning},
    provider::Provider,
    retry::Look,
    time::Timestamp,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::{
    engine::{Engine, Step},
    error::Result,
    inline::find,
    panics::caught,
};

/// What came of asking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    Looked(Told),
    /// Somebody asked a moment ago; that answer stands.
    JustNow(Told),
    /// The provider declares no lookup, or is not in the config.
    NoLookup,
    /// No attempt was ever made, so there is nothing to look for.
    NothingSent,
}

/// What the provider said, and what it means.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Told {
    #[schema(value_type = String)]
    pub at: Timestamp,
    /// `found`, `found_many`, `absent`, `in_progress` or `no_information`.
    pub said: String,
    pub external_id: Option<String>,
    /// How many were found, if more than one.
    pub count: Option<usize>,
    pub detail: Option<String>,
    /// `happened`, `happened_twice`, `too_early`, `not_there`, `proved_absent`, `under_way`, `no_information`, `agrees`
    /// or `contradicts`.
    #[schema(value_type = String)]
    pub means: Meaning,
}

/// A second click, and two people at once, get the same answer. Longer than a click, shorter than a person's patience.
const PAUSE_MS: i64 = 5_000;

/// How far back the last look is searched for.
const ENTRIES: i64 = 200;

impl Engine {
    /// Asks the provider what became of an effect, and records the answer as a look. An answer that contradicts what is
    /// on record is told to people, and changes nothing.
    ///
    /// # Errors
    /// Not found, the store. A provider that does not answer is an answer: [`Look::Nothing`].
    pub async fn ask_provider(&self, tenant: &Tenant, id: EffectId, actor: &Actor) -> Result<Asked> {
        let agg = self.load(tenant, id.run).await?;
        let effect = find(&agg, id)?;
        if effect.fence.0 == 0 {
            return Ok(Asked::NothingSent);
        }
        let Some(policy) =
            self.policy().provider(&effect.provider).filter(|p| p.rules(&effect.effect_type).lookup.is_some())
        else {
            return Ok(Asked::NoLookup);
        };
        let after = (agg.run.head.seq - ENTRIES).max(0);
        let entries = self.store().journal_read(id.run, after, ENTRIES as u32).await?;
        // What was said before the effect changed was said about another.
        let is_fresh = |told: &Told| self.now().ms_since(told.at) < PAUSE_MS && effect.updated_at <= told.at;
        if let Some(told) = last_told(&entries, id).filter(is_fresh) {
            return Ok(Asked::JustNow(told));
        }
        // By when it was asked: an answer that was long under way says nothing of what the index showed meanwhile.
        let asked_at = self.now();
        let look = caught(self.look_at(policy, effect)).await.unwrap_or_else(|detail| Look::Nothing { detail });
        let (told, _) = self
            .change(tenant, id.run, |agg, now| {
                let effect = find(agg, id)?;
                let means = look::meaning(effect, policy.rules(&effect.effect_type), &look, asked_at);
                let noted = look::asked(&agg.run, effect, actor, &look, means, now);
                Ok(Step::Write(Box::new(noted), Told::new(&look, means, now)))
            })
            .await?;
        Ok(Asked::Looked(told))
    }
}

impl Engine {
    /// What an answer means for the effect as it stands now, and what to do, in a sentence or two; without an answer,
    /// how to look by hand.
    ///
    /// # Errors
    /// Not found, the store.
    pub async fn advice(&self, tenant: &Tenant, id: EffectId, told: Option<&Told>) -> Result<String> {
        let agg = self.load(tenant, id.run).await?;
        let effect = find(&agg, id)?;
        let provider = self.policy().provider(&effect.provider).map(|policy| policy.rules(&effect.effect_type));
        Ok(match (told, provider) {
            (Some(told), Some(provider)) => advice(told.means, effect, provider),
            _ if effect.fence.0 == 0 => "No attempt was made, so there is nothing to look for.".into(),
            (_, provider) => by_hand(effect, provider),
        })
    }
}

impl Told {
    fn new(look: &Look, means: Meaning, at: Timestamp) -> Self {
        let (mut external_id, mut count, mut detail) = (None, None, None);
        match look {
            Look::Found { external_id: id } => external_id.clone_from(id),
            Look::FoundMany { count: n } => count = Some(*n),
            Look::Nothing { detail: what } => detail = Some(what.clone()),
            Look::Absent | Look::InProgress => {}
        }
        Self { at, said: look.as_str().to_owned(), external_id, count, detail, means }
    }

    /// The answer as the rules read it.
    #[must_use]
    pub fn as_look(&self) -> Look {
        match self.said.as_str() {
            "found" => Look::Found { external_id: self.external_id.clone() },
            "found_many" => Look::FoundMany { count: self.count.unwrap_or(2) },
            "absent" => Look::Absent,
            "in_progress" => Look::InProgress,
            _ => Look::Nothing { detail: self.detail.clone().unwrap_or_default() },
        }
    }

    /// `None` if it is no entry of a look that a person asked for at this effect.
    fn of(entry: &SealedEntry, id: &str) -> Option<Self> {
        if entry.kind != EntryKind::Looked.as_str() {
            return None;
        }
        let facts = serde_json::from_str::<Value>(&entry.text).ok()?["facts"].take();
        let text = |name: &str| facts[name].as_str().map(str::to_owned);
        if facts["effect"] != id || facts["reason"] != look::ASKED {
            return None;
        }
        Some(Self {
            at: entry.at,
            said: text("lookup")?,
            external_id: text("external_id"),
            count: facts["count"].as_u64().and_then(|n| usize::try_from(n).ok()),
            detail: text("detail"),
            means: serde_json::from_value(facts["means"].clone()).ok()?,
        })
    }
}

/// What the provider said when a person last asked about this effect.
#[must_use]
pub fn last_told(entries: &[SealedEntry], id: EffectId) -> Option<Told> {
    let id = id.to_string();
    entries.iter().rev().find_map(|entry| Told::of(entry, &id))
}

/// What an answer means for the effect as it stands, and what to do now, in a sentence or two.
#[must_use]
pub fn advice(means: Meaning, effect: &Effect, provider: &Provider) -> String {
    let is_desk = matches!(effect.state, EffectState::Review { .. });
    match means {
        Meaning::Happened if is_desk => "It happened. Settle it as happened, with this id.".into(),
        Meaning::Happened => "It happened. The server completes it at its own next look; you may settle it now.".into(),
        Meaning::HappenedTwice => "It is there more than once. Undo the surplus over there first, then settle this as \
                                   happened, with the id of the one that stays."
            .into(),
        Meaning::TooEarly => format!(
            "This says nothing yet: the provider may show a new record late. From {} on, \"not there\" means something.",
            look::settles_at(effect, provider)
        ),
        Meaning::NotThere => "The provider should show it by now. Its search is no proof: if you are sure by other \
                              means too, say that it did not happen."
            .into(),
        Meaning::ProvedAbsent => "It did not happen: this search is declared to be proof. It may be sent again.".into(),
        Meaning::UnderWay => "The provider is still at it. Ask again later, and settle nothing now.".into(),
        Meaning::NoInformation => {
            "The provider gave no clear answer, so nothing is known. Ask again, or search by hand.".into()
        }
        Meaning::Agrees => "The provider says what the record says. Nothing is to be done.".into(),
        Meaning::Contradicts => contradiction(effect).into(),
    }
}

fn contradiction(effect: &Effect) -> &'static str {
    match effect.state {
        EffectState::Completed => {
            "The record says that it happened once, and the provider says otherwise. The record stays as it is, and \
             people were told. What is to be put right is put right over there, or by a correction: a new event with \
             its own key, linked to this one."
        }
        EffectState::Pending { .. } | EffectState::Scheduled { .. } => {
            "The record says that it did not happen, and it is about to be sent again, but the provider has it. Cancel \
             it before it leaves, or it may happen twice. People were told."
        }
        _ => {
            "The record says that it did not happen, and the provider has it. The record stays as it is, and people \
             were told. Undo it over there, or make a correction: a new event with its own key, linked to this one."
        }
    }
}

/// How to look for an effect where the provider cannot be asked from here.
#[must_use]
pub fn by_hand(effect: &Effect, provider: Option<&Provider>) -> String {
    match provider {
        Some(provider) if provider.smtp => format!(
            "A mail server cannot be asked. Search for the Message-ID in the outbox or the log of {}.",
            effect.provider
        ),
        Some(_) => {
            "This provider declares no lookup, so it cannot be asked from here. Search over there by hand.".into()
        }
        None => "This provider is not in the config any more, so it cannot be asked from here.".into(),
    }
}
