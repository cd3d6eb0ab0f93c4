//! The provider registry: what is known of common systems, as data (`providers/*.toml` at the root of the repository),
//! embedded in the binary. A section of the config takes what it leaves out from one of them ([`apply`]); people read
//! them by `effectgate providers`.
//!
//! Nothing is judged here: what comes out of [`apply`] goes through the same eyes as any other config.

mod merge;
mod near;
mod preset;
#[cfg(test)]
mod tests;
pub(crate) mod words;

use std::sync::LazyLock;

pub(crate) use merge::{Origins, apply};
pub(crate) use preset::Preset;

/// Every file of the registry, by its name.
const FILES: [(&str, &str); 17] = [
    ("adyen", include_str!("../../../../providers/adyen.toml")),
    ("github", include_str!("../../../../providers/github.toml")),
    ("hubspot", include_str!("../../../../providers/hubspot.toml")),
    ("mailgun", include_str!("../../../../providers/mailgun.toml")),
    ("paypal", include_str!("../../../../providers/paypal.toml")),
    ("postmark", include_str!("../../../../providers/postmark.toml")),
    ("salesforce", include_str!("../../../../providers/salesforce.toml")),
    ("sendgrid", include_str!("../../../../providers/sendgrid.toml")),
    ("shopify", include_str!("../../../../providers/shopify.toml")),
    ("slack", include_str!("../../../../providers/slack.toml")),
    ("smtp", include_str!("../../../../providers/smtp.toml")),
    ("square", include_str!("../../../../providers/square.toml")),
    ("stripe", include_str!("../../../../providers/stripe.toml")),
    ("twilio", include_str!("../../../../providers/twilio.toml")),
    ("webhook", include_str!("../../../../providers/webhook.toml")),
    ("yookassa", include_str!("../../../../providers/yookassa.toml")),
    ("zendesk", include_str!("../../../../providers/zendesk.toml")),
];

static PRESETS: LazyLock<Vec<Preset>> = LazyLock::new(|| {
    let read = |(_, text): &(&str, &str)| Preset::read(text).expect("a test reads every file that is embedded");
    FILES.iter().map(read).collect()
});

/// All of them, by name.
pub(crate) fn all() -> &'static [Preset] {
    &PRESETS
}

/// The one of this name.
pub(crate) fn find(name: &str) -> Option<&'static Preset> {
    all().iter().find(|preset| preset.name == name)
}

/// Names that were perhaps meant, the nearest first.
pub(crate) fn near(name: &str) -> Vec<&'static str> {
    near::among(name, all().iter().map(|preset| preset.name.as_str()))
}
