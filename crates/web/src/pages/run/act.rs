//! What operators do on the page of a run: release it, close it, cancel an effect. Each wants a reason and names what the
//! page showed; done, the answer leads back to the page, which shows it.

use axum::{
    extract::{Path, Request},
    response::Response,
};
use effectgate_core::ids::{EffectId, RunId};
use effectgate_engine::{
    EngineError,
    act::{Act, Acted},
};
use http::StatusCode;

use super::{
    super::{
        action::{ActForm, Refusal},
        answer,
        approval::Banner,
        posted::{posted, reason},
        visit::{Entitled, Visit},
    },
    Said, no_such_run, page,
};
use crate::{
    auth::{Identity, allowed::Operate},
    problem::{Problem, Result},
};

pub(crate) async fn release(
    Entitled { visit, who, .. }: Entitled<Operate>,
    Path(id): Path<String>,
    request: Request,
) -> Response {
    of_run(visit, who, &id, request, "release", Act::Release).await
}

pub(crate) async fn close(
    Entitled { visit, who, .. }: Entitled<Operate>,
    Path(id): Path<String>,
    request: Request,
) -> Response {
    of_run(visit, who, &id, request, "close", Act::Close).await
}

async fn of_run(visit: Visit, who: Identity, id: &str, request: Request, word: &str, act: Act) -> Response {
    let Ok(run) = id.parse::<RunId>() else { return no_such_run(&visit) };
    taken(visit, who, run, request, format!("/runs/{run}/{word}"), act).await
}

pub(crate) async fn cancel(
    Entitled { visit, who, .. }: Entitled<Operate>,
    Path(id): Path<String>,
    request: Request,
) -> Response {
    let Ok(effect) = id.parse::<EffectId>() else { return no_such_run(&visit) };
    taken(visit, who, effect.run, request, format!("/effects/{effect}/cancel"), Act::Cancel(effect)).await
}

async fn taken(visit: Visit, who: Identity, run: RunId, request: Request, path: String, act: Act) -> Response {
    let form: ActForm = match posted(&visit, request, &path).await {
        Ok(form) => form,
        Err(problem) => return answer::problem(&problem, Some(&visit)),
    };
    let reason = match reason(&form.reason) {
        Ok(reason) => reason,
        Err(error) => {
            let refusal = Some(Refusal { path, typed: form, error });
            return page(&visit, &who, run, Said { refusal, banner: None }, StatusCode::BAD_REQUEST).await;
        }
    };
    match done(&visit, &who, run, act, reason, form.shown).await {
        Ok(Acted::Done | Acted::Repeated) => answer::see(&format!("/runs/{run}")),
        Ok(Acted::Moved) => {
            page(&visit, &who, run, Said { banner: Some(moved()), refusal: None }, StatusCode::CONFLICT).await
        }
        Err(problem) => answer::problem(&problem, Some(&visit)),
    }
}

/// In a task of its own: a browser that hangs up cancels no commit.
pub(crate) async fn done(
    visit: &Visit,
    who: &Identity,
    run: RunId,
    act: Act,
    reason: String,
    shown: i64,
) -> Result<Acted> {
    let (engine, tenant, actor) = (visit.app.engine.clone(), who.tenant().clone(), who.actor());
    let task = tokio::spawn(async move { engine.act(&tenant, run, &actor, &act, &reason, shown).await });
    let acted: Result<Acted, EngineError> = task.await.map_err(|error| Problem::internal(&error))?;
    Ok(acted?)
}

pub(crate) fn moved() -> Banner {
    Banner {
        title: "Nothing was done",
        text: "This changed after you opened the page: somebody acted on it, or it was tried again. Below is what is \
               there now. Read it before you act."
            .into(),
    }
}
