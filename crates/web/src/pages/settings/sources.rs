//! A source in words: how its senders show who they are, where its keys come from, and where its runs are brought.
//! Neither secrets nor the path of the worker's address, which lets whoever knows it call the worker.

use effectgate_core::{ids::SourceName, time::Timestamp};
use effectgate_engine::inbound::{DeliverPolicy, KeyRule, KeyWord, Scheme, SourcePolicy};

use super::{
    super::{text::Shown, time::exact},
    Setting,
};

pub(super) struct SourceBlock {
    pub(super) name: Shown,
    pub(super) scheme: &'static str,
    /// True where whoever reaches the door is believed.
    pub(super) is_open: bool,
    pub(super) settings: Vec<Setting>,
}

impl SourceBlock {
    /// `paused_until` is when this process calls the worker again, if it found it away.
    pub(super) fn new(name: &SourceName, policy: &SourcePolicy, paused_until: Option<Timestamp>) -> Self {
        let mut settings = vec![
            Setting::new("Door", format!("POST /in/{name}")),
            Setting::new("Flow", policy.flow.as_str()),
            Setting::new("Key", key(&policy.key)),
        ];
        match &policy.deliver {
            None => settings.push(Setting::new("Delivery", "none: workers claim")),
            Some(to) => settings.extend(delivery(to)),
        }
        settings.extend(
            paused_until.map(|at| Setting::new("Its worker", format!("was last found away; the next call at {at}"))),
        );
        let scheme = policy.signature.scheme();
        Self {
            name: Shown::new(name.as_str()),
            scheme: scheme_word(scheme),
            is_open: matches!(scheme, Scheme::None),
            settings,
        }
    }
}

const fn scheme_word(scheme: &Scheme) -> &'static str {
    match scheme {
        Scheme::StandardWebhooks => "Standard Webhooks",
        Scheme::Stripe => "Stripe",
        Scheme::Github => "GitHub",
        Scheme::Hmac(_) => "HMAC",
        Scheme::SharedSecret(_) => "shared secret",
        Scheme::None => "unsigned",
    }
}

fn key(rule: &KeyRule) -> String {
    match rule {
        KeyRule::Whole(word) => word_of(word),
        KeyRule::Parts { source, event_type, external_id, version } => {
            [source, event_type, external_id, version].map(word_of).join(" : ")
        }
    }
}

fn word_of(word: &KeyWord) -> String {
    match word {
        KeyWord::Member(pointer) => pointer.clone(),
        KeyWord::Header(name) => format!("the header {name}"),
        KeyWord::Fixed(text) => format!("'{text}'"),
    }
}

fn delivery(to: &DeliverPolicy) -> Vec<Setting> {
    let timeout = exact(i64::try_from(to.timeout_ms).unwrap_or(i64::MAX));
    vec![
        Setting::new("Worker at", to.url.origin().ascii_serialization()),
        Setting::new("Calls", format!("{} at once, each of {timeout} at most", to.concurrent)),
        Setting::new("Lease of a delivered run", exact(to.lease_ms)),
        Setting::new("Given up after", exact(to.give_up_ms)),
    ]
}
