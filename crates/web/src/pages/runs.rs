//! The list of runs: searched by key, flow, state and time, newest first, in pages. The search is in the address, so it
//! can be shared. Nothing is changed here.

use askama::Template;
use axum::{
    extract::{Query, rejection::QueryRejection},
    response::Response,
};
use effectgate_core::{
    ids::{ApprovalId, EffectId, FlowName, RunId},
    run::{EffectCounts, Run, RunState},
};
use effectgate_engine::EngineError;
use effectgate_store::RunFilter;
use serde::Deserialize;

use super::{
    answer::{self, Frame},
    listing::{self, Choice, Found, Moment, NO_SEARCH, PAGE, Pager, Searched, Tag, given},
    text::Shown,
    visit::{Entitled, Visit},
};
use crate::auth::{Identity, allowed::Read};

/// The search as it stands in the address; times are in the person's zone.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(crate) struct Search {
    key: String,
    flow: String,
    state: String,
    since: String,
    until: String,
    cursor: String,
}

#[derive(Template)]
#[template(path = "runs.html")]
struct RunsPage {
    frame: Frame,
    search: Search,
    flows: Vec<Choice>,
    states: Vec<Choice>,
    zone: String,
    lines: Vec<Line>,
    pager: Pager,
    is_search: bool,
    error: Option<&'static str>,
}

struct Line {
    href: String,
    key: Shown,
    flow: Shown,
    state: Tag,
    attempts: String,
    effects: String,
    updated: Moment,
}

const PATH: &str = "/runs";

pub(crate) async fn show(
    Entitled { visit, who, .. }: Entitled<Read>,
    search: Result<Query<Search>, QueryRejection>,
) -> Response {
    let Ok(Query(mut search)) = search else {
        return page(&visit, Search::default(), Err(NO_SEARCH));
    };
    search.key = search.key.trim().to_owned();
    if let Some(path) = named(&visit, &who, &search.key).await {
        return answer::see(&path);
    }
    let filter = match filter(&visit, &search) {
        Ok(filter) => filter,
        Err(error) => return page(&visit, search, Err(error)),
    };
    match visit.app.engine.store().run_find(who.tenant(), &filter).await {
        Ok(found) => {
            let lines = found.items.iter().map(|run| line(&visit, run)).collect();
            page(&visit, search, Ok((lines, found.next)))
        }
        Err(error) => answer::problem(&EngineError::from(error).into(), Some(&visit)),
    }
}

/// Somebody who types an id wants that very thing.
async fn named(visit: &Visit, who: &Identity, text: &str) -> Option<String> {
    let run: RunId = text
        .parse()
        .or_else(|_| text.parse().map(|id: EffectId| id.run))
        .or_else(|_| text.parse().map(|id: ApprovalId| id.run))
        .ok()?;
    let found = visit.app.engine.store().run_load(who.tenant(), run).await;
    found.ok().flatten().map(|_| format!("/runs/{run}"))
}

fn filter(visit: &Visit, search: &Search) -> Result<RunFilter, &'static str> {
    if [&search.key, &search.flow, &search.cursor].iter().any(|text| text.contains('\0')) {
        return Err("The character U+0000 is in no key and no flow.");
    }
    if !search.state.is_empty() && !RunState::WORDS.contains(&search.state.as_str()) {
        return Err("There is no such state.");
    }
    let zone = listing::zone(visit);
    let moment = |text: &str, error| match text {
        "" => Ok(None),
        text => zone.instant(text).map(Some).ok_or(error),
    };
    Ok(RunFilter {
        flow: given(&search.flow).map(FlowName::new),
        key: given(&search.key),
        state: given(&search.state),
        since: moment(&search.since, "“From” is no date with a time.")?,
        until: moment(&search.until, "“Before” is no date with a time.")?,
        cursor: given(&search.cursor),
        limit: PAGE,
    })
}

fn page(visit: &Visit, search: Search, found: Found<Line>) -> Response {
    let policy = visit.app.engine.policy();
    let query = search.query();
    let searched = Searched::new(PATH, &query, &search.cursor, found);
    let Searched { status, error, lines, pager, is_search } = searched;
    let template = RunsPage {
        frame: Frame::english("Runs", visit),
        flows: listing::names(policy.flows.keys().map(FlowName::as_str), &search.flow),
        states: listing::choices(RunState::WORDS, &search.state),
        zone: listing::zone(visit).to_string(),
        lines,
        pager,
        is_search,
        search,
        error,
    };
    answer::page(status, &template)
}

impl Search {
    fn query(&self) -> [(&'static str, &str); 5] {
        let Self { key, flow, state, since, until, .. } = self;
        [("key", key), ("flow", flow), ("state", state), ("since", since), ("until", until)]
    }
}

fn line(visit: &Visit, run: &Run) -> Line {
    Line {
        href: format!("{PATH}/{}", run.id),
        key: Shown::new(&run.key),
        flow: Shown::new(run.flow.as_str()),
        state: Tag::new(run.state.as_str(), run.state.reason()),
        attempts: format!("{} of {}", run.attempts, run.attempts_max),
        effects: effects(run.effects),
        updated: Moment::new(visit, run.updated_at),
    }
}

/// How a run's effects stand, the most telling first.
pub(super) fn effects(counts: EffectCounts) -> String {
    let EffectCounts { total, open, failed, cancelled } = counts;
    if total == 0 {
        return "none".into();
    }
    let done = total - open - failed - cancelled;
    let parts = [(done, "done"), (open, "open"), (failed, "failed"), (cancelled, "cancelled")];
    let told: Vec<String> = parts.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{n} {word}")).collect();
    told.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn effects_are_told_by_how_they_stand() {
        let counts = EffectCounts { total: 5, open: 1, failed: 1, cancelled: 1 };
        assert_eq!(effects(counts), "2 done, 1 open, 1 failed, 1 cancelled");
        assert_eq!(effects(EffectCounts::default()), "none");
    }
}
