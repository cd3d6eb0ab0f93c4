//! `[providers.NAME]` with kind = "record": nothing leaves, so there is nothing to say about how it would.

use effectgate_core::provider::Class;

use super::judge::Judge;
use crate::config::provider::{ProviderConfig, RequestConfig};

/// Recording twice is recording once, for as long as the run is there: what a crash left behind is done again.
pub(super) const CLASS: Class = Class::Enforcing { key_window_ms: 36_500 * 86_400_000, margin_ms: ATTEMPT_MS };
/// One question to the switch.
pub(super) const ATTEMPT_MS: i64 = 5_000;

/// Members of the other kinds.
pub(super) fn foreign(judge: &mut Judge<'_>, at: &str, provider: &ProviderConfig) {
    let members = [
        ("url", provider.url.is_some()),
        ("auth", provider.auth.is_some()),
        ("key_header", provider.key_header.is_some()),
        ("key_field", provider.key_field.is_some()),
        ("key_window_ms", provider.key_window_ms.is_some()),
        ("key_window_margin_ms", provider.key_window_margin_ms.is_some()),
        ("lookup", provider.lookup.is_some()),
        ("refused", !provider.refused.is_empty()),
        ("not_done", !provider.not_done.is_empty()),
        ("conflict_in_flight", provider.conflict_in_flight),
        ("in_flight", !provider.in_flight.is_empty()),
        ("external_id_required", provider.external_id_required),
        ("host", provider.host.is_some()),
        ("port", provider.port.is_some()),
        ("tls", provider.tls.is_some()),
        ("username", provider.username.is_some()),
        ("password", provider.password.is_some()),
        ("password_file", provider.password_file.is_some()),
        ("from", provider.from.is_some()),
        ("final_reply_timeout_ms", provider.final_reply_timeout_ms.is_some()),
        ("allow_private", provider.allow_private),
        ("ca_file", provider.ca_file.is_some()),
        ("connect_timeout_ms", provider.connect_timeout_ms.is_some()),
        ("first_byte_timeout_ms", provider.first_byte_timeout_ms.is_some()),
        ("timeout_ms", provider.timeout_ms.is_some()),
    ];
    let what = "nothing leaves at a provider of kind record";
    for (member, _) in members.into_iter().filter(|(_, is_there)| *is_there) {
        judge.refuse(&format!("{at}.{member}"), what, "Leave it out.");
    }
    for (name, _) in provider.effects.iter().filter(|(_, request)| **request != RequestConfig::default()) {
        judge.refuse(&format!("{at}.effects.{name}"), what, "Leave the section empty.");
    }
}
