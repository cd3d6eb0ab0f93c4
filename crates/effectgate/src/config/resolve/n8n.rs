//! `[n8n]`: judged, made into the one place that says which of the workflow tool's addresses may be called, and into the
//! provider and the flow that tell waiting executions. They are made before flows are judged, so that they are judged by
//! the same rules as every other.

use std::{collections::BTreeMap, sync::Arc};

use effectgate_core::provider::{Class, Lookup, Provider};
use effectgate_engine::{
    connect::{http::HttpLimits, tls::Tls},
    connectors::ResumeConnector,
    n8n::{FLOW, N8n, N8nSettings, PROVIDER, RESUME, RESUME_WAIT},
};
use serde_json::json;

use super::judge::{Judge, unsigned};
use crate::config::{
    Config,
    flow::{EffectConfig, FlowConfig, GateWord, ImpactWord, RetentionConfig},
    n8n::N8nConfig,
    provider::{ProviderConfig, ProviderKind},
};

/// As for providers: a connection in the own network, or in a neighbour's.
const CONNECT_MS: i64 = 2_000;

/// `Some(None)` without the section, `None` where it is refused.
pub(super) fn n8n(judge: &mut Judge<'_>, config: Option<&N8nConfig>) -> Option<Option<Arc<N8n>>> {
    let Some(config) = config else { return Some(None) };
    let why = "Between a tenth of a second and two minutes.";
    let total = judge.within("n8n.timeout_ms", config.timeout_ms, 100, 120_000, why);
    let why = "One to a hundred resumes at once; to stop them, turn the switch of the provider n8n.";
    let concurrent = judge.within("n8n.concurrent", config.concurrent, 1, 100, why);
    let is_given = config.api_key.is_some() || config.api_key_file.is_some();
    let api_key = judge.secret("n8n.api_key", config.api_key.as_ref(), config.api_key_file.as_deref());
    let file = config.ca_file.as_deref().map(|file| judge.place(file));
    let tls = Tls::new(file.as_deref());
    let tls = tls.map_err(|e| judge.refuse("n8n.ca_file", e.to_string(), "Name a PEM file of CA certificates.")).ok();
    let limits = HttpLimits {
        connect_ms: unsigned(CONNECT_MS.min(total)),
        first_byte_ms: unsigned(total),
        total_ms: unsigned(total),
        ..HttpLimits::default()
    };
    let is_lost = is_given && api_key.is_none();
    let settings = N8nSettings {
        url: config.url.clone(),
        allow_urls: config.allow_urls.clone(),
        api_key,
        limits,
        concurrent: unsigned(concurrent),
    };
    let made = N8n::new(settings, tls?).map_err(|faults| judge.refuse_settings("n8n", faults)).ok()?;
    (!is_lost).then(|| Some(Arc::new(made)))
}

const DAY_MS: i64 = 86_400_000;
/// How long a call to a node of ours may be repeated. It re-reads the decision each time, for as long as we keep it; a
/// week is longer than anybody looks after an execution that waits.
const REPEATS_MS: i64 = 7 * DAY_MS;
/// The last repeat must arrive inside of that.
const REPEATS_MARGIN_MS: i64 = 3_600_000;
/// An n8n that is down is waited for: a hundred attempts, a second doubling to a quarter of an hour, are a day.
const ATTEMPTS_MAX: i64 = 100;
const BACKOFF_MAX_MS: i64 = 900_000;
/// n8n writes an execution's state before and after it runs; a look sooner would see neither.
const SETTLE_DELAY_MS: i64 = 5_000;
const LOOK_PERIOD_MS: i64 = 10_000;
/// Two commits in a row, as at the outbound door.
const LEASE_MS: i64 = 30_000;

/// The config with the provider and the flow that `[n8n]` brings.
pub(super) fn with_made(judge: &mut Judge<'_>, config: Config) -> Config {
    let Some(n8n) = config.n8n.clone() else { return config };
    let mut whole = config;
    let taken = [
        (whole.flows.contains_key(FLOW), format!("flows.{FLOW}")),
        (whole.providers.contains_key(PROVIDER), format!("providers.{PROVIDER}")),
    ];
    for (_, at) in taken.iter().filter(|(is_taken, _)| *is_taken) {
        judge.refuse(at, "this name is taken by what [n8n] brings", "Name it otherwise.");
    }
    judge.alias(&format!("flows.{FLOW}"), "n8n");
    judge.alias(&format!("providers.{PROVIDER}"), "n8n");
    whole.providers.insert(PROVIDER.to_owned(), made_provider(&n8n));
    whole.flows.insert(FLOW.to_owned(), made_flow());
    whole
}

fn made_provider(n8n: &N8nConfig) -> ProviderConfig {
    let made = json!({
        "kind": "record",
        "class": "enforcing",
        // For the flow's retention: what may still happen to a run.
        "key_window_ms": REPEATS_MS,
        // Waiting for another call to the same execution takes as long as one, at most.
        "timeout_ms": n8n.timeout_ms.saturating_mul(2),
        "rate": { "per_second": 20.0, "concurrent": n8n.concurrent },
        "attempts_max": ATTEMPTS_MAX,
        // "Not waiting yet" is no failure of n8n's, and one execution that is slow to wait must not hold up the others.
        "breaker": { "failures": 50, "open_ms": 10_000 },
        "backoff": { "base_ms": 1_000, "max_ms": BACKOFF_MAX_MS },
        "effects": { RESUME: {}, RESUME_WAIT: {} },
    });
    let made: ProviderConfig = serde_json::from_value(made).expect("it is written here, member by member");
    ProviderConfig { kind: ProviderKind::N8n, ..made }
}

fn made_flow() -> FlowConfig {
    let effect = EffectConfig {
        provider: PROVIDER.to_owned(),
        impact: ImpactWord::Low,
        reversible: true,
        gate: GateWord::None,
        window_ms: None,
        qualification: None,
        exceptions: None,
        to: None,
        payload_from: None,
        payload_schema: None,
        inline: false,
        description: None,
    };
    FlowConfig {
        repairs_max: 0,
        lease_ms: LEASE_MS,
        lease_ms_max: LEASE_MS,
        lease_total_ms_max: LEASE_MS,
        // A notifier that dies between the two commits, again and again, is a fault; its notice alerts by then.
        attempts_max: 20,
        // The address of an execution that is long over is nobody's business.
        retention: RetentionConfig { content_days: 1, key_days: 8, journal_days: 30 },
        effects: BTreeMap::from([(RESUME.to_owned(), effect.clone()), (RESUME_WAIT.to_owned(), effect)]),
        ..FlowConfig::default()
    }
}

/// The class of places that may be called again.
pub(super) const fn class() -> Class {
    Class::Enforcing { key_window_ms: REPEATS_MS, margin_ms: REPEATS_MARGIN_MS }
}

/// The connector, with the rules for places that may not be called again: a call in doubt is looked at where there is a
/// key for that, else by a person.
pub(super) fn connector(n8n: &Arc<N8n>, rules: &Provider) -> ResumeConnector {
    let lookup = Lookup { settle_delay_ms: SETTLE_DELAY_MS, authoritative: true, period_ms: LOOK_PERIOD_MS };
    let lookup = n8n.api_key().is_some().then_some(lookup);
    ResumeConnector::new(Arc::clone(n8n), Provider { class: Class::Advisory, lookup, ..rules.clone() })
}
