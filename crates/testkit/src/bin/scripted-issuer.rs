//! A test issuer in a process of its own, to try single sign-on by hand.
//!
//! `scripted-issuer [PORT]` prints one line, `{"issuer":…,"client_id":…,"client_secret":…}`, and runs until it is
//! killed. Its page offers three people: anna (support-leads), olle (ops), nils (no group).

use effectgate_testkit::oidc::{CLIENT_ID, CLIENT_SECRET, ScriptedIssuer, Someone};

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let port = std::env::args().nth(1).and_then(|arg| arg.parse().ok()).unwrap_or(0);
    let issuer = ScriptedIssuer::start_on(port).await?;
    issuer.ask([Someone::new("anna", &["support-leads"]), Someone::new("olle", &["ops"]), Someone::new("nils", &[])]);
    let url = issuer.url();
    println!(r#"{{"issuer":"{url}","client_id":"{CLIENT_ID}","client_secret":"{CLIENT_SECRET}"}}"#);
    std::future::pending().await
}
