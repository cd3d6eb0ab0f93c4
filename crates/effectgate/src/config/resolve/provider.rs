//! `[providers.NAME]`: what both kinds share, and what each provider is held to by its class.

use std::{collections::BTreeMap, sync::Arc};

use effectgate_core::{
    ids::ProviderName,
    provider::{
        Breaker, Class, Declared, Facts, InFlight, Lookup, Provider, Rate, SENDING_MARGIN_MS, SENDING_MARGIN_MS_MIN,
    },
    retry::{Backoff, LOOK_MS_MAX},
};
use effectgate_engine::{
    connect::tls::Tls, connector::Connector, connectors::RecordConnector, n8n::N8n, policy::ProviderPolicy,
};

use super::{
    http,
    judge::{Judge, unsigned},
    n8n, out, record, smtp,
};
use crate::config::{
    Config,
    provider::{BackoffConfig, ClassWord, LookupConfig, ProviderConfig, ProviderKind},
};

const HOUR_MS: i64 = 3_600_000;
/// Clocks differ, and the last re-issue has to arrive inside the window.
const MARGIN_MS: i64 = HOUR_MS;

pub(super) fn providers(
    judge: &mut Judge<'_>,
    config: &Config,
    n8n: Option<&Arc<N8n>>,
) -> Option<BTreeMap<ProviderName, ProviderPolicy>> {
    let resolved: Vec<_> = config.providers.keys().map(|name| one(judge, config, n8n, name)).collect();
    resolved.into_iter().collect()
}

fn one(
    judge: &mut Judge<'_>,
    config: &Config,
    n8n: Option<&Arc<N8n>>,
    name: &str,
) -> Option<(ProviderName, ProviderPolicy)> {
    let at = format!("providers.{name}");
    let provider = config.providers.get(name)?;
    judge.name(&at, name);
    provider.effects.keys().for_each(|effect| judge.name(&format!("{at}.effects.{effect}"), effect));
    if provider.retry_unknown == Some(true) && provider.class == ClassWord::Advisory {
        let what = "an unknown outcome at an advisory provider is never sent again by itself: it may have happened";
        let advice = "Leave it out; declare a lookup, or the provider's idempotency key if it has one.";
        judge.refuse(&format!("{at}.retry_unknown"), what, advice);
    }
    let tls = tls(judge, &at, provider);
    let (connector, class): (Option<Arc<dyn Connector>>, _) = match provider.kind {
        ProviderKind::Http => {
            let class = http::class(judge, &at, provider);
            (http::connector(judge, &at, provider, tls).map(|c| Arc::new(c) as _), class)
        }
        ProviderKind::Smtp => {
            (smtp::connector(judge, &at, config, name, tls).map(|c| Arc::new(c) as _), Some(Class::Advisory))
        }
        ProviderKind::Record => {
            record::foreign(judge, &at, provider);
            (Some(Arc::new(RecordConnector)), Some(record::CLASS))
        }
        // Made of rules that are judged below.
        ProviderKind::N8n => (None, Some(n8n::class())),
    };
    let kind = provider.kind;
    let provider = common(judge, &at, name, provider, class, config.dispatcher.workers);
    let connector = match (kind, n8n, &provider) {
        (ProviderKind::N8n, Some(n8n), Some(rules)) => Some(Arc::new(n8n::connector(n8n, rules)) as _),
        _ => connector,
    };
    let out = config.providers.get(name).and_then(|provider| out::policy(judge, config, name, provider));
    Some((ProviderName::new(name), ProviderPolicy { provider: provider?, connector: connector?, out }))
}

fn tls(judge: &mut Judge<'_>, at: &str, provider: &ProviderConfig) -> Option<Tls> {
    let file = provider.ca_file.as_deref().map(|file| judge.place(file));
    let tls = Tls::new(file.as_deref());
    tls.map_err(|e| judge.refuse(&format!("{at}.ca_file"), e.to_string(), "Name a PEM file of CA certificates.")).ok()
}

/// How long one attempt can take in all.
pub(super) fn attempt_ms_max(provider: &ProviderConfig) -> i64 {
    match provider.kind {
        ProviderKind::Http | ProviderKind::N8n => provider.timeout_ms.unwrap_or(http::TIMEOUT_MS),
        ProviderKind::Record => record::ATTEMPT_MS,
        ProviderKind::Smtp => smtp::attempt_ms_max(provider),
    }
}

fn common(
    judge: &mut Judge<'_>,
    at: &str,
    name: &str,
    provider: &ProviderConfig,
    class: Option<Class>,
    workers: i64,
) -> Option<Provider> {
    let smtp = provider.kind == ProviderKind::Smtp;
    let statuses = http::statuses(judge, at, provider);
    let lookup = provider.lookup.as_ref().filter(|_| !smtp).map(|lookup| self::lookup(judge, at, lookup));
    let attempts_max = judge.within(
        &format!("{at}.attempts_max"),
        provider.attempts_max,
        1,
        100,
        "One attempt is the least; after many a person should look.",
    );
    let retry_after_ms_max = judge.within(
        &format!("{at}.retry_after_ms_max"),
        provider.retry_after_ms_max,
        1_000,
        24 * HOUR_MS,
        "Between a second and a day: how long a provider may ask us to wait.",
    );
    let sending_margin_ms = judge.within(
        &format!("{at}.sending_margin_ms"),
        provider.sending_margin_ms.unwrap_or(SENDING_MARGIN_MS),
        SENDING_MARGIN_MS_MIN,
        HOUR_MS,
        "At least half a second for a commit on a slow disk, and an hour at most.",
    );
    Some(Provider {
        name: ProviderName::new(name),
        class: class?,
        smtp,
        lookup,
        attempts_max: unsigned_i32(attempts_max),
        backoff: backoff(judge, &format!("{at}.backoff"), &provider.backoff),
        retry_after_ms_max,
        refused_statuses: statuses.refused,
        not_done_statuses: statuses.not_done,
        declared: declared(judge, at, provider),
        external_id_required: provider.external_id_required,
        attempt_ms_max: attempt_ms_max(provider),
        sending_margin_ms,
        rate: rate(judge, at, provider, workers),
        breaker: breaker(judge, at, provider),
    })
}

/// What the documentation says about keys that the provider has seen.
fn declared(judge: &mut Judge<'_>, at: &str, provider: &ProviderConfig) -> Declared {
    let conflict = provider.conflict_in_flight.then_some(InFlight { status: 409, member: None });
    let facts = provider.facts.as_ref();
    Declared {
        in_flight: conflict.into_iter().chain(http::in_flight(judge, at, provider)).collect(),
        replays_errors: facts.is_some_and(|facts| facts.replays_errors == Some(true)),
        replayed: facts.and_then(http::replay_mark),
        compares_body: facts.and_then(|facts| facts.compares_body),
        facts: facts.map(|facts| Facts {
            preset: provider.preset.clone(),
            source: facts.source.clone(),
            checked: facts.checked.clone(),
        }),
    }
}

pub(super) fn unsigned_i32(value: i64) -> i32 {
    i32::try_from(value).unwrap_or(i32::MAX)
}

fn lookup(judge: &mut Judge<'_>, at: &str, lookup: &LookupConfig) -> Lookup {
    let least = if lookup.authoritative { 100 } else { 0 };
    let settle_delay_ms = judge.within(
        &format!("{at}.lookup.settle_delay_ms"),
        lookup.settle_delay_ms,
        least,
        LOOK_MS_MAX - 1,
        "At least a tenth of a second where absence is proof, and less than the 24 h after which a silent lookup goes to a person.",
    );
    let period_ms = judge.within(
        &format!("{at}.lookup.period_ms"),
        lookup.period_ms,
        100,
        HOUR_MS,
        "Between a tenth of a second and an hour.",
    );
    Lookup { settle_delay_ms, authoritative: lookup.authoritative, period_ms }
}

pub(super) fn backoff(judge: &mut Judge<'_>, at: &str, backoff: &BackoffConfig) -> Backoff {
    let why = "The first wait is 10 ms at least, the longest a day at most.";
    let base_ms = judge.within(&format!("{at}.base_ms"), backoff.base_ms, 10, 24 * HOUR_MS, why);
    let max_ms = judge.within(&format!("{at}.max_ms"), backoff.max_ms, base_ms, 24 * HOUR_MS, why);
    Backoff { base_ms, max_ms }
}

fn rate(judge: &mut Judge<'_>, at: &str, provider: &ProviderConfig, workers: i64) -> Rate {
    let per_second = provider.rate.per_second;
    if !(per_second > 0.0 && per_second <= 100_000.0) {
        let what = format!("{per_second} is not a rate above 0 and up to 100000");
        judge.refuse(&format!("{at}.rate.per_second"), what, "To stop a provider, turn its switch.");
    }
    let why = "To stop a provider, turn its switch.";
    let concurrent =
        judge.within(&format!("{at}.rate.concurrent"), provider.rate.concurrent.unwrap_or(workers), 1, 1_000, why);
    Rate { per_second, concurrent: unsigned(concurrent) }
}

fn breaker(judge: &mut Judge<'_>, at: &str, provider: &ProviderConfig) -> Breaker {
    let breaker = provider.breaker;
    let failures = judge.within(
        &format!("{at}.breaker.failures"),
        breaker.failures,
        1,
        1_000,
        "Transport failures in a row before we pause.",
    );
    let why = "Between a tenth of a second and an hour.";
    let open_ms = judge.within(&format!("{at}.breaker.open_ms"), breaker.open_ms, 100, HOUR_MS, why);
    Breaker { failures: unsigned(failures), open_ms }
}

/// The class of an http provider; enforcing only with everything that makes it so.
pub(super) fn enforcing(judge: &mut Judge<'_>, at: &str, provider: &ProviderConfig) -> Option<Class> {
    if provider.key_header.is_none() && provider.key_field.is_none() && !http::every_request_names_the_key(provider) {
        let what = "an enforcing provider needs to be told our key";
        judge.refuse(&format!("{at}.key_header"), what, "Name its header (Idempotency-Key) or key_field, or put {{ provider_key }} into every effect's path or body; a door needs one of the first two.");
    }
    let Some(key_window_ms) = provider.key_window_ms else {
        let what = "it is not said how long the provider remembers a key";
        let advice =
            "Take it from the provider's documentation, in milliseconds; if it is not documented, say advisory.";
        judge.refuse(&format!("{at}.key_window_ms"), what, advice);
        return None;
    };
    let why = "Between a minute and ten years: how long the provider remembers a key.";
    let key_window_ms = judge.within(&format!("{at}.key_window_ms"), key_window_ms, 60_000, 3_650 * 24 * HOUR_MS, why);
    let margin_ms = provider.key_window_margin_ms.unwrap_or(MARGIN_MS);
    if margin_ms < attempt_ms_max(provider) || margin_ms >= key_window_ms {
        let what = format!("a margin of {margin_ms} ms does not fit a window of {key_window_ms} ms");
        let advice = "Choose less than the window and at least the time-out: the last attempt must arrive inside it.";
        judge.refuse(&format!("{at}.key_window_margin_ms"), what, advice);
    }
    Some(Class::Enforcing { key_window_ms, margin_ms })
}
