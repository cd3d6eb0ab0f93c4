//! The outbox as a list: by state and provider, most recently changed first, with links to the run and the desk.

use askama::Template;
use axum::{
    extract::{Query, rejection::QueryRejection},
    response::Response,
};
use effectgate_core::{effect::EffectState, ids::ProviderName, switch::Switch};
use effectgate_engine::{EngineError, view};
use effectgate_store::{DueEffect, EffectFilter};
use serde::Deserialize;

use super::{
    answer::{self, Frame},
    listing::{self, Choice, Found, Moment, NO_SEARCH, PAGE, Pager, Searched, Tag, given},
    text::Shown,
    visit::{Entitled, Visit},
};
use crate::auth::allowed::Read;

#[derive(Deserialize, Default)]
#[serde(default)]
pub(crate) struct Search {
    state: String,
    provider: String,
    cursor: String,
}

#[derive(Template)]
#[template(path = "effects.html")]
struct EffectsPage {
    frame: Frame,
    states: Vec<Choice>,
    providers: Vec<Choice>,
    lines: Vec<Line>,
    pager: Pager,
    is_search: bool,
    error: Option<&'static str>,
    zone: String,
}

struct Line {
    /// The desk's page, or the run where nothing was tried yet.
    href: String,
    kind: Shown,
    target: Shown,
    provider: Shown,
    state: Tag,
    attempts: i32,
    external_id: Option<Shown>,
    run: String,
    flow: Shown,
    key: Shown,
    changed: Moment,
}

const PATH: &str = "/effects";

pub(crate) async fn show(
    Entitled { visit, who, .. }: Entitled<Read>,
    search: Result<Query<Search>, QueryRejection>,
) -> Response {
    let Ok(Query(search)) = search else {
        return page(&visit, &Search::default(), Err(NO_SEARCH));
    };
    let filter = match filter(&search) {
        Ok(filter) => filter,
        Err(error) => return page(&visit, &search, Err(error)),
    };
    let engine = &visit.app.engine;
    match engine.store().effect_find(who.tenant(), &filter).await {
        Ok(found) => {
            let switches = engine.switches().await;
            let lines = found.items.iter().map(|item| line(&visit, item, &switches)).collect();
            page(&visit, &search, Ok((lines, found.next)))
        }
        Err(error) => answer::problem(&EngineError::from(error).into(), Some(&visit)),
    }
}

fn filter(search: &Search) -> Result<EffectFilter, &'static str> {
    if !search.state.is_empty() && !EffectState::WORDS.contains(&search.state.as_str()) {
        return Err("There is no such state.");
    }
    if [&search.provider, &search.cursor].iter().any(|text| text.contains('\0')) {
        return Err("The character U+0000 is in no name.");
    }
    Ok(EffectFilter {
        states: given(&search.state).into_iter().collect(),
        provider: given(&search.provider).map(ProviderName::new),
        oldest_first: false,
        cursor: given(&search.cursor),
        limit: PAGE,
    })
}

fn page(visit: &Visit, search: &Search, found: Found<Line>) -> Response {
    let query = [("state", search.state.as_str()), ("provider", search.provider.as_str())];
    let searched = Searched::new(PATH, &query, &search.cursor, found);
    let Searched { status, error, lines, pager, is_search } = searched;
    let providers = visit.app.engine.policy().providers.keys().map(ProviderName::as_str);
    let template = EffectsPage {
        frame: Frame::english("Effects", visit),
        states: listing::choices(EffectState::WORDS, &search.state),
        providers: listing::names(providers, &search.provider),
        lines,
        pager,
        is_search,
        error,
        zone: listing::zone(visit).to_string(),
    };
    answer::page(status, &template)
}

fn line(visit: &Visit, DueEffect { run, effect }: &DueEffect, switches: &[Switch]) -> Line {
    // A pending effect that a switch holds back says so.
    let reason = view::effect_view(run, effect, switches).reason;
    let run_href = format!("/runs/{}", run.id);
    Line {
        href: if effect.fence.0 > 0 { format!("/review/{}", effect.id) } else { run_href.clone() },
        kind: Shown::new(effect.effect_type.as_str()),
        target: Shown::new(&effect.target),
        provider: Shown::new(effect.provider.as_str()),
        state: Tag::new(effect.state.as_str(), reason.as_deref()),
        attempts: effect.attempts,
        external_id: effect.external_id.as_deref().map(Shown::new),
        run: run_href,
        flow: Shown::new(run.flow.as_str()),
        key: Shown::new(&run.key),
        changed: Moment::new(visit, effect.updated_at),
    }
}
