//! One effect on the desk: what was sent, to whom and how far it got, what the provider says, what to search for, and
//! what may be done. Open for every effect that was ever tried, so that a contradiction can be read after the end too.

use askama::Template;
use axum::{extract::Path, response::Response};
use effectgate_core::{
    effect::{Effect, EffectState},
    ids::EffectId,
    journal::SealedEntry,
    look::{self, Meaning},
    operate::Resolution,
    provider::{Class, Provider},
    retry,
    run::Aggregate,
};
use effectgate_engine::{
    EngineError,
    act::{self, Act},
    ask::{self, by_hand, last_told},
    n8n,
};
use http::StatusCode;

use super::{
    super::{
        action::{Action, Refusal, Words},
        answer::{self, Frame, Note},
        listing::Moment,
        run::{Said, effects::EffectBlock, entries::EntryLine},
        text::{Shown, TextBlock},
        visit::{Entitled, Visit},
    },
    Clock, clock,
    looks::{Look, looks},
};
use crate::{
    auth::{
        Identity,
        allowed::{Need as _, Operate, Read, ReadContent},
    },
    problem::Result,
};

#[derive(Template)]
#[template(path = "review_effect.html")]
struct EffectPage {
    frame: Frame,
    banner: Option<super::super::approval::Banner>,
    flow: Shown,
    key: Shown,
    run: String,
    effect: EffectBlock,
    /// How it stands, in a sentence.
    standing: String,
    since: Option<Moment>,
    clock: Option<Clock>,
    /// The exact bytes. `None` for those who may not read them.
    payload: Option<TextBlock>,
    is_erased: bool,
    looks: Vec<Look>,
    /// What the provider's last word means for the effect as it stands now.
    advice: Option<Advice>,
    ask: Option<Ask>,
    /// Why nobody can be asked from here.
    no_lookup: Option<String>,
    actions: Vec<Action>,
    /// What people did about it, newest first.
    acts: Vec<EntryLine>,
    is_done: bool,
    /// Its key only ever repeats a stored error over there: the way on is a correction.
    is_poisoned: bool,
    /// Where a correction is made, once the run has ended.
    correct: Option<String>,
    zone: String,
}

/// What the last answer means, and what to do.
struct Advice {
    text: String,
    is_contrary: bool,
}

/// The button that asks the provider.
struct Ask {
    path: String,
    csrf: String,
}

pub(crate) async fn show(Entitled { visit, who, .. }: Entitled<Read>, Path(id): Path<String>) -> Response {
    match id.parse() {
        Ok(id) => page(&visit, &who, id, Said::default(), StatusCode::OK).await,
        Err(_) => no_such_effect(&visit),
    }
}

pub(super) async fn page(visit: &Visit, who: &Identity, id: EffectId, said: Said, status: StatusCode) -> Response {
    match build(visit, who, id, said).await {
        Ok(Some(page)) => answer::page(status, &page),
        Ok(None) => no_such_effect(visit),
        Err(problem) => answer::problem(&problem, Some(visit)),
    }
}

pub(super) fn no_such_effect(visit: &Visit) -> Response {
    Note::new(
        Some(visit),
        "There is no such effect",
        "It does not exist here, or its record was removed after its time.",
    )
    .way("/review", "To the review desk")
    .answer(StatusCode::NOT_FOUND)
}

/// Entries in which looks and acts are searched for: a run has a few dozen.
const ENTRIES: i64 = 500;

async fn build(visit: &Visit, who: &Identity, id: EffectId, said: Said) -> Result<Option<EffectPage>> {
    let (engine, tenant) = (&visit.app.engine, who.tenant());
    let Some(agg) = engine.store().run_load(tenant, id.run).await.map_err(EngineError::from)? else { return Ok(None) };
    let Some(effect) = agg.effects.iter().find(|e| e.id == id) else { return Ok(None) };
    let explanation = match engine.explain(tenant, id.run).await {
        Ok(explanation) => explanation,
        Err(EngineError::NotFound(_)) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let Some(story) = explanation.effects.iter().find(|story| story.id == id.to_string()) else { return Ok(None) };
    let after = (agg.run.head.seq - ENTRIES).max(0);
    let entries = engine.store().journal_read(id.run, after, ENTRIES as u32).await.map_err(EngineError::from)?;
    let (looks, provider) =
        (looks(visit, id, &entries), engine.policy().provider(&effect.provider).map(|p| p.rules(&effect.effect_type)));
    let (may_operate, may_read) = (who.need(Operate::ANY_OF).is_ok(), who.need(ReadContent::ANY_OF).is_ok());
    let found = Found {
        external_id: looks.iter().find_map(|look| look.external_id.clone()),
        is_there: last_told(&entries, id).is_some_and(|told| matches!(told.said.as_str(), "found" | "found_many")),
    };
    let shown = match engine.policy().provider(&effect.provider) {
        Some(provider) => provider.connector.shown(effect),
        // Nobody says any more what of it may be shown.
        None if effect.provider.as_str() == n8n::PROVIDER => String::new(),
        None => effect.payload.clone(),
    };
    let can_ask = may_operate && effect.fence.0 > 0 && provider.is_some_and(|p| p.lookup.is_some());
    let acts =
        entries.iter().rev().filter(|entry| is_act(entry, id)).map(|entry| EntryLine::new(visit, entry, &agg.effects));
    Ok(Some(EffectPage {
        frame: Frame::english("Review", visit),
        banner: said.banner,
        flow: Shown::new(agg.run.flow.as_str()),
        key: Shown::new(&agg.run.key),
        run: format!("/runs/{}", agg.run.id),
        standing: standing(effect, provider),
        since: effect.unknown_since.map(|at| Moment::new(visit, at)),
        clock: clock(visit, &agg.run, effect),
        is_erased: effect.payload.is_empty(),
        payload: may_read.then(|| TextBlock::new(&shown)),
        ask: can_ask.then(|| question(visit, id)),
        advice: provider.and_then(|provider| advice(effect, provider, &entries)),
        no_lookup: provider.is_none_or(|p| p.lookup.is_none()).then(|| by_hand(effect, provider)),
        actions: if may_operate {
            actions(visit, &agg, effect, provider, &found, said.refusal.as_ref())
        } else {
            vec![]
        },
        acts: acts.collect(),
        is_done: effect.state.is_final(),
        is_poisoned: is_spent(effect),
        correct: (may_operate && agg.run.state.is_final()).then(|| format!("/runs/{}#correct", agg.run.id)),
        effect: EffectBlock::new(visit, effect, story),
        looks,
        zone: super::super::listing::zone(visit).to_string(),
    }))
}

fn is_act(entry: &SealedEntry, id: EffectId) -> bool {
    matches!(entry.kind.as_str(), "effect_resolved" | "effect_cancelled") && entry.text.contains(&format!("\"{id}\""))
}

fn question(visit: &Visit, id: EffectId) -> Ask {
    let path = format!("/review/{id}/ask");
    Ask { csrf: visit.forms().token(&path), path }
}

/// The last answer that a person asked for, read again for the effect as it stands: what was "it happened" before it was
/// settled is "as the record says" afterwards.
fn advice(effect: &Effect, provider: &Provider, entries: &[SealedEntry]) -> Option<Advice> {
    let told = last_told(entries, effect.id)?;
    let means = look::meaning(effect, provider, &told.as_look(), told.at);
    // Judged by when it was asked, which may have been a moment before the answer was written down.
    let is_early = told.means == Meaning::TooEarly && matches!(means, Meaning::NotThere | Meaning::ProvedAbsent);
    let means = if is_early { Meaning::TooEarly } else { means };
    Some(Advice { text: ask::advice(means, effect, provider), is_contrary: means == Meaning::Contradicts })
}

fn standing(effect: &Effect, provider: Option<&Provider>) -> String {
    let enforcing = provider.is_some_and(|p| matches!(p.class, Class::Enforcing { .. }));
    match effect.state {
        EffectState::Review { .. } if is_spent(effect) => "The provider keeps an error under this key and would only repeat it, so it is not sent again. Look whether it happened over there. If it did not, cancel it here and make a correction: a new event with a key of its own.".into(),
        EffectState::Review { .. } => "It may have happened over there, and nobody knows. It will not be sent again unless a person says so.".into(),
        EffectState::Unknown { .. } if enforcing => "It may have happened over there. The server looks, or sends it again with the same key, which the provider honours.".into(),
        EffectState::Unknown { .. } => "It may have happened over there. The server looks again by itself; you can settle it now.".into(),
        EffectState::Sending => "An attempt is under way. Its outcome will be on record in a moment.".into(),
        EffectState::Pending { .. } | EffectState::Scheduled { .. } => "It waits to be sent.".into(),
        EffectState::Completed => "It happened.".into(),
        EffectState::Failed => "It failed for good: it did not happen.".into(),
        EffectState::Cancelled => "It was cancelled: it will not be sent.".into(),
    }
}

/// What looks brought.
struct Found {
    external_id: Option<String>,
    /// The last answer that a person asked for says that it is over there.
    is_there: bool,
}

/// The legal ways out, each with what it does.
fn actions(
    visit: &Visit,
    agg: &Aggregate,
    effect: &Effect,
    provider: Option<&Provider>,
    found: &Found,
    refusal: Option<&Refusal>,
) -> Vec<Action> {
    if !matches!(effect.state, EffectState::Review { .. } | EffectState::Unknown { .. }) {
        return Vec::new();
    }
    let shown = act::mark(agg, &Act::Resolve(effect.id, Resolution::Cancel)).unwrap_or_default();
    let action = |n, words| Action::new(visit, format!("/review/{}/settle", effect.id), n, shown, words);
    let happened = action(1, happened()).with_external_id(found.external_id.clone().unwrap_or_default());
    let key_holds = provider.is_some_and(|p| retry::key_holds(effect, p, visit.app.engine.now()));
    let again = (!is_spent(effect)).then(|| action(2, send_again(provider, key_holds, found.is_there)));
    let all = std::iter::once(happened).chain(again).chain([action(3, cancel(found.is_there, is_spent(effect)))]);
    all.map(|a| a.again(refusal)).collect()
}

/// True where the provider only ever repeats a kept error under this key: then there is no sending again.
fn is_spent(effect: &Effect) -> bool {
    matches!(effect.state, EffectState::Review { .. }) && effect.reason.as_deref() == Some(retry::KEY_POISONED)
}

fn happened() -> Words {
    Words {
        name: "happened",
        title: "It happened",
        does: "The effect counts as completed with this id, and nothing is sent.".into(),
        button: "It happened",
        is_stop: false,
    }
}

/// In front of what a way does, where the provider's last word is that it happened.
fn although(is_there: bool) -> &'static str {
    if is_there { "The provider says that it is there. " } else { "" }
}

fn send_again(provider: Option<&Provider>, key_holds: bool, is_there: bool) -> Words {
    let guard = match provider.map(|p| p.class) {
        Some(Class::Enforcing { .. }) if key_holds => {
            "The provider honours the key: if it did happen, it does not happen twice."
        }
        Some(Class::Enforcing { .. }) => {
            "The provider may have forgotten the key, whose window is over: if it did happen, it happens twice."
        }
        _ => "Nothing over there stops a second execution: if it did happen, it happens twice.",
    };
    Words {
        name: "send_again",
        title: "It did not happen: send it again",
        does: format!(
            "{}One more attempt with the same provider key and the same bytes, as soon as the switch lets it go. {guard}",
            although(is_there)
        ),
        button: "It did not happen, send again",
        is_stop: true,
    }
}

fn cancel(is_there: bool, is_poisoned: bool) -> Words {
    let then = if is_poisoned { " Then make a correction from the run's page." } else { "" };
    Words {
        name: "cancel",
        title: "It did not happen: cancel it",
        does: format!(
            "{}The effect ends as cancelled, nothing is sent, and the run ends once its other effects have.{then}",
            although(is_there)
        ),
        button: "It did not happen, cancel",
        is_stop: true,
    }
}
