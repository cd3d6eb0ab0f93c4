//! A provider in words: what stops a second execution over there, how it can be asked, and its limits.

use effectgate_core::provider::{Class, Declared, Lookup, Provider};
use effectgate_engine::{outbound::OutPolicy, policy::ProviderPolicy};

use super::{
    super::{text::Shown, time::exact},
    Setting,
};

pub(super) struct ProviderBlock {
    pub(super) name: Shown,
    pub(super) kind: &'static str,
    /// `enforcing` or `advisory`.
    pub(super) class: &'static str,
    pub(super) settings: Vec<Setting>,
}

impl ProviderBlock {
    pub(super) fn new(policy: &ProviderPolicy) -> Self {
        let provider = &policy.provider;
        let mut settings = settings(provider);
        settings.extend(policy.out.as_ref().map(|out| Setting::new("Outbound door", door(provider, out))));
        Self {
            name: Shown::new(provider.name.as_str()),
            kind: policy.connector.kind().unwrap_or(if provider.smtp { "mail server" } else { "HTTP" }),
            class: provider.class.as_str(),
            settings,
        }
    }
}

/// What passes, and whose gate it passes.
fn door(provider: &Provider, out: &OutPolicy) -> String {
    let methods: Vec<&str> = out.rules.methods.iter().map(http::Method::as_str).collect();
    let wait = exact(i64::try_from(out.wait_ms).unwrap_or(i64::MAX));
    format!(
        "/out/{}: {} below {}; decided by the flow {}; a request waits {wait} for its outcome",
        provider.name,
        methods.join(", "),
        out.rules.paths.join(", "),
        out.flow
    )
}

fn settings(provider: &Provider) -> Vec<Setting> {
    let Provider { backoff, breaker, rate, .. } = provider;
    let statuses = |list: &[u16]| list.iter().map(u16::to_string).collect::<Vec<_>>().join(", ");
    let mut list = vec![
        Setting::new("A second execution", class(provider)),
        Setting::new("Lookup", provider.lookup.map_or_else(|| "none: nobody can ask from here".to_owned(), lookup)),
        Setting::new(
            "Attempts",
            format!("{} at most, each of {} at most", provider.attempts_max, exact(provider.attempt_ms_max)),
        ),
        Setting::new(
            "Pause between attempts",
            format!("from {}, doubling up to {}", exact(backoff.base_ms), exact(backoff.max_ms)),
        ),
        Setting::new("Longest wait it may ask for", exact(provider.retry_after_ms_max)),
        Setting::new("Rate", format!("{} a second, {} at once", rate.per_second, rate.concurrent)),
        Setting::new(
            "Circuit",
            format!("opens for {} after {} failures in a row", exact(breaker.open_ms), breaker.failures),
        ),
    ];
    if !provider.refused_statuses.is_empty() {
        list.push(Setting::new("Also a definite refusal", statuses(&provider.refused_statuses)));
    }
    list.extend(declared(&provider.declared).into_iter().map(|(name, value)| Setting::new(name, value)));
    if !provider.not_done_statuses.is_empty() {
        list.push(Setting::new("Documented as “not done”", statuses(&provider.not_done_statuses)));
    }
    list
}

/// What its documentation says about keys it has seen, and where that was read.
fn declared(declared: &Declared) -> Vec<(&'static str, String)> {
    let mut list = Vec::new();
    if !declared.in_flight.is_empty() {
        let rules = declared.in_flight.iter().map(|rule| match &rule.member {
            Some((pointer, value)) => format!("{} with {pointer} = {value}", rule.status),
            None => rule.status.to_string(),
        });
        list.push(("Our key is in use there", rules.collect::<Vec<_>>().join(", ")));
    }
    match (&declared.replayed, declared.replays_errors) {
        (Some(mark), _) => {
            let what = format!("marked by {}: {}; a kept error goes to a person", mark.header, mark.equals);
            list.push(("An answer it kept", what));
        }
        (None, true) => list.push(("An error it keeps", "the same 5xx twice goes to a person".to_owned())),
        (None, false) => {}
    }
    if let Some(facts) = &declared.facts {
        let preset = facts.preset.as_ref().map_or_else(String::new, |preset| format!("preset {preset}, "));
        list.push(("Facts", format!("{preset}read on {} in {}", facts.checked, facts.source)));
    }
    list
}

fn class(provider: &Provider) -> String {
    match provider.class {
        Class::Enforcing { key_window_ms, margin_ms } => format!(
            "stopped by our key for {} from the first send (re-issued until {} before the end)",
            exact(key_window_ms),
            exact(margin_ms)
        ),
        Class::Advisory => "nothing over there stops it: never sent again without a person's word".into(),
    }
}

fn lookup(lookup: Lookup) -> String {
    let proof = if lookup.authoritative { "proves that nothing happened" } else { "leads to a review" };
    format!(
        "every {}; “not there” counts after {}, and {proof}",
        exact(lookup.period_ms),
        exact(lookup.settle_delay_ms)
    )
}

#[cfg(test)]
mod tests {
    use effectgate_core::provider::{Facts, InFlight, ReplayMark};
    use serde_json::json;

    use super::*;

    #[test]
    fn facts_and_their_day_are_shown() {
        let facts = Facts {
            preset: Some("adyen".into()),
            source: "https://docs.example.com/keys".into(),
            checked: "2026-11-30".into(),
        };
        let in_flight = vec![
            InFlight { status: 409, member: None },
            InFlight { status: 422, member: Some(("/errorCode".into(), json!("704"))) },
        ];
        let mark = ReplayMark { header: "Idempotent-Replayed".into(), equals: "true".into() };
        let whole = Declared { in_flight, replayed: Some(mark), facts: Some(facts), ..Declared::default() };

        let said = declared(&whole);

        assert_eq!(said[0], ("Our key is in use there", "409, 422 with /errorCode = \"704\"".to_owned()));
        assert!(said[1].1.contains("Idempotent-Replayed: true") && said[1].1.contains("goes to a person"), "{said:?}");
        let read = "preset adyen, read on 2026-11-30 in https://docs.example.com/keys";
        assert_eq!(said[2], ("Facts", read.to_owned()));
        assert!(declared(&Declared::default()).is_empty(), "what nobody declared is not shown as a fact");
    }
}
