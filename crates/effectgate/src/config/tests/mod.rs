//! The example is the fixture: each test changes what it is about and leaves the rest.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

mod layers;
mod n8n;
mod out;
mod refusals;

use std::path::{Path, PathBuf};

use effectgate_core::{
    flow::{KeyFrom, Login, TargetRule},
    gate::Gate,
    ids::{EffectType, FlowName, ProviderName, SourceName},
    provider::Class,
    switch::Ceiling,
};
use effectgate_engine::inbound::Scheme;
use serde_json::json;

use super::*;

/// The secrets that the example asks for.
fn environment() -> Vec<(String, String)> {
    [
        ("CHAT_WEBHOOK", "https://chat.example.com/services/T0/B0/x"),
        ("CRM_TOKEN", "crm-s3cret"),
        ("N8N_TOKEN", "n8n-s3cret"),
        ("OIDC_SECRET", "oidc-s3cret"),
        ("SHOP_SECRET", "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .to_vec()
}

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../effectgate.example.toml")
}

fn with(more: &[(&str, &str)]) -> Environment {
    let more = more.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    environment().into_iter().chain(more).collect()
}

fn load_example(more: &[(&str, &str)]) -> Loaded {
    load(Some(&example()), with(more)).unwrap()
}

#[test]
fn the_example_starts() {
    let Resolved { policy, server, database, people, notes } = load_example(&[]).resolve().unwrap();

    assert_eq!(server.listen.to_string(), "127.0.0.1:8787");
    assert!(matches!(database, DatabaseSettings::Sqlite { path, .. } if path.ends_with("effectgate.db")));
    assert_eq!((policy.ceiling, policy.public_url.as_str()), (Ceiling::On, "http://127.0.0.1:8787"));
    assert!(policy.channels.mail.is_some() && policy.channels.chat.is_some());
    assert_eq!((policy.alerts.len(), policy.alerts[0].on.len()), (1, 11));
    let names: Vec<&str> = policy.providers.keys().map(ProviderName::as_str).collect();
    assert_eq!(names, ["crm", "mail", "pay"]);
    let pay = &policy.providers[&ProviderName::new("pay")].provider;
    assert_eq!(pay.class, Class::Enforcing { key_window_ms: 86_400_000, margin_ms: 3_600_000 });
    let mail = &policy.providers[&ProviderName::new("mail")].provider;
    assert_eq!((mail.smtp, mail.class, mail.attempt_ms_max), (true, Class::Advisory, 902_000));
    let oidc = people.oidc.unwrap();
    assert_eq!((people.local_accounts, oidc.issuer.as_str()), (true, "https://sso.example.test"));
    assert_eq!(oidc.policy.roles["ops"], ["operator", "switch_owner"]);
    assert!(!notes.iter().any(|note| note.starts_with("auth.oidc")), "{notes:?}");
    let shop = &policy.sources[&SourceName::new("shop")];
    assert_eq!((shop.flow.as_str(), shop.signature.scheme()), ("ticket-reply", &Scheme::StandardWebhooks));
    assert_eq!(shop.deliver.as_ref().map(|to| (to.timeout_ms, to.concurrent, to.lease_ms)), Some((10_000, 4, 300_000)));
}

#[test]
fn the_examples_flow_says_what_its_section_says() {
    let policy = load_example(&[]).resolve().unwrap().policy;

    let flow = &policy.flows[&FlowName::new("ticket-reply")];
    let (mail, note) = (EffectType::new("customer_mail"), EffectType::new("crm_note"));
    assert_eq!((flow.flow.key_from, flow.flow.lease.default_ms), (KeyFrom::Parts, 300_000));
    assert_eq!(flow.flow.effects[&mail].gate, Gate::Approve);
    assert_eq!(flow.flow.effects[&mail].target, TargetRule::Payload("/customer/email".into()));
    assert!(matches!(&flow.flow.effects[&note].gate, Gate::Exceptions(e) if e.rules.len() == 2));
    assert_eq!(flow.effects[&note].rules.len(), 2);
    assert!(flow.effects[&note].evidence.as_ref().unwrap().path.exists());
    let approval = flow.flow.approval.as_ref().unwrap();
    assert_eq!((approval.login, approval.quorum, approval.separation), (Login::Required, 1, true));
    let fits = |payload| flow.payload_schema.as_ref().unwrap().validate(&payload).is_empty();
    assert!(fits(json!({"customer": {"email": "anna@example.test"}, "text": "Hi"})));
    assert!(!fits(json!({"customer": {}})));
}

#[test]
fn without_a_file_it_starts_on_this_machine_with_no_flows_and_actions_off() {
    let resolved = load(None, Environment::default()).unwrap().resolve().unwrap();

    assert!(resolved.server.listen.ip().is_loopback());
    assert!(matches!(resolved.database, DatabaseSettings::Sqlite { path, .. } if path.ends_with("effectgate.db")));
    assert_eq!((resolved.policy.flows.len(), resolved.policy.ceiling), (0, Ceiling::Off));
    assert!(resolved.notes.iter().any(|note| note.contains("actions are off")));
}

#[test]
fn a_revision_changes_with_what_a_flow_says_and_with_nothing_else() {
    let revision = |more: &[(&str, &str)]| {
        let policy = load_example(more).resolve().unwrap().policy;
        policy.flows[&FlowName::new("ticket-reply")].flow.revision.clone()
    };
    let first = revision(&[]);

    assert!(first.starts_with("sha256:") && first.len() == 71, "{first}");
    assert_eq!(revision(&[("EFFECTGATE__DISPATCHER__WORKERS", "8")]), first);
    assert_eq!(revision(&[("EFFECTGATE__FLOWS__TICKET-REPLY__REVIEW_ALERT_MS", "14400000")]), first);
    assert_ne!(revision(&[("EFFECTGATE__FLOWS__TICKET-REPLY__REPAIRS_MAX", "2")]), first);
    let rules = r#"["output.label == 'thanks'"]"#;
    let rules_at = "EFFECTGATE__FLOWS__TICKET-REPLY__EFFECTS__CRM_NOTE__EXCEPTIONS__RULES";
    assert_ne!(revision(&[(rules_at, rules)]), first);
    assert_ne!(revision(&[("EFFECTGATE__FLOWS__TICKET-REPLY__OUTPUT_SCHEMA", "schemas/ticket.json")]), first);
}

#[test]
fn nothing_secret_is_shown() {
    let mut loaded = load_example(&[("EFFECTGATE__PROVIDERS__CRM__AUTH__BEARER", "crm-s3cret")]);
    loaded.config.database.url = Some(secret::Secret::new("postgres://gate:s3cret@db/gate"));

    let shown = effective(&loaded.config);
    let debugged = format!("{:?}", loaded.config);

    assert!(!shown.contains("s3cret") && !debugged.contains("s3cret"), "{shown}");
    assert!(shown.contains("url = \"postgres://***@db/gate\""), "{shown}");
    assert!(shown.contains("bearer = \"***\"") && shown.contains("url = \"env:CHAT_WEBHOOK\""), "{shown}");
}

#[test]
fn what_is_shown_is_a_config_that_says_the_same() {
    let loaded = load_example(&[]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("effective.toml");
    std::fs::write(&path, effective(&loaded.config)).unwrap();

    let again = load(Some(&path), with(&[])).unwrap();

    assert_eq!(again.config, loaded.config);
}
