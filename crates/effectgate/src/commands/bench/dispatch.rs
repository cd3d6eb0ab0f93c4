//! The dispatch workload: workers queue effects while the switch is off, it is turned on, and what is measured is what
//! arrives at a local provider. Each effect has its attempt row, its settlement and their journal entries, all committed.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use effectgate_certify::far::Provider;
use serde_json::{Value, json};
use tokio::{task::JoinSet, time::timeout};

use super::{
    load::{Figures, Pressure, percentile},
    process,
    wire::Conn,
    work::{Ask, owner, post, reservation},
};
use crate::exit::{Failure, Result};

/// A kilobyte, as an ordinary mail or note has.
const TEXT_BYTES: usize = 1_000;
/// How long effects may arrive after the last was queued.
const DRAIN_MAX: Duration = Duration::from_secs(60);

/// Effects queued by one connection: target and the moment of the answer, which comes after the commit.
type Queued = Vec<(String, Instant)>;

/// Two figures of one server. The rate: effects that were queued while the switch was off, from the turn to the last
/// arrival. The times: effects queued one after the other on a server that is otherwise idle, from the answer to the
/// arrival.
///
/// # Errors
/// A connection that broke, an answer that is not the wanted one, effects that do not arrive.
pub(super) async fn run(pressure: &Pressure, provider: &Provider) -> Result<Figures> {
    let arrived_before = provider.executed("");
    let mut operator = Conn::open(&pressure.host, &pressure.key).await?;
    turn(&mut operator, false).await?;
    let queued = queue_all(pressure, "held", pressure.connections, pressure.seconds).await?;
    let before = pressure.server.and_then(process::used);
    let begun = Instant::now();
    turn(&mut operator, true).await?;
    drain(provider, arrived_before + queued.len()).await?;
    let after = pressure.server.and_then(process::used);
    let ledger = provider.ledger().split_off(arrived_before);
    let last = ledger.iter().map(|e| e.at).max().unwrap_or(begun);
    let took = last.duration_since(begun).as_secs_f64();
    let doubled = ledger.len() - queued.len().min(ledger.len());
    let cpu = before.zip(after).map(|(b, a)| a.cpu_us.saturating_sub(b.cpu_us));
    let waits = wake(pressure, provider).await?;
    Ok(figures(pressure, queued.len(), took, &waits, cpu, after, doubled))
}

async fn turn(operator: &mut Conn, enabled: bool) -> Result {
    let body = json!({ "scope": "all", "enabled": enabled, "reason": "benchmark" }).to_string();
    asked(operator, "PUT", "/v1/switches", &body, 200).await.map(drop)
}

async fn queue_all(
    pressure: &Pressure,
    kind: &'static str,
    connections: usize,
    seconds: u64,
) -> Result<HashMap<String, Instant>> {
    let until = Instant::now() + Duration::from_secs(seconds);
    let mut tasks = JoinSet::new();
    for connection in 0..connections {
        let line = Conn::open(&pressure.host, &pressure.key).await?;
        tasks.spawn(queue(line, kind, connection, until));
    }
    let mut queued = HashMap::new();
    while let Some(joined) = tasks.join_next().await {
        queued.extend(joined.map_err(Failure::failed)??);
    }
    Ok(queued)
}

/// How long an effect takes from the answer that queued it to its arrival, in microseconds, sorted.
async fn wake(pressure: &Pressure, provider: &Provider) -> Result<Vec<u64>> {
    let arrived_before = provider.executed("");
    let queued = queue_all(pressure, "wake", 1, 1).await?;
    drain(provider, arrived_before + queued.len()).await?;
    let ledger = provider.ledger().split_off(arrived_before);
    let mut waits: Vec<u64> = ledger.iter().filter_map(|e| Some(wait(*queued.get(&e.path)?, e.at))).collect();
    waits.sort_unstable();
    Ok(waits)
}

#[expect(clippy::cast_precision_loss, reason = "counts of one run are far below 2^52")]
fn figures(
    pressure: &Pressure,
    effects: usize,
    took: f64,
    waits: &[u64],
    cpu: Option<u64>,
    after: Option<process::Used>,
    doubled: usize,
) -> Figures {
    Figures {
        workload: "dispatch",
        operation: "a queued effect: attempt committed, sent, settled; times are from the answer that queued one to its arrival",
        connections: pressure.connections,
        seconds: took,
        operations: effects as u64,
        per_second: effects as f64 / took.max(f64::EPSILON),
        p50_us: percentile(waits, 50),
        p95_us: percentile(waits, 95),
        p99_us: percentile(waits, 99),
        errors: doubled as u64,
        first_error: (doubled > 0).then(|| "more arrived than were queued".to_owned()),
        server_cpu_us: cpu.map(|us| us as f64 / effects.max(1) as f64),
        server_resident_kb: after.map(|a| a.resident_kb),
        server_resident_kb_max: after.map(|a| a.resident_kb_max),
        own: [("timed", json!(waits.len()))].into_iter().collect(),
    }
}

/// An effect may arrive before the answer that it was queued has been read; that is no wait.
fn wait(queued: Instant, arrived: Instant) -> u64 {
    u64::try_from(arrived.saturating_duration_since(queued).as_micros()).unwrap_or(u64::MAX)
}

async fn queue(mut line: Conn, kind: &'static str, connection: usize, until: Instant) -> Result<Queued> {
    let mut queued = Queued::new();
    for n in 0.. {
        if Instant::now() >= until {
            break;
        }
        let number = connection as u64 * 1_000_000_000 + n;
        let Ask { method, path, body } = post("/v1/runs", &reservation(kind, number, connection));
        let granted = asked(&mut line, method, &path, &body, 201).await?;
        let id = granted["run"]["id"].as_str().unwrap_or_default().to_owned();
        let Ask { method, path, body } = post(&format!("/v1/runs/{id}/proposal"), &proposal(&granted, connection, &id));
        asked(&mut line, method, &path, &body, 200).await?;
        queued.push((format!("/notes/{id}"), Instant::now()));
    }
    Ok(queued)
}

fn proposal(granted: &Value, connection: usize, target: &str) -> Value {
    json!({ "owner": owner(connection), "fence": granted["lease"]["fence"], "output": { "label": "note" },
        "effects": [{ "type": "note", "target": target, "payload": { "text": "x".repeat(TEXT_BYTES) } }] })
}

async fn asked(line: &mut Conn, method: &str, path: &str, body: &str, wanted: u16) -> Result<Value> {
    let answer = line.call(method, path, body).await?;
    if answer.status != wanted {
        let text = String::from_utf8_lossy(answer.body);
        return Err(Failure::failed(format!("{method} {path}: {} {text}", answer.status)));
    }
    serde_json::from_slice(answer.body).map_err(Failure::failed)
}

async fn drain(provider: &Provider, wanted: usize) -> Result {
    let mut counter = provider.counter();
    let drained = timeout(DRAIN_MAX, counter.wait_for(|arrived| *arrived >= wanted)).await.is_ok();
    let arrived = *counter.borrow();
    if drained { Ok(()) } else { Err(Failure::failed(format!("{arrived} of {wanted} effects arrived"))) }
}
