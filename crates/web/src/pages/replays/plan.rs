//! One plan: what it would do, key by key, the button that executes it once with a reason, and how far it is. While it
//! runs the page is brought up to date like any live one; without JavaScript it is opened again.

use askama::Template;
use axum::{extract::Path, response::Response};
use effectgate_core::ids::ReplayId;
use effectgate_engine::{
    EngineError,
    replay::{ReplayStanding, ReplayView},
};
use http::StatusCode;

use super::{
    super::{
        action::{ActForm, Action, Refusal, Words},
        answer::{self, Frame, Note},
        approval::Banner,
        listing::{Moment, Tag},
        posted::{posted, reason},
        text::{Shown, plural},
        visit::{Entitled, Sent, Visit},
    },
    PATH, progress,
    report::Report,
};
use crate::{
    auth::{
        Identity,
        allowed::{Need as _, Operate, Read},
    },
    problem::{Problem, Result},
};

#[derive(Template)]
#[template(path = "replay.html")]
struct PlanPage {
    frame: Frame,
    banner: Option<Banner>,
    state: Tag,
    standing: String,
    expires: Option<Moment>,
    progress: Option<Progress>,
    started: Option<(Shown, Moment)>,
    ended: Option<Moment>,
    actions: Vec<Action>,
    report: Report,
    here: String,
    zone: String,
}

struct Progress {
    done: i64,
    total: i64,
    text: String,
    is_running: bool,
}

/// What is said above the page after a form, and what stood in its way.
#[derive(Default)]
struct Said {
    status: StatusCode,
    banner: Option<Banner>,
    refusal: Option<Refusal>,
}

pub(crate) async fn show(Entitled { visit, who, .. }: Entitled<Read>, Path(id): Path<String>) -> Response {
    match id.parse() {
        Ok(id) => page(&visit, &who, id, Said::default()).await,
        Err(_) => no_such_plan(&visit),
    }
}

async fn page(visit: &Visit, who: &Identity, id: ReplayId, said: Said) -> Response {
    match visit.app.engine.replay_find(who.tenant(), id, true).await {
        Ok(plan) => answer::page(said.status, &build(visit, who, id, &plan, said)),
        Err(EngineError::NotFound(_)) => no_such_plan(visit),
        Err(error) => answer::problem(&error.into(), Some(visit)),
    }
}

fn no_such_plan(visit: &Visit) -> Response {
    Note::new(
        Some(visit),
        "There is no such replay",
        "It does not exist here, or its report was removed after its time.",
    )
    .way(PATH, "To the replays")
    .answer(StatusCode::NOT_FOUND)
}

fn build(visit: &Visit, who: &Identity, id: ReplayId, plan: &ReplayView, said: Said) -> PlanPage {
    let is_open = plan.state == ReplayStanding::Planned && plan.total > 0;
    let may_execute = who.need(Operate::ANY_OF).is_ok() && is_open;
    let is_begun = plan.started_at.is_some();
    let execute = || execute_action(visit, id, plan).again(said.refusal.as_ref());
    PlanPage {
        frame: Frame::english("Replay", visit),
        state: Tag::new(plan.state.as_str(), None),
        standing: standing(plan).into(),
        expires: plan.expires_at.filter(|_| is_open).map(|at| Moment::new(visit, at)),
        progress: is_begun.then(|| Progress {
            done: plan.dealt_with(),
            total: plan.total.max(1),
            text: progress(plan),
            is_running: plan.state == ReplayStanding::Running,
        }),
        started: plan
            .started_by
            .as_deref()
            .zip(plan.started_at)
            .map(|(by, at)| (Shown::new(by), Moment::new(visit, at))),
        ended: plan.ended_at.map(|at| Moment::new(visit, at)),
        actions: if may_execute { vec![execute()] } else { Vec::new() },
        report: Report::new(visit, plan),
        here: format!("{PATH}/{id}"),
        zone: super::super::listing::zone(visit).to_string(),
        banner: said.banner,
    }
}

fn standing(plan: &ReplayView) -> &'static str {
    match plan.state {
        ReplayStanding::DryRun => "A dry run: nothing was stored.",
        ReplayStanding::Planned if plan.total == 0 => {
            "No run may be recovered, so there is nothing to execute. It expires by itself."
        }
        ReplayStanding::Planned => "Nothing was done yet. Read it, then execute it, or leave it: it expires by itself.",
        ReplayStanding::Expired => "It was not executed in time, and the runs may have changed since. Make a new plan.",
        ReplayStanding::Running => "It runs in the background. What changed since the plan is skipped.",
        ReplayStanding::Done => "It has ended. Executing it again would do nothing.",
    }
}

fn execute_action(visit: &Visit, id: ReplayId, plan: &ReplayView) -> Action {
    let n = plan.summary.counts.replayable;
    let words = Words {
        name: "execute",
        title: "Execute this plan",
        does: format!(
            "{n} {} made free for a worker, once. Nothing is sent by this: what a worker then does goes through the \
             usual gate and outbox.",
            plural(n, "run is", "runs are")
        ),
        button: "Execute",
        is_stop: false,
    };
    Action::new(visit, format!("{PATH}/{id}/execute"), 1, 0, words)
}

pub(crate) async fn execute(
    Path(id): Path<String>,
    Sent(Entitled { visit, who, .. }, request): Sent<Operate>,
) -> Response {
    let Ok(id) = id.parse::<ReplayId>() else { return no_such_plan(&visit) };
    let path = format!("{PATH}/{id}/execute");
    let form: ActForm = match posted(&visit, request, &path).await {
        Ok(form) => form,
        Err(response) => return response,
    };
    let reason = match reason(&form.reason) {
        Ok(reason) => reason,
        Err(error) => {
            let refusal = Some(Refusal { path, typed: form, error });
            return page(&visit, &who, id, Said { status: StatusCode::BAD_REQUEST, refusal, banner: None }).await;
        }
    };
    match executed(&visit, &who, id, reason).await {
        Ok(Ok(_)) => answer::see(&format!("{PATH}/{id}")),
        Ok(Err(EngineError::NotFound(_))) => no_such_plan(&visit),
        Ok(Err(EngineError::ReplayExpired { .. })) => {
            let text = "It was not executed in time, and the runs may have changed since. Make a new plan.".into();
            let banner = Some(Banner { title: "Nothing was done".into(), text });
            page(&visit, &who, id, Said { status: StatusCode::CONFLICT, banner, refusal: None }).await
        }
        Ok(Err(error)) => answer::problem(&error.into(), Some(&visit)),
        Err(problem) => answer::problem(&problem, Some(&visit)),
    }
}

/// In a task of its own: a browser that hangs up cancels no commit.
async fn executed(
    visit: &Visit,
    who: &Identity,
    id: ReplayId,
    reason: String,
) -> Result<Result<ReplayView, EngineError>> {
    let (engine, tenant, actor) = (visit.app.engine.clone(), who.tenant().clone(), who.actor());
    let task = tokio::spawn(async move { engine.replay_execute(&tenant, &actor, id, Some(&reason)).await });
    task.await.map_err(|error| Problem::internal(&error))
}
