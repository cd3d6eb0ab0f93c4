//! Turning and drilling. Both answer with the page of what the journal says about it. A second click on the same form
//! finds the switch as it wants it, by the same person for the same reason, and turns nothing.

use axum::response::Response;
use effectgate_core::switch::Scope;
use effectgate_engine::{EngineError, drill::Drill, switch};
use http::StatusCode;
use serde::{Deserialize, Serialize};

use super::{
    super::{
        answer,
        posted::{Posted, posted, reason},
        visit::{Entitled, Sent, Visit},
    },
    DRILL, PATH, Said, own, page,
};
use crate::{
    auth::{Identity, allowed::Turn},
    problem::{Problem, Result},
};

#[derive(Deserialize, Serialize, Default)]
#[serde(default)]
pub(crate) struct TurnForm {
    csrf: String,
    /// `provider:crm`, `all:`.
    pub(super) what: String,
    /// `on` or `off`.
    pub(super) turn: String,
    pub(super) reason: String,
}

impl Posted for TurnForm {
    fn csrf(&self) -> &str {
        &self.csrf
    }
}

pub(crate) async fn turn(Sent(Entitled { visit, who, .. }, request): Sent<Turn>) -> Response {
    let form: TurnForm = match posted(&visit, request, PATH).await {
        Ok(form) => form,
        Err(response) => return response,
    };
    let wish = match wish(&visit, &who, &form) {
        Ok(wish) => wish,
        Err(error) => {
            let said = Said { typed: form, error: Some(error), banner: None };
            return page(&visit, &who, said, StatusCode::BAD_REQUEST).await;
        }
    };
    match stands_so(&visit, &who, &wish).await {
        Ok(true) => return answer::see("/switches#turns"),
        Ok(false) => {}
        Err(problem) => return answer::problem(&problem, Some(&visit)),
    }
    let (engine, tenant, actor) = (visit.app.engine.clone(), who.tenant().clone(), who.actor());
    // In a task of its own: a browser that hangs up cancels no commit.
    let turned = tokio::spawn(async move { engine.turn_switch(&tenant, &actor, &wish).await }).await;
    match turned {
        Ok(Ok(turned)) => answer::see(&format!("/switches/receipts/{}", turned.entry)),
        Ok(Err(error)) => answer::problem(&error.into(), Some(&visit)),
        Err(error) => answer::problem(&Problem::internal(&error), Some(&visit)),
    }
}

fn wish(visit: &Visit, who: &Identity, form: &TurnForm) -> Result<switch::Turn, &'static str> {
    let (scope, name) = what(visit, who, &form.what)?;
    let enabled = match form.turn.as_str() {
        "on" => true,
        "off" => false,
        _ => return Err("Say whether it shall be on or off."),
    };
    Ok(switch::Turn { scope, name, enabled, reason: reason(&form.reason)? })
}

/// One of the choices on the page.
fn what(visit: &Visit, who: &Identity, chosen: &str) -> Result<(Scope, String), &'static str> {
    let pair = chosen.split_once(':').and_then(|(scope, name)| Some((Scope::parse(scope)?, name.to_owned())));
    pair.filter(|pair| own(visit, who).contains(pair)).ok_or("Choose what is to be turned from the list.")
}

async fn stands_so(visit: &Visit, who: &Identity, wish: &switch::Turn) -> Result<bool> {
    let switches = visit.app.engine.store().switch_list().await.map_err(EngineError::from)?;
    let by = who.actor().to_string();
    let is_same = |s: &effectgate_core::switch::Switch| {
        (s.scope, s.name.as_str(), s.enabled) == (wish.scope, wish.name.as_str(), wish.enabled)
            && (s.by.as_str(), s.reason.as_str()) == (by.as_str(), wish.reason.as_str())
    };
    Ok(switches.iter().any(is_same))
}

pub(crate) async fn drill(Sent(Entitled { visit, who, .. }, request): Sent<Turn>) -> Response {
    let form: TurnForm = match posted(&visit, request, DRILL).await {
        Ok(form) => form,
        Err(response) => return response,
    };
    let (scope, name) = match what(&visit, &who, &form.what) {
        Ok(pair) => pair,
        Err(error) => {
            let said = Said { typed: form, error: Some(error), banner: None };
            return page(&visit, &who, said, StatusCode::BAD_REQUEST).await;
        }
    };
    let (engine, tenant, actor) = (visit.app.engine.clone(), who.tenant().clone(), who.actor());
    let drilled = tokio::spawn(async move { engine.drill(&tenant, &actor, scope, &name).await }).await;
    match drilled {
        Ok(Ok(Drill { entry, .. })) => answer::see(&format!("/switches/drills/{entry}")),
        Ok(Err(error)) => answer::problem(&error.into(), Some(&visit)),
        Err(error) => answer::problem(&Problem::internal(&error), Some(&visit)),
    }
}
