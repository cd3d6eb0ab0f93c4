//! `bench`: a load generator. It starts a server of this same executable as a child, over a temporary SQLite file (or
//! the database that is named), and says rate, times, CPU and memory of the server, and how durable the commits were.

mod dispatch;
mod load;
mod process;
mod wire;
mod work;

use std::path::PathBuf;

use effectgate_certify::far::Provider;
use effectgate_engine::random;
use serde::Serialize;
use tempfile::TempDir;

use self::{
    load::{Figures, Pressure},
    work::{FLOW, WORKS},
};
use crate::{
    child::Server,
    client::ServerArgs,
    exit::{Failure, Result},
    output::Out,
};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// bare, reserve, hot, batch, cycle, dispatch; all without
    #[arg(value_parser = ["bare", "reserve", "hot", "batch", "cycle", "dispatch"])]
    workloads: Vec<String>,
    /// Connections, each with one request at a time
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..=4096))]
    connections: u16,
    /// Seconds for each workload
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=3600))]
    seconds: u64,
    /// sqlite:PATH or postgres://…; a temporary SQLite file without. It is filled with runs
    #[arg(long, conflicts_with = "running")]
    database: Option<String>,
    /// Where the temporary SQLite file goes: the disk that is measured
    #[arg(long)]
    folder: Option<PathBuf>,
    /// Measure the server at --url instead of starting one. Its config needs a flow `bench`; dispatch is left out
    #[arg(long)]
    running: bool,
    #[command(flatten)]
    server: ServerArgs,
}

/// Everything that was measured.
#[derive(Debug, Serialize)]
struct Report {
    version: &'static str,
    database: &'static str,
    /// What an answer of success stands for.
    durability: &'static str,
    cores: usize,
    figures: Vec<Figures>,
}

/// What is measured against.
struct Target {
    host: String,
    key: String,
    /// Ours, with its folder and the provider that effects go to.
    own: Option<(Server, TempDir, Provider)>,
}

pub(crate) async fn run(args: &Args, out: Out) -> Result {
    let mut target = if args.running { theirs(args)? } else { start(args).await? };
    let measured = measure(args, &target, out).await;
    if let Some((server, _, _)) = &mut target.own {
        server.stop().await?;
    }
    let figures = measured?;
    let (database, durability) = durability(args);
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let faults: u64 = figures.iter().map(|f| f.errors).sum();
    let report = Report { version: env!("CARGO_PKG_VERSION"), database, durability, cores, figures };
    show(&report, out)?;
    if faults == 0 { Ok(()) } else { Err(Failure::failed(format!("{faults} answers were not what they should be"))) }
}

async fn measure(args: &Args, target: &Target, out: Out) -> Result<Vec<Figures>> {
    let wanted = |name: &str| args.workloads.is_empty() || args.workloads.iter().any(|w| w == name);
    let pressure = Pressure {
        host: target.host.clone(),
        key: target.key.clone(),
        connections: usize::from(args.connections),
        seconds: args.seconds,
        server: target.own.as_ref().and_then(|(server, _, _)| server.pid()),
    };
    let mut figures = Vec::new();
    for work in WORKS.iter().filter(|work| wanted(work.name)) {
        progress(out, work.name)?;
        figures.push(load::run(&pressure, work).await?);
    }
    if let Some((_, _, provider)) = &target.own
        && wanted("dispatch")
    {
        progress(out, "dispatch")?;
        figures.push(dispatch::run(&pressure, provider).await?);
    }
    Ok(figures)
}

fn progress(out: Out, name: &str) -> Result {
    if out.terminal && !out.json { out.line(format!("{name} …")) } else { Ok(()) }
}

fn theirs(args: &Args) -> Result<Target> {
    let url = url::Url::parse(&args.server.url).map_err(Failure::usage)?;
    let (Some(host), Some(port), "http") = (url.host_str(), url.port_or_known_default(), url.scheme()) else {
        return Err(Failure::usage("the benchmark speaks plain HTTP: give --url http://HOST:PORT"));
    };
    let key = crate::client::key_of(&args.server)?;
    Ok(Target { host: format!("{host}:{port}"), key, own: None })
}

async fn start(args: &Args) -> Result<Target> {
    let folder = match &args.folder {
        Some(path) => tempfile::tempdir_in(path)?,
        None => tempfile::tempdir()?,
    };
    let provider = Provider::start().await?;
    let config = folder.path().join("bench.toml");
    let file = format!("sqlite:{}", folder.path().join("bench.db").display());
    let database = args.database.clone().unwrap_or(file);
    std::fs::write(&config, text(&database, &provider.url()))?;
    let key = random::token();
    let log = folder.path().join("server.log");
    let server =
        Server::start(&config, &log, &[("EFFECTGATE_BOOTSTRAP_KEY", &key), ("EFFECTGATE_LOG", "warn")]).await?;
    let host = server.url.trim_start_matches("http://").to_owned();
    Ok(Target { host, key, own: Some((server, folder, provider)) })
}

/// Nothing is switched off for speed: key check, flow rules, journal and full durability are as in service. Only the
/// limits that would stop a load generator are raised.
fn text(database: &str, provider: &str) -> String {
    format!(
        r#"
[server]
listen = "127.0.0.1:0"
connections_max = 4_096
requests_per_second_max = 1_000_000
[database]
url = {database:?}
[actions]
enabled = true
[dispatcher]
workers = 64
batch = 256
[providers.notes]
kind = "http"
class = "advisory"
url = "{provider}"
allow_private = true
rate = {{ per_second = 100_000.0, concurrent = 64 }}
[providers.notes.effects.note]
method = "POST"
path = "/notes/{{{{ target }}}}"
external_id = "/id"
[flows.{FLOW}]
[flows.{FLOW}.effects.note]
provider = "notes"
impact = "low"
reversible = true
gate = "none"
"#
    )
}

fn durability(args: &Args) -> (&'static str, &'static str) {
    match (&args.database, args.running) {
        (_, true) => ("of the server", "as that server is configured"),
        (Some(url), _) if url.starts_with("postgres") => {
            ("PostgreSQL", "as synchronous_commit and fsync of that server say")
        }
        _ => ("SQLite", "WAL, synchronous=FULL: the log is flushed before each answer"),
    }
}

fn show(report: &Report, out: Out) -> Result {
    if out.json {
        return out.value(report);
    }
    out.line(format!(
        "{}; {}; {} cores, shared with the load generator",
        report.database, report.durability, report.cores
    ))?;
    let headings = ["workload", "per second", "p50 ms", "p95 ms", "p99 ms", "CPU µs each", "MB", "errors"];
    out.table(&headings, &report.figures.iter().map(row).collect::<Vec<_>>(), "")?;
    report.figures.iter().filter_map(|f| f.first_error.as_ref()).try_for_each(|error| out.line(error))
}

fn row(f: &Figures) -> Vec<String> {
    #[expect(clippy::cast_precision_loss, reason = "milliseconds and megabytes of one run")]
    let thousandth = |n: u64| format!("{:.2}", n as f64 / 1_000.0);
    let dash = || "-".to_owned();
    vec![
        f.workload.to_owned(),
        format!("{:.0}", f.per_second),
        thousandth(f.p50_us),
        thousandth(f.p95_us),
        thousandth(f.p99_us),
        f.server_cpu_us.map_or_else(dash, |us| format!("{us:.0}")),
        f.server_resident_kb.map_or_else(dash, thousandth),
        f.errors.to_string(),
    ]
}
