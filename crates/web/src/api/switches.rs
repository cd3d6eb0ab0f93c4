//! GET and PUT /v1/switches: the kill switch. POST /v1/switches/drill: what it would hold, without turning it.

use axum::extract::State;
use effectgate_core::{
    switch::{Receipt, Scope, Switch},
    time::Timestamp,
};
use effectgate_engine::{
    drill::Drill,
    switch::{Turn, Turned},
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Reply, detached, operate};
use crate::{
    app::App,
    auth::{
        Identity,
        allowed::{Allowed, Read, Turn as MayTurn},
        switching,
    },
    problem::Result,
    request::{Body, Wire, text},
};

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"scope": "provider", "name": "crm", "enabled": false, "reason": "wrong prices in the price list"}))]
pub(crate) struct TurnRequest {
    /// `all`, `tenant`, `flow`, `provider` or `effect_type`.
    #[schema(value_type = String)]
    scope: Scope,
    /// What of that scope; left out for `all`.
    #[serde(default)]
    name: String,
    enabled: bool,
    #[serde(default)]
    reason: String,
}

impl Wire for TurnRequest {}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SwitchList {
    switches: Vec<SwitchView>,
    /// With PUT: what stood where at the moment of the turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    receipt: Option<ReceiptView>,
}

/// One switch as it stands. What is not listed was never turned, and does not stop anything.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SwitchView {
    scope: &'static str,
    name: String,
    enabled: bool,
    reason: String,
    by: String,
    #[schema(value_type = String)]
    at: Timestamp,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ReceiptView {
    queued: i64,
    scheduled: i64,
    leased: i64,
    in_flight: i64,
    awaiting: i64,
}

/// Read the switches.
#[utoipa::path(get, path = "/v1/switches", operation_id = "list_switches", tag = "switches",
    responses((status = 200, description = "Every switch that was ever turned, and the ceiling", body = SwitchList)))]
pub(crate) async fn list(State(app): State<App>, Allowed { who, .. }: Allowed<Read>) -> Result<Reply> {
    Ok(Reply::ok(&SwitchList { switches: views(&app, &who, app.engine.switches().await), receipt: None }))
}

/// Turn a switch.
///
/// After "off" is answered no new request leaves for the scope, on any replica; what is on the wire ends and is recorded.
#[utoipa::path(put, path = "/v1/switches", operation_id = "turn_switch", tag = "switches", request_body = TurnRequest,
    responses((status = 200, description = "Turned, with a receipt", body = SwitchList)))]
pub(crate) async fn turn(
    State(app): State<App>,
    Allowed { who, .. }: Allowed<MayTurn>,
    body: Body<TurnRequest>,
) -> Result<Reply> {
    let TurnRequest { scope, name, enabled, reason } = body.value;
    text(&name, NAME_CHARS_MAX, "/name")?;
    switching::may_turn(&app, &who, scope, &name)?;
    let turn = Turn { scope, name, enabled, reason: operate::reason(reason)? };
    detached(async move {
        let Turned { switches, receipt, .. } = app.engine.turn_switch(who.tenant(), &who.actor(), &turn).await?;
        Ok(Reply::ok(&SwitchList { switches: views(&app, &who, switches), receipt: Some(receipt.into()) }))
    })
    .await
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"scope": "provider", "name": "crm"}))]
pub(crate) struct DrillRequest {
    /// `all`, `tenant`, `flow`, `provider` or `effect_type`.
    #[schema(value_type = String)]
    scope: Scope,
    /// What of that scope; left out for `all`.
    #[serde(default)]
    name: String,
}

impl Wire for DrillRequest {}

/// Drill a switch.
///
/// Says what turning it off would hold back now: each open effect is put to the dispatcher's own question, with this
/// switch off. Nothing is turned and nothing is held; the counts go into the journal.
#[utoipa::path(post, path = "/v1/switches/drill", operation_id = "drill_switch", tag = "switches", request_body = DrillRequest,
    responses((status = 200, description = "What it would hold", body = Drill)))]
pub(crate) async fn drill(
    State(app): State<App>,
    Allowed { who, .. }: Allowed<MayTurn>,
    body: Body<DrillRequest>,
) -> Result<Reply> {
    let DrillRequest { scope, name } = body.value;
    text(&name, NAME_CHARS_MAX, "/name")?;
    switching::may_turn(&app, &who, scope, &name)?;
    detached(async move { Ok(Reply::ok(&app.engine.drill(who.tenant(), &who.actor(), scope, &name).await?)) }).await
}

/// Names of flows, providers and tenants.
const NAME_CHARS_MAX: usize = 200;

fn views(app: &App, who: &Identity, switches: Vec<Switch>) -> Vec<SwitchView> {
    let view = |s: Switch| SwitchView {
        scope: s.scope.as_str(),
        name: s.name,
        enabled: s.enabled,
        reason: s.reason,
        by: s.by,
        at: s.at,
    };
    switches.into_iter().filter(|s| switching::may_see(app, who, s)).map(view).collect()
}

impl From<Receipt> for ReceiptView {
    fn from(r: Receipt) -> Self {
        Self {
            queued: r.queued,
            scheduled: r.scheduled,
            leased: r.leased,
            in_flight: r.in_flight,
            awaiting: r.awaiting,
        }
    }
}
