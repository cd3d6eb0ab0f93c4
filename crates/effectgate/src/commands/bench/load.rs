//! Runs one workload: so many connections, each with one request after the other, for so long; then what came of it.

use std::{
    io,
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use serde::Serialize;
use tokio::task::JoinSet;

use super::{
    process::{self, Used},
    wire::Conn,
    work::{Ask, Work},
};
use crate::exit::{Failure, Result};

/// How hard and how long.
#[derive(Debug, Clone)]
pub(super) struct Pressure {
    pub(super) host: String,
    pub(super) key: String,
    pub(super) connections: usize,
    pub(super) seconds: u64,
    /// The server's process, where it is a child of this one.
    pub(super) server: Option<u32>,
}

/// What one workload came to. Times of an operation are from its first byte to its whole answer.
#[derive(Debug, Serialize)]
pub(super) struct Figures {
    pub(super) workload: &'static str,
    /// What one operation is.
    pub(super) operation: &'static str,
    pub(super) connections: usize,
    pub(super) seconds: f64,
    pub(super) operations: u64,
    pub(super) per_second: f64,
    pub(super) p50_us: u64,
    pub(super) p95_us: u64,
    pub(super) p99_us: u64,
    /// Answers that were not what the workload should get.
    pub(super) errors: u64,
    /// The first of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) first_error: Option<String>,
    /// CPU time of the server for one operation; absent if the server is not a child.
    pub(super) server_cpu_us: Option<f64>,
    pub(super) server_resident_kb: Option<u64>,
    pub(super) server_resident_kb_max: Option<u64>,
    /// Counts of the workload's own, such as how many keys were won.
    #[serde(flatten)]
    pub(super) own: std::collections::BTreeMap<&'static str, serde_json::Value>,
}

/// What one connection saw.
#[derive(Default)]
struct Seen {
    times_us: Vec<u64>,
    won: u64,
    errors: u64,
    first_error: Option<String>,
}

/// Runs a workload and measures it.
///
/// # Errors
/// A connection that could not be opened or broke: figures over fewer connections than asked for would be wrong.
pub(super) async fn run(pressure: &Pressure, work: &'static Work) -> Result<Figures> {
    let lines = connect(pressure).await?;
    let before = pressure.server.and_then(process::used);
    let begun = Instant::now();
    let until = begun + Duration::from_secs(pressure.seconds);
    let mut tasks = JoinSet::new();
    for (n, line) in lines.into_iter().enumerate() {
        tasks.spawn(drive(line, work, n, until));
    }
    let mut all = Seen::default();
    while let Some(joined) = tasks.join_next().await {
        let seen = joined.map_err(Failure::failed)?;
        let seen = seen.map_err(|e| Failure::failed(format!("a connection broke: {e}")))?;
        all.add(seen);
    }
    let took = begun.elapsed();
    Ok(figures(pressure, work, all, took, before))
}

async fn connect(pressure: &Pressure) -> Result<Vec<Conn>> {
    let mut lines = Vec::new();
    for _ in 0..pressure.connections {
        let opened = Conn::open(&pressure.host, &pressure.key).await;
        lines.push(opened.map_err(|e| Failure::failed(format!("{}: {e}", pressure.host)))?);
    }
    Ok(lines)
}

async fn drive(mut line: Conn, work: &Work, connection: usize, until: Instant) -> io::Result<Seen> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let mut seen = Seen::default();
    while Instant::now() < until {
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        let begun = Instant::now();
        let done = operation(&mut line, work, connection, n).await?;
        seen.times_us.push(u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX));
        seen.note(done);
    }
    Ok(seen)
}

/// One operation: each request in turn, as long as the answers are what they should be.
async fn operation(line: &mut Conn, work: &Work, connection: usize, n: u64) -> io::Result<Result<bool, String>> {
    let mut won = false;
    let mut before: Vec<u8> = Vec::new();
    for step in work.steps {
        let Ask { method, path, body } = step.ask(connection, n, &before);
        let answer = line.call(method, &path, &body).await?;
        if !step.statuses.contains(&answer.status) {
            let text = String::from_utf8_lossy(answer.body).into_owned();
            return Ok(Err(format!("{method} {path}: {} {text}", answer.status)));
        }
        // A batch says how each of its items fared.
        if contains(answer.body, b"\"status\":4") || contains(answer.body, b"\"status\":5") {
            return Ok(Err(format!("{method} {path}: an item was refused")));
        }
        won |= answer.status == 201 && !contains(answer.body, b"\"repeated\":true");
        before = answer.body.to_vec();
    }
    Ok(Ok(won))
}

fn contains(body: &[u8], what: &[u8]) -> bool {
    body.windows(what.len()).any(|w| w == what)
}

impl Seen {
    fn note(&mut self, done: Result<bool, String>) {
        match done {
            Ok(won) => self.won += u64::from(won),
            Err(error) => {
                self.errors += 1;
                self.first_error.get_or_insert(error);
            }
        }
    }

    fn add(&mut self, other: Self) {
        self.times_us.extend(other.times_us);
        self.won += other.won;
        self.errors += other.errors;
        self.first_error = self.first_error.take().or(other.first_error);
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of one run are far below 2^52")]
fn figures(pressure: &Pressure, work: &Work, mut seen: Seen, took: Duration, before: Option<Used>) -> Figures {
    seen.times_us.sort_unstable();
    let operations = seen.times_us.len() as u64 * work.batch;
    let after = pressure.server.and_then(process::used);
    let cpu = before.zip(after).map(|(b, a)| a.cpu_us.saturating_sub(b.cpu_us));
    Figures {
        workload: work.name,
        operation: work.operation,
        connections: pressure.connections,
        seconds: took.as_secs_f64(),
        operations,
        per_second: operations as f64 / took.as_secs_f64(),
        p50_us: percentile(&seen.times_us, 50),
        p95_us: percentile(&seen.times_us, 95),
        p99_us: percentile(&seen.times_us, 99),
        errors: seen.errors,
        first_error: seen.first_error,
        server_cpu_us: cpu.map(|us| us as f64 / operations.max(1) as f64),
        server_resident_kb: after.map(|a| a.resident_kb),
        server_resident_kb_max: after.map(|a| a.resident_kb_max),
        own: work.counts_wins.then(|| ("won", serde_json::json!(seen.won))).into_iter().collect(),
    }
}

/// The smallest time that `percent` of all operations did not exceed (nearest rank); 0 without any.
pub(super) fn percentile(sorted: &[u64], percent: usize) -> u64 {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_a_time_that_was_measured() {
        let times: Vec<u64> = (1..=10).collect();

        assert_eq!([50, 95, 99, 100].map(|p| percentile(&times, p)), [5, 10, 10, 10]);
        assert_eq!(percentile(&[], 50), 0);
        assert_eq!(percentile(&[7], 99), 7);
    }
}
