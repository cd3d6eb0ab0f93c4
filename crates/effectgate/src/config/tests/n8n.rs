//! `[n8n]` brings a provider and a flow of its own, and nothing of it is there without the section.

use effectgate_core::ids::{EffectType, FlowName, ProviderName};
use effectgate_engine::n8n::{FLOW, PROVIDER, RESUME, RESUME_WAIT};

use super::*;

/// What was resolved of a config that is only this.
fn resolved(text: &str) -> Result<Resolved, ConfigErrors> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("effectgate.toml");
    std::fs::write(&path, text).unwrap();
    load(Some(&path), with(&[]))?.resolve()
}

fn faults(text: &str) -> Vec<String> {
    let faults = resolved(text).err().map(|errors| errors.0).unwrap_or_default();
    faults.into_iter().map(|fault| format!("{}: {}", fault.path, fault.what)).collect()
}

#[test]
fn the_section_brings_a_provider_and_a_flow_and_without_it_there_is_neither() {
    let without = resolved("").unwrap().policy;
    assert!(without.n8n.is_none() && without.flows.is_empty() && without.providers.is_empty());

    let policy = resolved("[n8n]\nurl = \"http://127.0.0.1:5678/n8n\"").unwrap().policy;
    let flow = &policy.flows[&FlowName::new(FLOW)].flow;
    let provider = &policy.providers[&ProviderName::new(PROVIDER)];
    let n8n = policy.n8n.as_ref().unwrap();

    let types: Vec<&str> = flow.effects.keys().map(EffectType::as_str).collect();
    assert_eq!(types, [RESUME, RESUME_WAIT]);
    assert_eq!((flow.retention.content_days, flow.retention.key_days, flow.retention.journal_days), (1, 8, 30));
    let (own, plain) = (provider.rules(&EffectType::new(RESUME)), provider.rules(&EffectType::new(RESUME_WAIT)));
    assert!(matches!(own.class, Class::Enforcing { .. }), "a node of ours may be called again");
    assert_eq!((plain.class, plain.lookup), (Class::Advisory, None), "a plain Wait may not, and nobody can look");
    assert!(n8n.allows("http://127.0.0.1:5678/n8n/webhook-waiting/1").is_ok());
    assert!(n8n.allows("http://127.0.0.1:5678/webhook-waiting/1").is_err());
}

#[test]
fn with_a_key_a_plain_wait_in_doubt_can_be_looked_at() {
    let text = "[n8n]\nurl = \"http://127.0.0.1:5678\"\napi_key = \"k\"\nallow_urls = [\"https://n8n.example.com\"]";
    let policy = resolved(text).unwrap().policy;

    let provider = &policy.providers[&ProviderName::new(PROVIDER)];
    assert!(provider.rules(&EffectType::new(RESUME_WAIT)).lookup.is_some_and(|lookup| lookup.authoritative));
    assert!(policy.n8n.unwrap().allows("https://n8n.example.com/webhook-waiting/1").is_ok());
}

#[test]
fn names_that_the_section_takes_and_addresses_that_are_none_are_refused() {
    let flow = "[flows.n8n-resume]\n[n8n]\nurl = \"http://127.0.0.1:5678\"";
    assert!(faults(flow).iter().any(|fault| fault.contains("taken by what [n8n] brings")), "{:?}", faults(flow));
    assert_eq!(faults("[flows.n8n-resume]"), Vec::<String>::new(), "without the section the name is free");
    let provider = "[providers.n8n]\nkind = \"record\"\n[n8n]\nurl = \"http://127.0.0.1:5678\"";
    assert!(faults(provider).iter().any(|fault| fault.contains("taken by what [n8n] brings")));
    for (text, member) in [
        ("url = \"n8n:5678\"", "n8n.url"),
        ("url = \"http://u:p@127.0.0.1\"", "n8n.url"),
        ("url = \"http://n8n\"\nallow_urls = [\"http://n8n/a/../b\"]", "n8n.allow_urls[0]"),
        ("url = \"http://n8n\"\ntimeout_ms = 1", "n8n.timeout_ms"),
        ("url = \"http://n8n\"\nconcurrent = 0", "n8n.concurrent"),
        ("url = \"http://n8n\"\napi_key = \"env:NOT_THERE\"", "n8n.api_key"),
    ] {
        let found = faults(&format!("[n8n]\n{text}"));
        assert!(found.iter().any(|fault| fault.starts_with(member)), "{text}: {found:?}");
    }
    assert!(resolved("[providers.x]\nkind = \"n8n\"").is_err(), "no section can be of the built-in kind");
}

#[test]
fn a_provider_of_kind_record_takes_any_effect_type_and_no_member_of_another_kind() {
    let flow = "[flows.ask.effects.question]\nprovider = \"answers\"\n[flows.ask.approval]\naudience = [\"role:lead\"]";
    let policy = resolved(&format!("[providers.answers]\nkind = \"record\"\n{flow}")).unwrap().policy;
    let provider = &policy.providers[&ProviderName::new("answers")];
    assert_eq!(provider.connector.kind(), Some("record: nothing leaves"));

    let found = faults("[providers.answers]\nkind = \"record\"\nurl = \"https://x.test\"");
    assert!(found.iter().any(|fault| fault.starts_with("providers.answers.url")), "{found:?}");
}
