//! Approvals: find and read. Deciding has a file of its own.

use axum::extract::State;
use effectgate_core::{approval::ApprovalState, ids::ApprovalId};
use effectgate_engine::{
    EngineError,
    view::{self, ApprovalView, RunView},
};
use effectgate_store::ApprovalFilter;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::{IntoParams, ToSchema};

use super::{Reply, may_touch};
use crate::{
    app::App,
    auth::allowed::{Allowed, ReadApprovals},
    problem::{Code, Problem, Result},
    request::{Id, Query, limit},
};

#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ApprovalQuery {
    state: Option<String>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
    /// 1 to 200; 50 by default.
    limit: Option<u32>,
}

/// A page of approvals; open ones by their expiry.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ApprovalList {
    approvals: Vec<ApprovalItem>,
    next_cursor: Option<String>,
}

/// An approval with its run's bearings.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ApprovalItem {
    #[serde(flatten)]
    approval: ApprovalView,
    flow: String,
    key: String,
}

/// An approval with what it is about.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ApprovalDetail {
    #[serde(flatten)]
    approval: ApprovalView,
    /// Why a person is asked.
    why: Vec<String>,
    /// The effects as they would go out; `effects_hash` is over exactly these.
    effects: Vec<ProposedView>,
    run: RunView,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ProposedView {
    #[serde(rename = "type")]
    effect_type: String,
    target: String,
    provider: String,
    impact: String,
    gate: String,
    #[schema(value_type = Object)]
    payload: Option<Box<RawValue>>,
}

/// Find approvals.
#[utoipa::path(get, path = "/v1/approvals", operation_id = "find_approvals", tag = "approvals", params(ApprovalQuery),
    responses((status = 200, description = "A page; open ones by their expiry", body = ApprovalList)))]
pub(crate) async fn find(
    State(app): State<App>,
    Allowed { who, .. }: Allowed<ReadApprovals>,
    Query(query): Query<ApprovalQuery>,
) -> Result<Reply> {
    if let Some(state) = &query.state
        && ApprovalState::parse(state).is_none()
    {
        let words: Vec<&str> = ApprovalState::ALL.into_iter().map(ApprovalState::as_str).collect();
        return Err(Problem::new(Code::BadParameter, format!("state must be one of {}", words.join(", "))));
    }
    let filter = ApprovalFilter { state: query.state, cursor: query.cursor, limit: limit(query.limit)? };
    let page = app.engine.store().approval_find(who.tenant(), &filter).await?;
    let seen = page.items.into_iter().filter(|item| who.may_touch(item.run.flow.as_str()));
    let approvals = seen.map(|item| ApprovalItem {
        approval: view::approval_view(&item.approval),
        flow: item.run.flow.as_str().to_owned(),
        key: item.run.key,
    });
    Ok(Reply::ok(&ApprovalList { approvals: approvals.collect(), next_cursor: page.next }))
}

/// Read an approval with the effects it is about.
#[utoipa::path(get, path = "/v1/approvals/{id}", operation_id = "get_approval", tag = "approvals",
    params(("id" = String, Path, description = "The approval")),
    responses((status = 200, description = "The approval as it is now", body = ApprovalDetail)))]
pub(crate) async fn get(
    State(app): State<App>,
    Allowed { who, .. }: Allowed<ReadApprovals>,
    Id(id): Id<ApprovalId>,
) -> Result<Reply> {
    may_touch(&app, &who, id.run).await?;
    let absent = || EngineError::NotFound("approval");
    let agg = app.engine.store().run_load(who.tenant(), id.run).await?.ok_or_else(absent)?;
    let approval = agg.approvals.iter().find(|a| a.id == id).ok_or_else(absent)?;
    let effects = approval.proposed.iter().map(|p| ProposedView {
        effect_type: p.effect_type.as_str().to_owned(),
        target: p.target.clone(),
        provider: p.provider.as_str().to_owned(),
        impact: p.impact.clone(),
        gate: p.gate.clone(),
        payload: RawValue::from_string(p.payload.clone()).ok(),
    });
    Ok(Reply::ok(&ApprovalDetail {
        approval: view::approval_view(approval),
        why: approval.terms.why.clone(),
        effects: effects.collect(),
        run: app.engine.view(&agg).await?,
    }))
}
