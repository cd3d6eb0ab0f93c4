//! `[n8n]`: judged, and made into the one place that says which of the workflow tool's addresses may be called.

use std::sync::Arc;

use effectgate_engine::{
    connect::{http::HttpLimits, tls::Tls},
    n8n::{N8n, N8nSettings},
};

use super::judge::{Judge, unsigned};
use crate::config::n8n::N8nConfig;

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
