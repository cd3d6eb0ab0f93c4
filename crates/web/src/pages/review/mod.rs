//! The review desk: effects whose outcome nobody knows. In review they wait for a person, the oldest first, against the
//! flow's clock; unknown ones are looked at again by the server until it gives up or finds out. One effect is in
//! [`effect`]; what is done with it in [`settle`].

pub(super) mod effect;
mod looks;
pub(super) mod settle;

use askama::Template;
use axum::{
    extract::{Query, rejection::QueryRejection},
    response::Response,
};
use effectgate_core::effect::EffectState;
use effectgate_engine::EngineError;
use effectgate_store::{DueEffect, EffectFilter};
use http::StatusCode;
use serde::Deserialize;

use super::{
    answer::{self, Frame},
    listing::{Moment, PAGE, Pager, Tag},
    text::Shown,
    time::span,
    visit::{Entitled, Visit},
};
use crate::{
    auth::{Identity, allowed::Read},
    problem::Result,
};

#[derive(Deserialize, Default)]
#[serde(default)]
pub(crate) struct Search {
    cursor: String,
    unknown: String,
}

#[derive(Template)]
#[template(path = "review.html")]
struct ReviewPage {
    frame: Frame,
    review: List,
    unknown: List,
    zone: String,
}

struct List {
    lines: Vec<Line>,
    pager: Pager,
}

/// An effect that waits.
pub(super) struct Line {
    href: String,
    kind: Shown,
    target: Shown,
    provider: Shown,
    state: Tag,
    flow: Shown,
    key: Shown,
    run: String,
    since: Moment,
    clock: Option<Clock>,
    next: Option<Moment>,
}

/// How long it may wait before an alert, and how much of that is left.
pub(super) struct Clock {
    pub(super) text: String,
    pub(super) is_over: bool,
}

const PATH: &str = "/review";

pub(crate) async fn show(
    Entitled { visit, who, .. }: Entitled<Read>,
    search: Result<Query<Search>, QueryRejection>,
) -> Response {
    let Query(search) = search.unwrap_or_default();
    match build(&visit, &who, &search).await {
        Ok(page) => answer::page(StatusCode::OK, &page),
        Err(problem) => answer::problem(&problem, Some(&visit)),
    }
}

async fn build(visit: &Visit, who: &Identity, search: &Search) -> Result<ReviewPage> {
    let review = list(visit, who, "review", &search.cursor, |next| {
        Pager::new(PATH, &[("unknown", &search.unknown)], search.cursor.is_empty(), next)
    });
    let unknown = list(visit, who, "unknown", &search.unknown, |next| {
        // The other list's place is kept; its own is the parameter of its name.
        let kept = [("cursor", search.cursor.as_str())];
        let page = |cursor: &str| super::listing::address(PATH, &[kept[0], ("unknown", cursor)]);
        Pager { first: (!search.unknown.is_empty()).then(|| page("")), next: next.map(page) }
    });
    Ok(ReviewPage {
        frame: Frame::english("Review", visit),
        review: review.await?,
        unknown: unknown.await?,
        zone: super::listing::zone(visit).to_string(),
    })
}

async fn list(
    visit: &Visit,
    who: &Identity,
    state: &str,
    cursor: &str,
    pager: impl FnOnce(Option<&str>) -> Pager,
) -> Result<List> {
    let cursor = Some(cursor.to_owned()).filter(|cursor| !cursor.is_empty());
    let filter = EffectFilter {
        states: vec![state.to_owned()],
        oldest_first: true,
        cursor,
        limit: PAGE,
        ..EffectFilter::default()
    };
    let page = visit.app.engine.store().effect_find(who.tenant(), &filter).await.map_err(EngineError::from)?;
    let lines = page.items.iter().map(|item| line(visit, item)).collect();
    Ok(List { lines, pager: pager(page.next.as_deref()) })
}

fn line(visit: &Visit, DueEffect { run, effect }: &DueEffect) -> Line {
    let since = effect.unknown_since.unwrap_or(effect.updated_at);
    Line {
        href: format!("{PATH}/{}", effect.id),
        kind: Shown::new(effect.effect_type.as_str()),
        target: Shown::new(&effect.target),
        provider: Shown::new(effect.provider.as_str()),
        state: Tag::new(effect.state.as_str(), effect.reason.as_deref()),
        flow: Shown::new(run.flow.as_str()),
        key: Shown::new(&run.key),
        run: format!("/runs/{}", run.id),
        since: Moment::new(visit, since),
        clock: clock(visit, run, effect),
        next: match effect.state {
            EffectState::Unknown { look_at } => Some(Moment::new(visit, look_at)),
            _ => None,
        },
    }
}

/// The flow's limit for the desk. Only review waits for a person.
pub(super) fn clock(
    visit: &Visit,
    run: &effectgate_core::run::Run,
    effect: &effectgate_core::effect::Effect,
) -> Option<Clock> {
    let EffectState::Review { since } = effect.state else { return None };
    let limit = visit.app.engine.policy().flow(&run.flow)?.flow.review_alert_ms;
    let left = limit - visit.now.ms_since(since);
    let text = if left >= 0 {
        format!("{} left of {}", span(left), span(limit))
    } else {
        format!("over by {} ({} allowed)", span(-left), span(limit))
    };
    Some(Clock { text, is_over: left < 0 })
}
