//! `serve`: the server. Opens the store (migrating it), makes the first key, starts the workers and the listener; stops
//! in order on SIGTERM, SIGINT or the end of standard input where that was asked for: no new connections, requests
//! under way end, the workers stop, the store closes.

use std::{fs, path::Path, time::Duration};

use effectgate_core::ids::Tenant;
use effectgate_engine::{Engine, driver::Workers, probe};
use effectgate_web::App;
use serde_json::json;
use tokio::net::TcpListener;

use crate::{
    commands::Here,
    config::{DatabaseSettings, Resolved, ServerSettings},
    exit::{Exit, Failure, Result},
    output::Out,
    stop,
    wire::{self, Access},
};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Stop when standard input ends: for a parent process that must not leave a server behind
    #[arg(long, hide = true)]
    until_stdin_closes: bool,
}

/// How long attempts under way may take to end at a stop. Longer ones are found as unknown by the next start; a mail's
/// last reply may take ten minutes, and no supervisor waits that long.
const ATTEMPTS_PATIENCE: Duration = Duration::from_secs(20);

pub(crate) async fn run(args: &Args, here: &Here) -> Result {
    say_broken()?;
    let Resolved { mut policy, server, database, people, notes } =
        wire::read_config(here.config.as_deref())?.resolve()?;
    notes.iter().for_each(|note| tracing::warn!("{note}"));
    let listener = listen(&server).await?;
    let address = format!("http://{}", listener.local_addr()?);
    if server.listen.port() == 0 {
        // A port that the system chose: links must name it.
        policy.public_url = policy.public_url.replacen(&format!("http://{}", server.listen), &address, 1);
    }
    let public_url = policy.public_url.clone();
    let engine = wire::engine(wire::open(&database, Access::Serve).await?, policy);
    let app = wire::app(&engine, &server, people, &public_url);
    let served = serve(args, here.out, app, listener, &address, &database).await;
    engine.store().close().await;
    served
}

/// Says loudly, whatever is logged, that this process runs without one of its guards.
fn say_broken() -> Result {
    use std::io::Write as _;
    if let Some(guard) = probe::broken().map_err(Failure::usage)? {
        let word = guard.as_str();
        let said =
            format!("EFFECTGATE_BROKEN: THE GUARD {word:?} IS OUT. THIS SERVER IS UNSAFE ON PURPOSE, FOR TESTS ONLY.");
        // Where standard error is closed there is nobody to tell.
        let _ = writeln!(std::io::stderr().lock(), "{said}");
    }
    Ok(())
}

async fn listen(server: &ServerSettings) -> Result<TcpListener> {
    TcpListener::bind(server.listen).await.map_err(|error| {
        Failure::new(Exit::Unavailable, "cannot_listen", format!("{}: {error}", server.listen))
            .hint("Is a server running there already? server.listen names another address.")
    })
}

async fn serve(
    args: &Args,
    out: Out,
    app: App,
    listener: TcpListener,
    address: &str,
    database: &DatabaseSettings,
) -> Result {
    let engine = app.engine.clone();
    first_key(&engine, out).await?;
    let stop = stop::signal(args.until_stdin_closes)?;
    let workers = Workers::start(&engine);
    say_where(out, address, database)?;
    let served = effectgate_web::server::serve(listener, app, stop).await;
    tracing::info!("stopping");
    workers.stop(ATTEMPTS_PATIENCE).await;
    served.map_err(Failure::from)
}

/// Makes the first admin key: the one that was given, or, where there is none at all, a fresh one, printed once.
async fn first_key(engine: &Engine, out: Out) -> Result {
    let given = given_key()?;
    let made = engine.key_bootstrap(&Tenant::new(wire::TENANT), given.as_deref()).await?;
    let Some(key) = made.filter(|_| given.is_none()) else { return Ok(()) };
    if out.json {
        return out.line(json!({ "bootstrap_key": key.token, "shown": "once" }).to_string());
    }
    out.line("The first admin key, shown this once:")?;
    out.line(format!("  {}", key.token))
}

/// `EFFECTGATE_BOOTSTRAP_KEY`, or the content of the file that `EFFECTGATE_BOOTSTRAP_KEY_FILE` names.
fn given_key() -> Result<Option<String>> {
    if let Ok(key) = std::env::var("EFFECTGATE_BOOTSTRAP_KEY") {
        let key = key.trim();
        // A composed environment passes on what is not set as an empty text.
        if !key.is_empty() {
            return Ok(Some(key.to_owned()));
        }
    }
    let Ok(path) = std::env::var("EFFECTGATE_BOOTSTRAP_KEY_FILE") else { return Ok(None) };
    let read = fs::read_to_string(Path::new(&path));
    let text = read.map_err(|e| Failure::usage(format!("EFFECTGATE_BOOTSTRAP_KEY_FILE names {path}: {e}")))?;
    Ok(Some(text.trim().to_owned()))
}

fn say_where(out: Out, address: &str, database: &DatabaseSettings) -> Result {
    let version = env!("CARGO_PKG_VERSION");
    let kind = match database {
        DatabaseSettings::Sqlite { path, .. } => format!("sqlite:{}", path.display()),
        // The URL may carry a password.
        DatabaseSettings::Postgres { .. } => "PostgreSQL".to_owned(),
    };
    if out.json {
        return out.line(json!({ "listening": address, "version": version, "database": kind }).to_string());
    }
    out.line(format!("Effectgate {version} listens on {address}, keeps everything in {kind}"))
}
