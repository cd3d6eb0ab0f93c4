//! Asking a provider what became of an effect: the same question as the button on the review desk. It writes nothing
//! over there, and changes nothing here but the record.

use axum::extract::State;
use effectgate_core::ids::EffectId;
use effectgate_engine::{
    ask::{Asked, Told},
    view::EffectView,
};
use serde::Serialize;
use utoipa::ToSchema;

use super::{Reply, detached, may_touch};
use crate::{
    app::App,
    auth::{
        Identity,
        allowed::{Allowed, Operate},
    },
    problem::Result,
    request::Id,
};

/// What the provider said, what it means for the effect as it stands, and what to do now.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"answer": "looked", "look": {"at": "2026-03-02T09:12:44.018Z", "said": "found",
    "external_id": "re_81", "count": null, "detail": null, "means": "happened"},
    "text": "It happened. Settle it as happened, with this id.", "effect": {"id": "eff_…", "state": "review"}}))]
pub(crate) struct LookAnswer {
    /// `looked`; `just_now` (somebody asked a moment ago, that answer stands); `no_lookup` (this provider cannot be
    /// asked from here); `nothing_sent` (no attempt was ever made).
    answer: &'static str,
    look: Option<Told>,
    /// For a person: what it means, and what to do now.
    text: String,
    /// As it is now. A look settles nothing.
    effect: EffectView,
}

/// Ask the provider what became of an effect.
///
/// The declared lookup is asked now, whatever state the effect is in; it never writes over there. The answer is
/// recorded. It settles nothing: that is `resolve`, on a person's word, or the reconciler's at its own time. An answer
/// that contradicts what is on record is told to people, and changes nothing.
#[utoipa::path(post, path = "/v1/effects/{id}/look", operation_id = "look_effect", tag = "effects",
    params(("id" = String, Path, description = "The effect")),
    responses((status = 200, description = "What it said, or why nobody was asked", body = LookAnswer)))]
pub(crate) async fn look(
    State(app): State<App>,
    Allowed { who, .. }: Allowed<Operate>,
    Id(effect): Id<EffectId>,
) -> Result<Reply> {
    may_touch(&app, &who, effect.run).await?;
    detached(async move {
        let asked = app.engine.ask_provider(who.tenant(), effect, &who.actor()).await?;
        Ok(Reply::ok(&answer(&app, &who, effect, asked).await?))
    })
    .await
}

async fn answer(app: &App, who: &Identity, id: EffectId, asked: Asked) -> Result<LookAnswer> {
    let (answer, look) = match asked {
        Asked::Looked(told) => ("looked", Some(told)),
        Asked::JustNow(told) => ("just_now", Some(told)),
        Asked::NoLookup => ("no_lookup", None),
        Asked::NothingSent => ("nothing_sent", None),
    };
    let text = app.engine.advice(who.tenant(), id, look.as_ref()).await?;
    Ok(LookAnswer { answer, look, text, effect: app.engine.effect(who.tenant(), id).await? })
}
