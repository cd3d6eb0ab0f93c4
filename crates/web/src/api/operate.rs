//! What operators do: cancel and resolve an effect, release and close a quarantined run. Each wants a reason.

use axum::extract::State;
use effectgate_core::{
    approval::REASON_CHARS_MAX,
    ids::{EffectId, RunId},
    operate::Resolution,
};
use effectgate_engine::{
    act::{Act, Acted},
    view::RunView,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Reply, detached, inline::EXTERNAL_ID_CHARS_MAX, may_touch};
use crate::{
    app::App,
    auth::{
        Identity,
        allowed::{Allowed, Operate, OrPerson},
    },
    problem::{Code, Problem, Result},
    request::{Body, Id, Wire, text},
};

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"reason": "the customer called it off"}))]
pub(crate) struct ReasonRequest {
    #[serde(default)]
    pub reason: String,
}

impl Wire for ReasonRequest {}

/// A person's word on an effect whose outcome is not known.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"verdict": "did_not_happen", "then": "send_again", "fence": 1, "reason": "not in the outbox of the mail host"}))]
pub(crate) struct ResolveRequest {
    verdict: Verdict,
    /// With `did_not_happen`.
    then: Option<Then>,
    /// With `happened`: the provider's id.
    external_id: Option<String>,
    /// The effect's fence as it was read. With it the same word twice is one act, and a word on an attempt that is not
    /// the last one any more does nothing.
    fence: Option<i64>,
    #[serde(default)]
    reason: String,
}

impl Wire for ResolveRequest {}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Verdict {
    Happened,
    DidNotHappen,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Then {
    SendAgain,
    Cancel,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RunAnswer {
    pub run: RunView,
}

/// Cancel an effect that has not left.
///
/// Operators may as long as it has not left. Within its cancel window (state `scheduled`) a signed-in person may who is
/// in the audience of the run's approval, or of the flow's where no approval was needed.
#[utoipa::path(post, path = "/v1/effects/{id}/cancel", operation_id = "cancel_effect", tag = "effects", request_body = ReasonRequest,
    params(("id" = String, Path, description = "The effect")),
    responses((status = 200, description = "Cancelled", body = RunAnswer)))]
pub(crate) async fn cancel(
    State(app): State<App>,
    OrPerson { who, .. }: OrPerson<Operate>,
    Id(effect): Id<EffectId>,
    body: Body<ReasonRequest>,
) -> Result<Reply> {
    let reason = reason(body.value.reason)?;
    may_touch(&app, &who, effect.run).await?;
    detached(async move {
        let run = app.engine.cancel(who.tenant(), effect, &who.asker(), &reason).await?;
        Ok(Reply::ok(&RunAnswer { run }))
    })
    .await
}

/// Settle an effect whose outcome is not known, on a person's word.
///
/// `happened` completes it; `did_not_happen` with `then: send_again` makes one more attempt with the same provider key,
/// with `then: cancel` ends it. A program that may repeat the call names `fence`: "send again" twice is then one attempt,
/// also where the first was lost in between.
#[utoipa::path(post, path = "/v1/effects/{id}/resolve", operation_id = "resolve_effect", tag = "effects", request_body = ResolveRequest,
    params(("id" = String, Path, description = "The effect")),
    responses((status = 200, description = "Settled", body = RunAnswer)))]
pub(crate) async fn resolve(
    State(app): State<App>,
    Allowed { who, .. }: Allowed<Operate>,
    Id(effect): Id<EffectId>,
    body: Body<ResolveRequest>,
) -> Result<Reply> {
    let ResolveRequest { verdict, then, external_id, fence, reason: given } = body.value;
    text(external_id.as_deref().unwrap_or_default(), EXTERNAL_ID_CHARS_MAX, "/external_id")?;
    let (resolution, reason) = (resolution(verdict, then, external_id)?, reason(given)?);
    may_touch(&app, &who, effect.run).await?;
    detached(async move {
        let run = match fence {
            Some(fence) => resolve_seen(&app, &who, effect, resolution, &reason, fence).await?,
            None => app.engine.resolve(who.tenant(), effect, &who.actor(), &resolution, &reason).await?,
        };
        Ok(Reply::ok(&RunAnswer { run }))
    })
    .await
}

/// The word on one attempt.
async fn resolve_seen(
    app: &App,
    who: &Identity,
    effect: EffectId,
    resolution: Resolution,
    reason: &str,
    fence: i64,
) -> Result<RunView> {
    let (tenant, act) = (who.tenant(), Act::Resolve(effect, resolution));
    let acted = app.engine.act(tenant, effect.run, &who.actor(), &act, reason, fence).await?;
    let run = app.engine.run(tenant, effect.run).await?;
    match acted {
        Acted::Done | Acted::Repeated => Ok(run),
        Acted::Moved => {
            let said = "it was tried again or settled since it had this fence; nothing was done";
            Err(Problem::new(Code::WrongState, said).with("run", &run))
        }
    }
}

fn resolution(verdict: Verdict, then: Option<Then>, external_id: Option<String>) -> Result<Resolution> {
    let bad = |said: &str, pointer: &str| Err(Problem::new(Code::BadMember, said).at(pointer));
    match (verdict, then, external_id) {
        (Verdict::Happened, None, external_id) => Ok(Resolution::Happened { external_id }),
        (Verdict::Happened, Some(_), _) => bad("what happened is not sent again and not cancelled", "/then"),
        (Verdict::DidNotHappen, _, Some(_)) => bad("what did not happen has no external id", "/external_id"),
        (Verdict::DidNotHappen, Some(Then::SendAgain), None) => Ok(Resolution::SendAgain),
        (Verdict::DidNotHappen, Some(Then::Cancel), None) => Ok(Resolution::Cancel),
        (Verdict::DidNotHappen, None, None) => {
            Err(Problem::new(Code::MissingMember, "then must say send_again or cancel").at("/then"))
        }
    }
}

/// Put a quarantined run back into the queue.
#[utoipa::path(post, path = "/v1/runs/{id}/release", operation_id = "release_run", tag = "runs", request_body = ReasonRequest,
    params(("id" = String, Path, description = "The run")),
    responses((status = 200, description = "Queued again", body = RunAnswer)))]
pub(crate) async fn release(
    State(app): State<App>,
    Allowed { who, .. }: Allowed<Operate>,
    Id(run): Id<RunId>,
    body: Body<ReasonRequest>,
) -> Result<Reply> {
    let reason = reason(body.value.reason)?;
    may_touch(&app, &who, run).await?;
    detached(async move {
        let run = app.engine.release(who.tenant(), run, &who.actor(), &reason).await?;
        Ok(Reply::ok(&RunAnswer { run }))
    })
    .await
}

/// End a quarantined run.
#[utoipa::path(post, path = "/v1/runs/{id}/close", operation_id = "close_run", tag = "runs", request_body = ReasonRequest,
    params(("id" = String, Path, description = "The run")),
    responses((status = 200, description = "Ended", body = RunAnswer)))]
pub(crate) async fn close(
    State(app): State<App>,
    Allowed { who, .. }: Allowed<Operate>,
    Id(run): Id<RunId>,
    body: Body<ReasonRequest>,
) -> Result<Reply> {
    let reason = reason(body.value.reason)?;
    may_touch(&app, &who, run).await?;
    detached(async move {
        let run = app.engine.close(who.tenant(), run, &who.actor(), &reason).await?;
        Ok(Reply::ok(&RunAnswer { run }))
    })
    .await
}

/// A reason that can be kept; the engine asks that there is one.
pub(crate) fn reason(given: String) -> Result<String> {
    if given.chars().count() > REASON_CHARS_MAX {
        let said = format!("a reason has at most {REASON_CHARS_MAX} characters");
        return Err(Problem::new(Code::ReasonTooLong, said).at("/reason"));
    }
    text(&given, REASON_CHARS_MAX, "/reason")?;
    Ok(given)
}
