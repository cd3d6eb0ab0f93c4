//! Logs: for people on a terminal, JSON lines otherwise, always on standard error. `EFFECTGATE_LOG` (or `RUST_LOG`) sets
//! what is said. Bodies, keys, tokens and passwords are never handed to the log in the first place.

use std::io::IsTerminal as _;

use tracing_subscriber::{EnvFilter, fmt, layer::SubscriberExt as _, util::SubscriberInitExt as _};

/// The server says what it does; the other commands only what is wrong. The SDK of MCP says three lines for each message
/// of a client, and warns of what a client got wrong.
const SERVER: &str = "info,rmcp=error";
const COMMAND: &str = "warn";

/// Starts the log of this process. A filter that cannot be read is said so and the default taken.
pub(crate) fn start(is_server: bool) {
    let default = if is_server { SERVER } else { COMMAND };
    let asked = ["EFFECTGATE_LOG", "RUST_LOG"].into_iter().find_map(|name| std::env::var(name).ok());
    let (filter, fault) = match asked.as_deref().map(EnvFilter::try_new) {
        None => (EnvFilter::new(default), None),
        Some(Ok(filter)) => (filter, None),
        Some(Err(error)) => (EnvFilter::new(default), Some(error)),
    };
    let registry = tracing_subscriber::registry().with(filter);
    if std::io::stderr().is_terminal() {
        registry.with(fmt::layer().with_writer(std::io::stderr).with_target(false)).init();
    } else {
        registry.with(fmt::layer().json().flatten_event(true).with_writer(std::io::stderr)).init();
    }
    if let Some(error) = fault {
        tracing::warn!(%error, "the log filter cannot be read; the default is in force");
    }
}
