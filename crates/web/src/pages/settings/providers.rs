//! A provider in words: what stops a second execution over there, how it can be asked, and its limits.

use effectgate_core::provider::{Class, Lookup, Provider};

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
    pub(super) fn new(provider: &Provider) -> Self {
        Self {
            name: Shown::new(provider.name.as_str()),
            kind: if provider.smtp { "mail server" } else { "HTTP" },
            class: provider.class.as_str(),
            settings: settings(provider),
        }
    }
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
    if !provider.not_done_statuses.is_empty() {
        list.push(Setting::new("Documented as “not done”", statuses(&provider.not_done_statuses)));
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
