//! The API way to decide, for signed-in people only, and to take a question back. Journey (b) passes through here as it
//! passes through the page: both call the engine's one function. Reading approvals is `approvals.rs`.

use axum::extract::State;
use effectgate_core::{
    approval::{EditedEffect, Verdict, Wish},
    digest::Digest,
    ids::ApprovalId,
};
use effectgate_engine::view::RunView;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{
    Reply, detached, may_touch,
    operate::{self, ReasonRequest},
    proposal::EffectAsked,
};
use crate::{
    app::App,
    auth::allowed::{Deciding, Operate, OrPerson},
    problem::{Code, Problem, Result},
    request::{Body, Id, Wire},
};

/// A decision. `effects` belongs to `edit`: every effect as shown, with other payloads.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"decision": "approve", "effects_hash": "sha256:…"}))]
pub(crate) struct DecideRequest {
    decision: Choice,
    /// As it was shown; if the effects are others now, nothing is decided.
    effects_hash: String,
    /// Required to reject.
    reason: Option<String>,
    /// With `edit`: all effects in the order shown. Payloads may change; number, order, types and targets stay.
    effects: Option<Vec<EffectAsked>>,
}

impl Wire for DecideRequest {}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Choice {
    Approve,
    Reject,
    /// Edit and approve.
    Edit,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DecideAnswer {
    /// `approve`, `reject` or `edit`.
    decision: &'static str,
    repeated: bool,
    run: RunView,
}

/// Decide an approval, as a signed-in person.
///
/// Wants the session's cookie and the header `Effectgate-Csrf: 1`; an API key cannot decide, whatever its scopes.
/// `edit` is edit and approve: the effects get a new hash, earlier approvals do not count any more, and unless the flow
/// waives it, somebody who edited nothing has to approve too.
#[utoipa::path(post, path = "/v1/approvals/{id}/decide", operation_id = "decide", tag = "approvals", request_body = DecideRequest,
    params(("id" = String, Path, description = "The approval")),
    responses((status = 200, description = "Decided", body = DecideAnswer)))]
pub(crate) async fn decide(
    State(app): State<App>,
    Deciding(signed_in): Deciding,
    Id(id): Id<ApprovalId>,
    body: Body<DecideRequest>,
) -> Result<Reply> {
    let wish = wish(body.value)?;
    detached(async move {
        let decided = app.engine.decide(&signed_in.tenant, id, &signed_in.person, &wish).await?;
        let decision = wish.verdict.as_str();
        Ok(Reply::ok(&DecideAnswer { decision, repeated: decided.repeated, run: decided.run }))
    })
    .await
}

fn wish(asked: DecideRequest) -> Result<Wish> {
    let verdict = match (asked.decision, &asked.effects) {
        (Choice::Approve, None) => Verdict::Approve,
        (Choice::Reject, None) => Verdict::Reject,
        (Choice::Edit, Some(_)) => Verdict::Edit,
        (Choice::Edit, None) => {
            return Err(Problem::new(Code::MissingMember, "an edit names every effect").at("/effects"));
        }
        (_, Some(_)) => return Err(Problem::new(Code::BadMember, "effects belong to an edit").at("/effects")),
    };
    let digits = asked.effects_hash.strip_prefix("sha256:").unwrap_or(&asked.effects_hash);
    let shown: Digest = digits.parse().map_err(|_| {
        Problem::new(Code::BadMember, "effects_hash is \"sha256:\" and 64 hex digits").at("/effects_hash")
    })?;
    let reason = asked.reason.map(operate::reason).transpose()?;
    let edited = asked.effects.map(|effects| effects.into_iter().map(edited).collect());
    Ok(Wish { verdict, reason, shown, edited })
}

fn edited(effect: EffectAsked) -> EditedEffect {
    let EffectAsked { effect_type, target, payload } = effect;
    EditedEffect { effect_type, target, payload: Box::<str>::from(payload).into_string() }
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WithdrawAnswer {
    repeated: bool,
    run: RunView,
}

/// Take a question back.
///
/// For operators, and for the signed-in person who asked for the run. The approval ends as `withdrawn`, its run as
/// `failed_terminal` with the reason `approval_withdrawn`; nothing goes out.
#[utoipa::path(post, path = "/v1/approvals/{id}/withdraw", operation_id = "withdraw_approval", tag = "approvals", request_body = ReasonRequest,
    params(("id" = String, Path, description = "The approval")),
    responses((status = 200, description = "Withdrawn", body = WithdrawAnswer)))]
pub(crate) async fn withdraw(
    State(app): State<App>,
    OrPerson { who, .. }: OrPerson<Operate>,
    Id(id): Id<ApprovalId>,
    body: Body<ReasonRequest>,
) -> Result<Reply> {
    let reason = operate::reason(body.value.reason)?;
    may_touch(&app, &who, id.run).await?;
    detached(async move {
        let (repeated, run) = app.engine.withdraw(who.tenant(), id, &who.asker(), &reason).await?;
        Ok(Reply::ok(&WithdrawAnswer { repeated, run }))
    })
    .await
}
