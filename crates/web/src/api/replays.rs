//! Bulk replay: make a plan, look at it, execute it once. Every flag is read strictly: a dry run that was misspelt is
//! refused, never executed.

use axum::extract::State;
use effectgate_core::{
    ids::{FlowName, ReplayId},
    replay::{ReplayFilter, ReplayState},
    time::Timestamp,
};
use effectgate_engine::{
    EngineError,
    replay::{ANY_EVENT_TYPE, PlanRequest, ReplayStanding, ReplayView},
};
use http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{Reply, detached, may_name, operate::reason, reserve::at_flow};
use crate::{
    app::App,
    auth::{
        Identity,
        allowed::{Allowed, Operate, Read},
    },
    problem::{Code, Problem, Result},
    request::{Body, Id, Query, Wire, limit, text},
};

/// A plan to be made. Nothing of the filter may be left out.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "filter": {"flow": "ticket-reply", "event_type": "*", "since": "2026-11-30T00:00:00Z",
        "until": "2026-11-30T12:00:00Z", "state": "failed_retryable"},
    "limit": 200, "reason": "the model was down until noon", "dry_run": true
}))]
pub(crate) struct PlanReplay {
    filter: FilterGiven,
    /// Runs of the plan, 1 to 1000.
    limit: u32,
    #[serde(default)]
    reason: String,
    /// True: only say what a plan would be. Anything but a boolean is refused.
    #[serde(default)]
    dry_run: bool,
}

impl Wire for PlanReplay {}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FilterGiven {
    flow: String,
    /// The event type of the key's parts, or `*` for any.
    event_type: String,
    /// Created at or after, RFC 3339.
    since: String,
    /// Created before, RFC 3339.
    until: String,
    /// `failed_retryable`, `processing` (with a lease that is over), `quarantined`, or `any`.
    state: String,
}

/// Names of flows and event types.
const NAME_CHARS_MAX: usize = 255;

impl FilterGiven {
    fn read(self) -> Result<ReplayFilter> {
        text(&self.flow, NAME_CHARS_MAX, "/filter/flow")?;
        text(&self.event_type, NAME_CHARS_MAX, "/filter/event_type")?;
        let state = ReplayState::parse(&self.state).ok_or_else(|| {
            let words = ReplayState::ALL.map(ReplayState::as_str).join(", ");
            Problem::new(Code::BadMember, format!("state must be one of {words}")).at("/filter/state")
        })?;
        Ok(ReplayFilter {
            flow: FlowName::new(self.flow),
            event_type: (self.event_type != ANY_EVENT_TYPE).then_some(self.event_type),
            since: moment(&self.since, "/filter/since")?,
            until: moment(&self.until, "/filter/until")?,
            state,
        })
    }
}

fn moment(text: &str, pointer: &str) -> Result<Timestamp> {
    text.parse().map_err(|_| Problem::new(Code::BadMember, "a moment by RFC 3339 is wanted").at(pointer))
}

/// Make a replay plan, or only say what one would be.
///
/// `dry_run: true` (200) stores no plan, changes no run and sends nothing; it leaves one entry in the record. Otherwise
/// (201) the plan is kept and may be executed until it expires.
#[utoipa::path(post, path = "/v1/replays", operation_id = "plan_replay", tag = "replays", request_body = PlanReplay,
    responses(
        (status = 200, description = "The dry run's report", body = ReplayView),
        (status = 201, description = "The plan", body = ReplayView)))]
pub(crate) async fn plan(
    State(app): State<App>,
    Allowed { who, .. }: Allowed<Operate>,
    body: Body<PlanReplay>,
) -> Result<Reply> {
    let PlanReplay { filter, limit, reason: given, dry_run } = body.value;
    may_name(&who, &filter.flow).map_err(|problem| problem.at("/filter/flow"))?;
    let request = PlanRequest { filter: filter.read()?, limit, reason: reason(given)?, dry_run };
    detached(async move {
        let planned = app.engine.replay_plan(who.tenant(), &who.actor(), request).await;
        let plan = planned.map_err(at_filter)?;
        Ok(Reply::new(if plan.dry_run { StatusCode::OK } else { StatusCode::CREATED }, &plan))
    })
    .await
}

fn at_filter(error: EngineError) -> Problem {
    let unknown = matches!(error, EngineError::UnknownFlow);
    let problem = at_flow(error);
    if unknown { problem.at("/filter/flow") } else { problem }
}

#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ReplayQuery {
    /// `next_cursor` of the page before.
    cursor: Option<String>,
    /// 1 to 200; 50 by default.
    limit: Option<u32>,
}

/// A page of plans, newest first, without their keys.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ReplayList {
    replays: Vec<ReplayView>,
    /// With `cursor=` the next page; null on the last one.
    next_cursor: Option<String>,
}

/// List replay plans.
#[utoipa::path(get, path = "/v1/replays", operation_id = "list_replays", tag = "replays", params(ReplayQuery),
    responses((status = 200, description = "A page, newest first", body = ReplayList)))]
pub(crate) async fn list(
    State(app): State<App>,
    Allowed { who, .. }: Allowed<Read>,
    Query(query): Query<ReplayQuery>,
) -> Result<Reply> {
    let page = app.engine.replay_list(who.tenant(), query.cursor.as_deref(), limit(query.limit)?).await?;
    let replays = page.items.into_iter().filter(|plan| who.may_touch(&plan.filter.flow)).collect();
    Ok(Reply::ok(&ReplayList { replays, next_cursor: page.next }))
}

#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct KeysQuery {
    /// `false` leaves the keys out, for those who only watch the progress; `true` by default.
    keys: Option<bool>,
}

/// Read a replay plan: what was planned, how far it is, and each key before, after and now.
#[utoipa::path(get, path = "/v1/replays/{id}", operation_id = "get_replay", tag = "replays",
    params(("id" = String, Path, description = "The plan"), KeysQuery),
    responses((status = 200, description = "The plan as it stands", body = ReplayView)))]
pub(crate) async fn get(
    State(app): State<App>,
    Allowed { who, .. }: Allowed<Read>,
    Id(id): Id<ReplayId>,
    Query(query): Query<KeysQuery>,
) -> Result<Reply> {
    may_see(&app, &who, id).await?;
    Ok(Reply::ok(&app.engine.replay_find(who.tenant(), id, query.keys.unwrap_or(true)).await?))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"reason": "looked at with the support lead"}))]
pub(crate) struct ExecuteReplay {
    /// Written into each run's record; left out, the plan's.
    #[serde(default)]
    reason: String,
}

impl Wire for ExecuteReplay {}

/// Execute a replay plan.
///
/// Runs in the background, item by item; 202 while it runs, 200 when it has ended. What changed since the plan is
/// skipped. Executing it again creates nothing: the same report comes back, and what was cut off goes on.
#[utoipa::path(post, path = "/v1/replays/{id}/execute", operation_id = "execute_replay", tag = "replays",
    request_body = ExecuteReplay, params(("id" = String, Path, description = "The plan")),
    responses(
        (status = 200, description = "It has ended: the report", body = ReplayView),
        (status = 202, description = "It runs: how far it is", body = ReplayView)))]
pub(crate) async fn execute(
    State(app): State<App>,
    Allowed { who, .. }: Allowed<Operate>,
    Id(id): Id<ReplayId>,
    body: Body<ExecuteReplay>,
) -> Result<Reply> {
    let reason = reason(body.value.reason)?;
    may_see(&app, &who, id).await?;
    detached(async move {
        let report = app.engine.replay_execute(who.tenant(), &who.actor(), id, Some(&reason)).await?;
        let has_ended = report.state == ReplayStanding::Done;
        Ok(Reply::new(if has_ended { StatusCode::OK } else { StatusCode::ACCEPTED }, &report))
    })
    .await
}

/// A plan of a flow that the caller may not touch is not there for this caller.
async fn may_see(app: &App, who: &Identity, id: ReplayId) -> Result<()> {
    if !who.is_restricted() {
        return Ok(());
    }
    let plan = app.engine.replay_find(who.tenant(), id, false).await?;
    if who.may_touch(&plan.filter.flow) {
        Ok(())
    } else {
        Err(Problem::new(Code::NotFound, "there is no replay of this id"))
    }
}
