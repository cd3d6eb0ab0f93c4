//! The binary: reads the command line, sets up TLS, logs and the runtime, runs one command, ends with its exit code.
//! What a command does lies in `commands/<verb>.rs`; what the server is made of, in `wire.rs`.

mod child;
mod client;
mod commands;
mod config;
mod exit;
mod output;
mod presets;
mod secret;
mod single_sign_on;
mod stop;
mod telemetry;
mod throwaway;
mod wire;

use std::process::ExitCode;

use clap::Parser as _;

use crate::{
    commands::Cli,
    exit::{Exit, Failure, Result},
};

/// Requests and journal entries are many small pieces of memory that move between threads; the system's allocator took
/// a tenth of the server's time with them (measured 2026-11-30).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Two cores are what a small machine has; the store's threads come on top. `EFFECTGATE_THREADS` changes it.
const THREADS: usize = 2;

fn main() -> ExitCode {
    // Only ring is compiled in; said first, so that no library picks one at its first use and finds two or none.
    if rustls::crypto::ring::default_provider().install_default().is_err() {
        return ExitCode::from(Exit::Failed as u8);
    }
    let cli = Cli::parse();
    let json = cli.json;
    match run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            complain(&failure, json);
            ExitCode::from(failure.exit as u8)
        }
    }
}

fn run(cli: Cli) -> Result {
    telemetry::start(cli.command.is_server());
    let threads = threads(std::env::var("EFFECTGATE_THREADS").ok().as_deref())?;
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    let runtime = builder.worker_threads(threads).enable_all().build()?;
    let done = runtime.block_on(commands::run(cli));
    // What is left then is a read of standard input at most, and nobody waits for that.
    runtime.shutdown_background();
    done
}

fn threads(text: Option<&str>) -> Result<usize> {
    let Some(text) = text else { return Ok(THREADS) };
    let threads = text.parse().ok().filter(|n| (1..=256).contains(n));
    threads.ok_or_else(|| Failure::usage(format!("EFFECTGATE_THREADS is {text:?}: give a number from 1 to 256")))
}

/// Failures go to standard error, as JSON where JSON was asked for.
fn complain(failure: &Failure, json: bool) {
    use std::io::Write as _;
    let text = if json { failure.json().to_string() } else { format!("effectgate: {failure}") };
    // Where standard error is closed there is nobody to tell; the exit code still does.
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_threads_is_judged() {
        assert_eq!(threads(None).unwrap(), THREADS);
        assert_eq!(threads(Some("8")).unwrap(), 8);
        for bad in ["0", "", "many", "1000"] {
            assert_eq!(threads(Some(bad)).unwrap_err().exit, Exit::Usage, "{bad}");
        }
    }
}
