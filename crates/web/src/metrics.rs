//! Prometheus metrics of this process: counted as things happen, gauges read from the database at each scrape. Labels
//! are bounded: routes by their pattern, states by their words, never a key or an id.

use std::{
    sync::OnceLock,
    time::{Duration, Instant},
};

use axum::{
    extract::{MatchedPath, Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};
use effectgate_core::{effect::EffectState, run::RunState};
use effectgate_engine::tally::WAIT_METRIC;
use http::{HeaderMap, HeaderValue, Method, header};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};

use crate::{
    app::App,
    auth::allowed::{self, Allowed},
    problem::Result,
};

/// From a cached reservation to a slow database, in seconds.
const BUCKETS: &[f64] = &[0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0];
/// From a glance to a week, in seconds: people answer in minutes, or after the night, or after the weekend.
const WAITS: &[f64] = &[
    10.0, 30.0, 60.0, 300.0, 900.0, 1_800.0, 3_600.0, 7_200.0, 14_400.0, 28_800.0, 57_600.0, 86_400.0, 172_800.0,
    259_200.0, 604_800.0,
];
/// How often old samples are let go.
const UPKEEP: Duration = Duration::from_secs(5);

/// The process's recorder, installed at the first call. A recorder that somebody else installed before keeps counting
/// elsewhere, and this one stays empty.
pub(crate) fn handle() -> &'static PrometheusHandle {
    static HANDLE: OnceLock<PrometheusHandle> = OnceLock::new();
    HANDLE.get_or_init(|| {
        let builder = PrometheusBuilder::new()
            .set_buckets_for_metric(Matcher::Suffix("_seconds".into()), BUCKETS)
            .and_then(|builder| builder.set_buckets_for_metric(Matcher::Full(WAIT_METRIC.into()), WAITS))
            .expect("the lists of buckets are not empty");
        let recorder = builder.build_recorder();
        let handle = recorder.handle();
        if metrics::set_global_recorder(recorder).is_err() {
            tracing::warn!("another metrics recorder is installed; /metrics stays empty");
        }
        handle
    })
}

pub(crate) async fn upkeep() {
    let mut period = tokio::time::interval(UPKEEP);
    loop {
        period.tick().await;
        handle().run_upkeep();
    }
}

/// Counts and times each request by its route, and writes the access log at debug level.
pub(crate) async fn observe(request: Request, next: Next) -> Response {
    let begun = Instant::now();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let method = method(request.method());
    let id = request_id(request.headers());
    let mut response = next.run(request).await;
    let route = route.as_ref().map_or("none", MatchedPath::as_str);
    let (status, took) = (response.status().as_u16(), begun.elapsed());
    let labels = [("method", method.to_owned()), ("route", route.to_owned()), ("status", status.to_string())];
    metrics::counter!("effectgate_http_requests_total", &labels).increment(1);
    metrics::histogram!("effectgate_http_request_seconds", "method" => method, "route" => route.to_owned())
        .record(took.as_secs_f64());
    tracing::debug!(method, route, status, took_us = took.as_micros() as u64, request_id = ?id, "answered");
    if let Some(id) = id {
        response.headers_mut().insert(X_REQUEST_ID, id);
    }
    response
}

const X_REQUEST_ID: header::HeaderName = header::HeaderName::from_static("x-request-id");
const ID_CHARS_MAX: usize = 128;

/// The caller's own request id, given back so that both logs can be held against each other.
fn request_id(headers: &HeaderMap) -> Option<HeaderValue> {
    let id = headers.get(X_REQUEST_ID)?;
    let fits = id.len() <= ID_CHARS_MAX && id.as_bytes().iter().all(u8::is_ascii_graphic);
    fits.then(|| id.clone())
}

/// A method that is no method of ours is one label, whatever it is called.
fn method(method: &Method) -> &'static str {
    match method.as_str() {
        "GET" => "GET",
        "HEAD" => "HEAD",
        "POST" => "POST",
        "PUT" => "PUT",
        "PATCH" => "PATCH",
        "DELETE" => "DELETE",
        "OPTIONS" => "OPTIONS",
        _ => "other",
    }
}

/// GET /metrics with a key of scope auditor.
pub(crate) async fn for_auditors(State(app): State<App>, _: Allowed<allowed::Audit>) -> Result<Response> {
    open(State(app)).await
}

/// GET /metrics where the config opens it.
pub(crate) async fn open(State(app): State<App>) -> Result<Response> {
    app.engine.tally_publish();
    gauges(&app).await?;
    let text = [(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8"))];
    Ok((text, handle().render()).into_response())
}

async fn gauges(app: &App) -> Result<()> {
    let rows = app.engine.store().gauges().await?;
    // A state that has emptied must fall to zero, not stay at its last count.
    for (what, words) in [("run", RunState::WORDS), ("effect", EffectState::WORDS)] {
        for state in words {
            let row = rows.iter().find(|row| row.what == what && row.state == state);
            let (count, oldest_ms) = row.map_or((0, 0), |row| (row.count, row.oldest_ms));
            let labels = [("what", what), ("state", state)];
            metrics::gauge!("effectgate_open", &labels).set(count as f64);
            metrics::gauge!("effectgate_open_oldest_age_ms", &labels).set(oldest_ms as f64);
        }
    }
    for budget in app.engine.budgets_now().await? {
        let Some(used) = budget.used else { continue };
        let of = budget.amount.unwrap_or_else(|| "effects".to_owned());
        let labels = [("scope", budget.whose), ("window_ms", budget.window_ms.to_string()), ("of", of)];
        metrics::gauge!("effectgate_budget_used", &labels).set(used as f64);
        metrics::gauge!("effectgate_budget_left", &labels).set((budget.max - used).max(0) as f64);
    }
    Ok(())
}
