//! How long a flow keeps what. A key that is forgotten while anything of its run may still happen would let the same
//! event in a second time.

use effectgate_core::{flow::Retention, retry::LOOK_MS_MAX};

use super::judge::Judge;
use crate::config::{
    Config,
    flow::FlowConfig,
    provider::{ClassWord, ProviderConfig},
};

const DAY_MS: i64 = 86_400_000;
/// A hundred years: for ever, in a number that dates can bear.
const DAYS_MAX: i64 = 36_500;

pub(super) fn retention(judge: &mut Judge<'_>, config: &Config, at: &str, flow: &FlowConfig) -> Retention {
    let at = format!("{at}.retention");
    let kept = flow.retention;
    let why = "Between a day and a hundred years.";
    let key_days = judge.within(&format!("{at}.key_days"), kept.key_days, 1, DAYS_MAX, why);
    let journal_days = judge.within(&format!("{at}.journal_days"), kept.journal_days, 1, DAYS_MAX, why);
    let why = "At least a day, and not longer than the key it belongs to.";
    let content_days = judge.within(&format!("{at}.content_days"), kept.content_days, 1, key_days, why);
    let longest = windows(config, flow).into_iter().max_by_key(|(_, ms)| *ms);
    if let Some((what, ms)) = longest.filter(|(_, ms)| key_days.saturating_mul(DAY_MS) < *ms) {
        let what = format!("{key_days} days are shorter than {what} ({ms} ms): the event could run a second time");
        let advice = format!("Keep keys for {} days at least.", ms.div_euclid(DAY_MS) + 1);
        judge.refuse(&format!("{at}.key_days"), what, advice);
    }
    Retention { content_days, key_days, journal_days }
}

/// Everything that may still happen to a run, with its name.
fn windows(config: &Config, flow: &FlowConfig) -> Vec<(String, i64)> {
    let run = flow.lease_total_ms_max.saturating_add(flow.backoff.max_ms).saturating_mul(flow.attempts_max);
    let mut windows = vec![
        ("all attempts of the run".to_owned(), run),
        ("the wait for a review".to_owned(), flow.review_alert_ms),
        ("the wait for an approval".to_owned(), flow.approval.as_ref().map_or(0, |approval| approval.expires_ms)),
    ];
    for effect in flow.effects.values() {
        if let Some(provider) = config.providers.get(&effect.provider) {
            windows.push((format!("what {} can take", effect.provider), of_provider(provider)));
        }
    }
    windows
}

fn of_provider(provider: &ProviderConfig) -> i64 {
    let key = provider.key_window_ms.filter(|_| provider.class == ClassWord::Enforcing).unwrap_or(0);
    let looks = if provider.lookup.is_some() { LOOK_MS_MAX } else { 0 };
    let waits = provider.backoff.max_ms.max(provider.retry_after_ms_max).saturating_mul(provider.attempts_max);
    key.max(looks).max(waits)
}
