//! What an operator does with an effect on the desk: ask the provider, or settle it on their word. One form acts once:
//! it names the attempt that the page showed, so an old page cannot send a second time.

use axum::{extract::Path, response::Response};
use effectgate_core::{ids::EffectId, operate::Resolution};
use effectgate_engine::{
    EngineError,
    act::{Act, Acted},
    ask::Asked,
};
use http::StatusCode;

use super::{
    super::{
        action::{ActForm, Refusal},
        answer,
        approval::Banner,
        posted::{posted, reason},
        run::{
            Said,
            act::{done, moved},
        },
        visit::{Entitled, Sent, Visit},
    },
    effect::{no_such_effect, page},
};
use crate::{
    api::inline::EXTERNAL_ID_CHARS_MAX,
    auth::{Identity, allowed::Operate},
    problem::{Problem, Result},
};

pub(crate) async fn ask(Path(id): Path<String>, Sent(Entitled { visit, who, .. }, request): Sent<Operate>) -> Response {
    let Ok(id) = id.parse::<EffectId>() else { return no_such_effect(&visit) };
    let form: Result<ActForm, Response> = posted(&visit, request, &format!("/review/{id}/ask")).await;
    if let Err(response) = form {
        return response;
    }
    match asked(&visit, &who, id).await {
        Ok(Asked::Looked(_) | Asked::JustNow(_)) => answer::see(&format!("/review/{id}#looks")),
        Ok(Asked::NoLookup) => cannot(&visit, &who, id, "This provider declares no lookup.").await,
        Ok(Asked::NothingSent) => {
            cannot(&visit, &who, id, "No attempt was made, so there is nothing to look for.").await
        }
        Err(problem) => answer::problem(&problem, Some(&visit)),
    }
}

/// In a task of its own: the answer is recorded although the browser hangs up.
async fn asked(visit: &Visit, who: &Identity, id: EffectId) -> Result<Asked> {
    let (engine, tenant, actor) = (visit.app.engine.clone(), who.tenant().clone(), who.actor());
    let task = tokio::spawn(async move { engine.ask_provider(&tenant, id, &actor).await });
    let asked: Result<Asked, EngineError> = task.await.map_err(|error| Problem::internal(&error))?;
    Ok(asked?)
}

async fn cannot(visit: &Visit, who: &Identity, id: EffectId, why: &str) -> Response {
    let banner = Some(Banner { title: "Nobody was asked".into(), text: why.to_owned() });
    page(visit, who, id, Said { banner, ..Said::default() }, StatusCode::CONFLICT).await
}

pub(crate) async fn settle(
    Path(id): Path<String>,
    Sent(Entitled { visit, who, .. }, request): Sent<Operate>,
) -> Response {
    let Ok(id) = id.parse::<EffectId>() else { return no_such_effect(&visit) };
    let path = format!("/review/{id}/settle");
    let form: ActForm = match posted(&visit, request, &path).await {
        Ok(form) => form,
        Err(response) => return response,
    };
    let (resolution, reason) = match wish(&form) {
        Ok(wish) => wish,
        Err(error) => {
            let refusal = Some(Refusal { path, typed: form, error });
            return page(&visit, &who, id, Said { refusal, ..Said::default() }, StatusCode::BAD_REQUEST).await;
        }
    };
    match done(&visit, &who, id.run, Act::Resolve(id, resolution), reason, form.shown).await {
        Ok(Acted::Done | Acted::Repeated) => answer::see(&format!("/review/{id}")),
        Ok(Acted::Moved) => {
            let said = Said { banner: Some(moved()), ..Said::default() };
            page(&visit, &who, id, said, StatusCode::CONFLICT).await
        }
        Err(problem) => answer::problem(&problem, Some(&visit)),
    }
}

fn wish(form: &ActForm) -> Result<(Resolution, String), &'static str> {
    let external_id = form.external_id.trim();
    let resolution = match form.verdict.as_str() {
        "happened" if external_id.chars().count() > EXTERNAL_ID_CHARS_MAX => Err("The id is too long to be one."),
        "happened" if external_id.contains('\0') => Err("The id holds a character that cannot be kept (U+0000)."),
        "happened" => {
            let external_id = Some(external_id.to_owned()).filter(|id| !id.is_empty());
            Ok(Resolution::Happened { external_id })
        }
        "send_again" => Ok(Resolution::SendAgain),
        "cancel" => Ok(Resolution::Cancel),
        _ => Err("The form does not say what happened. Open the page again."),
    };
    Ok((resolution?, reason(&form.reason)?))
}
