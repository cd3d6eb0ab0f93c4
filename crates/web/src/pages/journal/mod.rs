//! The journal for auditors: searched by chain, kind, actor and time, newest first. The search is in the address. What is
//! verified is in [`verify`]; the export is the API's own, over the same session.

pub(super) mod verify;

use askama::Template;
use axum::{
    extract::{Query, rejection::QueryRejection},
    response::Response,
};
use effectgate_core::{
    ids::RunId,
    journal::{EntryKind, SealedEntry},
};
use effectgate_engine::EngineError;
use effectgate_store::{JournalFilter, RunFilter};
use serde::Deserialize;

use super::{
    answer::{self, Frame},
    listing::{self, Choice, Found, NO_SEARCH, PAGE, Pager, Searched, given},
    run::entries::EntryLine,
    visit::{Entitled, Visit},
};
use crate::{
    auth::{Identity, allowed::Audit},
    problem::{Problem, Result},
};

#[derive(Deserialize, Default)]
#[serde(default)]
pub(crate) struct Search {
    /// A run's id, a key, or `house`.
    run: String,
    kind: String,
    actor: String,
    since: String,
    until: String,
    cursor: String,
}

#[derive(Template)]
#[template(path = "journal.html")]
struct JournalPage {
    frame: Frame,
    search: Search,
    kinds: Vec<Choice>,
    lines: Vec<Line>,
    pager: Pager,
    is_search: bool,
    error: Option<&'static str>,
    zone: String,
}

struct Line {
    entry: EntryLine,
    kind: String,
    /// The run's page; the house's chain has none.
    run: Option<String>,
    chain: String,
}

pub(super) const PATH: &str = "/journal";

/// What stood in the way of a search: words for the page, or a problem.
enum Stop {
    Words(&'static str),
    Problem(Problem),
}

impl From<effectgate_store::StoreError> for Stop {
    fn from(error: effectgate_store::StoreError) -> Self {
        Self::Problem(EngineError::from(error).into())
    }
}

pub(crate) async fn show(
    Entitled { visit, who, .. }: Entitled<Audit>,
    search: Result<Query<Search>, QueryRejection>,
) -> Response {
    let Ok(Query(mut search)) = search else {
        return page(&visit, Search::default(), Err(NO_SEARCH));
    };
    for text in [&mut search.run, &mut search.actor] {
        *text = text.trim().to_owned();
    }
    match find(&visit, &who, &search).await {
        Ok((entries, next)) => {
            let lines = entries.iter().map(|entry| line(&visit, &who, entry)).collect();
            page(&visit, search, Ok((lines, next)))
        }
        Err(Stop::Words(error)) => page(&visit, search, Err(error)),
        Err(Stop::Problem(problem)) => answer::problem(&problem, Some(&visit)),
    }
}

async fn find(visit: &Visit, who: &Identity, search: &Search) -> Result<(Vec<SealedEntry>, Option<String>), Stop> {
    if [&search.run, &search.actor, &search.cursor].iter().any(|text| text.contains('\0')) {
        return Err(Stop::Words("The character U+0000 is in no key and no name."));
    }
    if !search.kind.is_empty() && !EntryKind::ALL.iter().any(|kind| kind.as_str() == search.kind) {
        return Err(Stop::Words("There is no such kind of entry."));
    }
    let zone = listing::zone(visit);
    let moment = |text: &str, error| match text {
        "" => Ok(None),
        text => zone.instant(text).map(Some).ok_or(Stop::Words(error)),
    };
    let filter = JournalFilter {
        run: chain(visit, who, &search.run).await?,
        kind: given(&search.kind),
        actor: given(&search.actor),
        since: moment(&search.since, "“From” is no date with a time.")?,
        until: moment(&search.until, "“Before” is no date with a time.")?,
        cursor: given(&search.cursor),
        limit: PAGE,
    };
    let found = visit.app.engine.store().journal_search(who.tenant(), &filter).await?;
    Ok((found.items, found.next))
}

/// The chain that somebody means by a run's id, a key, or `house`.
async fn chain(visit: &Visit, who: &Identity, text: &str) -> Result<Option<RunId>, Stop> {
    if text.is_empty() {
        return Ok(None);
    }
    if text == "house" {
        return Ok(Some(RunId::house(who.tenant())));
    }
    if let Ok(run) = text.parse() {
        return Ok(Some(run));
    }
    let filter = RunFilter { key: Some(text.to_owned()), limit: 2, ..RunFilter::default() };
    let found = visit.app.engine.store().run_find(who.tenant(), &filter).await?;
    match found.items.as_slice() {
        [run] => Ok(Some(run.id)),
        [] => Err(Stop::Words("There is no run with this key. A run that was purged is found by its id.")),
        _ => Err(Stop::Words("This key is in several flows: search it under Runs, and take the id of the run.")),
    }
}

fn page(visit: &Visit, search: Search, found: Found<Line>) -> Response {
    let query = search.query();
    let searched = Searched::new(PATH, &query, &search.cursor, found);
    let Searched { status, error, lines, pager, is_search } = searched;
    let template = JournalPage {
        frame: Frame::english("Journal", visit),
        kinds: listing::choices(EntryKind::ALL.iter().map(|kind| kind.as_str()), &search.kind),
        lines,
        pager,
        is_search,
        error,
        zone: listing::zone(visit).to_string(),
        search,
    };
    answer::page(status, &template)
}

impl Search {
    fn query(&self) -> [(&'static str, &str); 5] {
        let Self { run, kind, actor, since, until, .. } = self;
        [("run", run), ("kind", kind), ("actor", actor), ("since", since), ("until", until)]
    }
}

fn line(visit: &Visit, who: &Identity, entry: &SealedEntry) -> Line {
    let is_house = entry.run == RunId::house(who.tenant());
    Line {
        entry: EntryLine::new(visit, entry, &[]),
        kind: listing::words(&entry.kind),
        run: (!is_house).then(|| format!("/runs/{}", entry.run)),
        chain: if is_house { "house".into() } else { entry.run.to_string() },
    }
}
