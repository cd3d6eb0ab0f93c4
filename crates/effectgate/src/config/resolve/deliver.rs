//! `[sources.NAME.deliver]`: the worker that is called with each run, and how patiently.

use effectgate_engine::{
    connect::tls::Tls,
    inbound::{DeliverPolicy, DeliverSettings},
};
use url::Url;

use super::{
    flow::LEASE_MARGIN_MS,
    http,
    judge::{Judge, unsigned},
};
use crate::config::{flow::FlowConfig, source::DeliverConfig};

/// Ten minutes: what takes longer answers at once and goes on under its lease.
const TIMEOUT_MS_MAX: i64 = 600_000;
const CONCURRENT_MAX: i64 = 256;
const MINUTE_MS: i64 = 60_000;
const MONTH_MS: i64 = 30 * 86_400_000;

/// `flow` is `None` where the source names none that there is; its lease is then not held against anything.
pub(super) fn policy(
    judge: &mut Judge<'_>,
    at: &str,
    config: &DeliverConfig,
    flow: Option<&FlowConfig>,
) -> Option<DeliverPolicy> {
    let why = "Between a tenth of a second and ten minutes.";
    let timeout_ms = judge.within(&format!("{at}.timeout_ms"), config.timeout_ms, 100, TIMEOUT_MS_MAX, why);
    let why = "At least one call at once, and no more than a worker bears.";
    let concurrent = judge.within(&format!("{at}.concurrent"), config.concurrent, 1, CONCURRENT_MAX, why);
    let why = "Between a minute and a month: a worker that restarts is away for less, one that is away longer is gone.";
    let give_up_ms = judge.within(&format!("{at}.give_up_ms"), config.give_up_ms, MINUTE_MS, MONTH_MS, why);
    let lease_ms = lease(judge, at, config, flow);
    // Refused credentials are a fault on record: nothing is called without them.
    let auth = config.auth.as_ref().map(|auth| http::auth(judge, &format!("{at}.auth"), auth));
    let file = config.ca_file.as_deref().map(|file| judge.place(file));
    let tls = Tls::new(file.as_deref());
    let tls =
        tls.map_err(|e| judge.refuse(&format!("{at}.ca_file"), e.to_string(), "Name a PEM file of CA certificates."));
    let advice = "Write the worker's webhook, as in http://127.0.0.1:5678/webhook/ticket.";
    let url = Url::parse(&config.url);
    let url = url.map_err(|e| judge.refuse(&format!("{at}.url"), format!("this is no URL: {e}"), advice)).ok();
    let auth = match auth {
        Some(None) => return None,
        auth => auth.flatten(),
    };
    let (timeout_ms, concurrent) = (unsigned(timeout_ms), unsigned(concurrent));
    let settings = DeliverSettings { url: url?, auth, timeout_ms, concurrent, lease_ms: lease_ms?, give_up_ms };
    DeliverPolicy::new(settings, tls.ok()?).map_err(|faults| judge.refuse_settings(at, faults)).ok()
}

/// The lease a delivered run is claimed with: within the flow's bounds, and longer than the call that hands it over, or
/// a second worker would be called while the first still reads.
fn lease(judge: &mut Judge<'_>, at: &str, config: &DeliverConfig, flow: Option<&FlowConfig>) -> Option<i64> {
    let flow = flow?;
    let at = format!("{at}.lease_ms");
    let why = "A lease of this flow lies between its lease_ms_min and lease_ms_max.";
    let asked = config.lease_ms.unwrap_or(flow.lease_ms);
    let lease_ms = match config.lease_ms {
        Some(asked) => judge.within(&at, asked, flow.lease_ms_min, flow.lease_ms_max.max(flow.lease_ms_min), why),
        None => asked,
    };
    let longest = config.timeout_ms.max(flow.step_timeout_ms.unwrap_or_default());
    // A lease of the flow's that is a fault there is not told here a second time.
    let is_told = config.lease_ms.is_none() && !(flow.lease_ms_min..=flow.lease_ms_max).contains(&asked);
    if !is_told && asked < longest.saturating_add(LEASE_MARGIN_MS) {
        let what = format!(
            "a lease of {asked} ms can end before the call does (timeout_ms or step_timeout_ms: {longest} ms and \
             {LEASE_MARGIN_MS} to spare)"
        );
        judge.refuse(&at, what, "Lengthen the lease, or shorten that time-out.");
    }
    Some(lease_ms)
}
