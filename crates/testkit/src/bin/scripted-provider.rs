//! A scripted provider in a process of its own, for crash tests that must outlive a killed gate.
//!
//! `scripted-provider [PORT]` prints one line, `{"port":…,"control_port":…}`, and runs until it is killed. On the
//! control port: `GET /_ledger`, `POST /_mode` (see `effectgate_testkit::provider::Mode`).

use effectgate_testkit::provider::ScriptedProvider;

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let port = std::env::args().nth(1).and_then(|arg| arg.parse().ok()).unwrap_or(0);
    let provider = ScriptedProvider::start_on(port).await?;
    println!(r#"{{"port":{},"control_port":{}}}"#, provider.address().port(), provider.control_address().port());
    std::future::pending().await
}
