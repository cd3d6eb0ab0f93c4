//! What operators do on the page of a run: release it, close it, cancel an effect, take a question back. Each wants a reason and names what the
//! page showed; done, the answer leads back to the page, which shows it.

use axum::{
    extract::{Path, Request},
    response::Response,
};
use effectgate_core::{
    ids::{ApprovalId, EffectId, RunId},
    operate::Asker,
};
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
        visit::{Entitled, Sent, Visit},
    },
    Said, no_such_run, page,
};
use crate::{
    auth::{Identity, allowed::Operate},
    problem::{Problem, Result},
};

pub(crate) async fn release(
    Path(id): Path<String>,
    Sent(Entitled { visit, who, .. }, request): Sent<Operate>,
) -> Response {
    of_run(visit, who, &id, request, "release", Act::Release).await
}

pub(crate) async fn close(
    Path(id): Path<String>,
    Sent(Entitled { visit, who, .. }, request): Sent<Operate>,
) -> Response {
    of_run(visit, who, &id, request, "close", Act::Close).await
}

async fn of_run(visit: Visit, who: Identity, id: &str, request: Request, word: &str, act: Act) -> Response {
    let Ok(run) = id.parse::<RunId>() else { return no_such_run(&visit) };
    taken(visit, who, run, request, format!("/runs/{run}/{word}"), act).await
}

pub(crate) async fn cancel(
    Path(id): Path<String>,
    Sent(Entitled { visit, who, .. }, request): Sent<Operate>,
) -> Response {
    let Ok(effect) = id.parse::<EffectId>() else { return no_such_run(&visit) };
    taken(visit, who, effect.run, request, format!("/effects/{effect}/cancel"), Act::Cancel(effect)).await
}

pub(crate) async fn withdraw(
    Path(id): Path<String>,
    Sent(Entitled { visit, who, .. }, request): Sent<Operate>,
) -> Response {
    let Ok(run) = id.parse::<RunId>() else { return no_such_run(&visit) };
    let path = format!("/runs/{run}/withdraw");
    let form: ActForm = match posted(&visit, request, &path).await {
        Ok(form) => form,
        Err(response) => return response,
    };
    let Ok(reason) = reason(&form.reason) else { return without_reason(&visit, &who, run, path, form).await };
    let approval = ApprovalId { run, n: i32::try_from(form.shown).unwrap_or_default() };
    let person = visit.signed_in.as_ref().map(|signed_in| signed_in.person.clone());
    let asker = Asker { actor: who.actor(), person, is_operator: true };
    let (engine, tenant) = (visit.app.engine.clone(), who.tenant().clone());
    // In a task of its own: a browser that hangs up cancels no commit.
    let task = tokio::spawn(async move { engine.withdraw(&tenant, approval, &asker, &reason).await });
    match task.await {
        Ok(Ok(_)) => answer::see(&format!("/runs/{run}")),
        Ok(Err(EngineError::WrongState { .. })) => {
            page(&visit, &who, run, Said { banner: Some(moved()), ..Said::default() }, StatusCode::CONFLICT).await
        }
        Ok(Err(EngineError::NotFound(_))) => no_such_run(&visit),
        Ok(Err(error)) => answer::problem(&error.into(), Some(&visit)),
        Err(error) => answer::problem(&Problem::internal(&error), Some(&visit)),
    }
}

async fn without_reason(visit: &Visit, who: &Identity, run: RunId, path: String, typed: ActForm) -> Response {
    let error = reason(&typed.reason).err().unwrap_or_default();
    let refusal = Some(Refusal { path, typed, error });
    page(visit, who, run, Said { refusal, ..Said::default() }, StatusCode::BAD_REQUEST).await
}

async fn taken(visit: Visit, who: Identity, run: RunId, request: Request, path: String, act: Act) -> Response {
    let form: ActForm = match posted(&visit, request, &path).await {
        Ok(form) => form,
        Err(response) => return response,
    };
    let Ok(reason) = reason(&form.reason) else { return without_reason(&visit, &who, run, path, form).await };
    match done(&visit, &who, run, act, reason, form.shown).await {
        Ok(Acted::Done | Acted::Repeated) => answer::see(&format!("/runs/{run}")),
        Ok(Acted::Moved) => {
            page(&visit, &who, run, Said { banner: Some(moved()), ..Said::default() }, StatusCode::CONFLICT).await
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
        title: "Nothing was done".into(),
        text: "This changed after you opened the page: somebody acted on it, or it was tried again. Below is what is \
               there now. Read it before you act."
            .into(),
    }
}
