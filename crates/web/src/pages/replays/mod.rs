//! Replays: the plans there are, newest first, and the form that makes one. A dry run comes first: the form has no other
//! button, and only its report offers to make the plan. One plan is in [`plan`]; nothing here executes.

mod form;
pub(super) mod plan;
mod report;

use askama::Template;
use axum::{
    extract::{Query, rejection::QueryRejection},
    response::Response,
};
use effectgate_engine::{
    EngineError,
    replay::{PlanRequest, ReplayStanding, ReplayView},
};
use http::StatusCode;
use serde::Deserialize;

use self::{
    form::{FormBlock, PlanForm},
    report::Report,
};
use super::{
    answer::{self, Frame},
    listing::{Moment, PAGE, Pager, Tag, words},
    posted::posted,
    text::Shown,
    visit::{Entitled, Sent, Visit},
};
use crate::{
    auth::{
        Identity,
        allowed::{Need as _, Operate, Read},
    },
    problem::{Problem, Result},
};

pub(super) const PATH: &str = "/replays";

#[derive(Deserialize, Default)]
#[serde(default)]
pub(crate) struct Search {
    cursor: String,
}

#[derive(Template)]
#[template(path = "replays.html")]
struct ReplaysPage {
    frame: Frame,
    /// `None` for those who may not make one.
    form: Option<FormBlock>,
    /// What a dry run said, just now.
    report: Option<Report>,
    lines: Vec<Line>,
    pager: Pager,
    zone: String,
}

/// A plan in the list.
struct Line {
    href: String,
    flow: Shown,
    filter: String,
    state: Tag,
    progress: String,
    made_by: Shown,
    made_at: Moment,
}

pub(crate) async fn show(
    Entitled { visit, who, .. }: Entitled<Read>,
    search: Result<Query<Search>, QueryRejection>,
) -> Response {
    let Query(search) = search.unwrap_or_default();
    page(&visit, &who, &search.cursor, Said::default()).await
}

/// What came of the form, if one was sent.
#[derive(Default)]
struct Said {
    status: StatusCode,
    typed: PlanForm,
    error: Option<String>,
    report: Option<Report>,
}

pub(crate) async fn make(Sent(Entitled { visit, who, .. }, request): Sent<Operate>) -> Response {
    let typed: PlanForm = match posted(&visit, request, PATH).await {
        Ok(form) => form,
        Err(response) => return response,
    };
    let wish = match typed.read(&visit) {
        Ok(wish) => wish,
        Err(error) => return refused(&visit, &who, typed, error.to_owned()).await,
    };
    match planned(&visit, &who, wish).await {
        Ok(ReplayView { id: Some(id), .. }) => answer::see(&format!("{PATH}/{id}")),
        Ok(view) => {
            let report = Some(Report::new(&visit, &view));
            page(&visit, &who, "", Said { typed, report, ..Said::default() }).await
        }
        Err(Failed::Wish(error)) => refused(&visit, &who, typed, error).await,
        Err(Failed::Problem(problem)) => answer::problem(&problem, Some(&visit)),
    }
}

/// Why there is no plan.
enum Failed {
    /// Something that was typed.
    Wish(String),
    Problem(Problem),
}

/// In a task of its own: a browser that hangs up cancels no commit.
async fn planned(visit: &Visit, who: &Identity, wish: PlanRequest) -> Result<ReplayView, Failed> {
    let (engine, tenant, actor) = (visit.app.engine.clone(), who.tenant().clone(), who.actor());
    let task = tokio::spawn(async move { engine.replay_plan(&tenant, &actor, wish).await });
    let planned = task.await.map_err(|error| Failed::Problem(Problem::internal(&error)))?;
    planned.map_err(|error| match error {
        EngineError::UnknownFlow | EngineError::BadMember { .. } => Failed::Wish(answer::sentence(&error.to_string())),
        error => Failed::Problem(error.into()),
    })
}

async fn refused(visit: &Visit, who: &Identity, typed: PlanForm, error: String) -> Response {
    let said = Said { status: StatusCode::BAD_REQUEST, typed, error: Some(error), report: None };
    page(visit, who, "", said).await
}

async fn page(visit: &Visit, who: &Identity, cursor: &str, said: Said) -> Response {
    let status = said.status;
    match build(visit, who, cursor, said).await {
        Ok(page) => answer::page(status, &page),
        Err(problem) => answer::problem(&problem, Some(visit)),
    }
}

async fn build(visit: &Visit, who: &Identity, cursor: &str, said: Said) -> Result<ReplaysPage> {
    let at = Some(cursor).filter(|cursor| !cursor.is_empty());
    let found = visit.app.engine.replay_list(who.tenant(), at, PAGE).await?;
    let Said { typed, error, report, .. } = said;
    Ok(ReplaysPage {
        frame: Frame::english("Replays", visit),
        form: who.need(Operate::ANY_OF).is_ok().then(|| FormBlock::new(visit, typed, error)),
        report,
        lines: found.items.iter().filter_map(|plan| line(visit, plan)).collect(),
        pager: Pager::new(PATH, &[], cursor.is_empty(), found.next.as_deref()),
        zone: super::listing::zone(visit).to_string(),
    })
}

fn line(visit: &Visit, plan: &ReplayView) -> Option<Line> {
    let state = words(plan.filter.state.as_str());
    Some(Line {
        href: format!("{PATH}/{}", plan.id?),
        flow: Shown::new(&plan.filter.flow),
        filter: format!("{state}, at most {}", plan.limit),
        state: Tag::new(plan.state.as_str(), None),
        progress: progress(plan),
        made_by: Shown::new(&plan.made_by),
        made_at: Moment::new(visit, plan.made_at),
    })
}

/// How far a plan is, in a few words.
fn progress(plan: &ReplayView) -> String {
    match plan.state {
        ReplayStanding::Running | ReplayStanding::Done if plan.skipped > 0 => {
            format!("{} of {} recovered, {} skipped", plan.done, plan.total, plan.skipped)
        }
        ReplayStanding::Running | ReplayStanding::Done => format!("{} of {} recovered", plan.done, plan.total),
        _ => format!("{} may be recovered", plan.summary.counts.replayable),
    }
}
