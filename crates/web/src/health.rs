//! `/healthz`: the process answers. `/readyz`: the database answers with the schema this binary made, and every worker
//! has ticked lately; else 503 with the reasons. Both without a key: they say nothing of what is inside.

use axum::extract::State;
use effectgate_core::time::Timestamp;
use effectgate_engine::driver::WorkerHealth;
use http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;

use crate::{api::Reply, app::App};

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct HealthAnswer {
    /// `ok`.
    status: &'static str,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ReadyAnswer {
    /// `ready` or `not_ready`.
    status: &'static str,
    /// Why not.
    reasons: Vec<String>,
    workers: Vec<WorkerView>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WorkerView {
    worker: &'static str,
    #[schema(value_type = String)]
    last_tick_at: Timestamp,
    ok: bool,
}

/// The workers that every server runs; where a source delivers there is a deliverer too.
const WORKERS: [&str; 3] = ["dispatcher", "sweeper", "notifier"];
/// A tick that is this many periods late is not late by chance.
const PERIODS: i64 = 5;
/// Backoff of a failing worker reaches 10 s; a tick may take as long as its slowest statement.
const LATE_MS_MIN: i64 = 30_000;

/// Say that the process is alive.
#[utoipa::path(get, path = "/healthz", tag = "health", security(()),
    responses((status = 200, description = "Alive", body = HealthAnswer)))]
pub(crate) async fn healthz() -> Reply {
    Reply::ok(&HealthAnswer { status: "ok" })
}

/// Say whether the process can do its work: database, schema, workers.
#[utoipa::path(get, path = "/readyz", tag = "health", security(()),
    responses(
        (status = 200, description = "Ready", body = ReadyAnswer),
        (status = 503, description = "Not ready, with the reasons", body = ReadyAnswer)))]
pub(crate) async fn readyz(State(app): State<App>) -> Reply {
    let mut reasons = Vec::new();
    if let Err(error) = app.engine.store().health().await {
        tracing::warn!(%error, "not ready: the database does not answer");
        reasons.push("the database does not answer".to_owned());
    }
    let workers = app.engine.nudges().health().workers;
    let (now, late_ms) = (app.engine.now(), late_ms(&app));
    let deliverer = app.engine.delivers().then_some("deliverer");
    reasons.extend(WORKERS.into_iter().chain(deliverer).filter_map(|name| complaint(name, &workers, now, late_ms)));
    let (status, word) =
        if reasons.is_empty() { (StatusCode::OK, "ready") } else { (StatusCode::SERVICE_UNAVAILABLE, "not_ready") };
    let view = |w: WorkerHealth| WorkerView { worker: w.worker, last_tick_at: w.at, ok: w.last.is_ok() };
    Reply::new(status, &ReadyAnswer { status: word, reasons, workers: workers.into_iter().map(view).collect() })
}

fn late_ms(app: &App) -> i64 {
    let policy = app.engine.policy();
    let period = policy.dispatcher.period_ms.max(policy.sweeper.period_ms);
    i64::try_from(period).unwrap_or(i64::MAX).saturating_mul(PERIODS).max(LATE_MS_MIN)
}

fn complaint(name: &str, workers: &[WorkerHealth], now: Timestamp, late_ms: i64) -> Option<String> {
    let Some(worker) = workers.iter().find(|w| w.worker == name) else {
        return Some(format!("the {name} has not ticked yet"));
    };
    if worker.last.is_err() {
        return Some(format!("the {name}'s last tick failed"));
    }
    (now.ms_since(worker.at) > late_ms).then(|| format!("the {name}'s last tick is too long ago"))
}
