//! What an smtp provider's section says, as settings of the mail connector. Mail is always advisory: no server promises
//! to drop a second copy.

use effectgate_core::ids::EffectType;
use effectgate_engine::{
    connect::{
        smtp::{SmtpCredentials, SmtpLimits, SmtpServer, SmtpTls},
        tls::Tls,
    },
    connectors::{SmtpConnector, SmtpSettings},
};
use url::{Host, Url};

use super::judge::{Judge, unsigned};
use crate::config::{
    Config,
    provider::{ClassWord, ProviderConfig, ProviderKind, RequestConfig, TlsWord},
};

const CONNECT_MS: i64 = 10_000;
/// RFC 5321 section 4.5.3.2 gives each command five minutes; the dialogue as a whole gets as much.
const TIMEOUT_MS: i64 = 300_000;
/// RFC 5321 section 4.5.3.2.6.
const FINAL_REPLY_MS: i64 = 600_000;
/// The connector waits a second for a late reply to a broken transfer, and a second for the goodbye.
const AFTERWORDS_MS: i64 = 2_000;
const HOUR_MS: i64 = 3_600_000;

/// How long one attempt can take in all.
pub(super) fn attempt_ms_max(provider: &ProviderConfig) -> i64 {
    let total = provider.timeout_ms.unwrap_or(TIMEOUT_MS);
    total.saturating_add(provider.final_reply_timeout_ms.unwrap_or(FINAL_REPLY_MS)).saturating_add(AFTERWORDS_MS)
}

/// The connector for effects. Its sender is its own `from`, or that of the notices that use it.
pub(super) fn connector(
    judge: &mut Judge<'_>,
    at: &str,
    config: &Config,
    name: &str,
    tls: Option<Tls>,
) -> Option<SmtpConnector> {
    let provider = config.providers.get(name)?;
    foreign(judge, at, provider);
    let notices = config.notify.mail.as_ref().filter(|mail| mail.provider == name).map(|mail| mail.from.as_str());
    let Some(from) = provider.from.as_deref().or(notices) else {
        judge.refuse(&format!("{at}.from"), "it is not said who the mails are from", "Name the sender's address.");
        return None;
    };
    let effects = provider.effects.keys().map(EffectType::new).collect();
    let settings = settings(judge, at, config, provider, from)?;
    let settings = SmtpSettings { effects, ..settings };
    SmtpConnector::new(settings, tls?).map_err(|faults| judge.refuse_settings(at, faults)).ok()
}

/// Server, limits and sender, without effects.
pub(super) fn settings(
    judge: &mut Judge<'_>,
    at: &str,
    config: &Config,
    provider: &ProviderConfig,
    from: &str,
) -> Option<SmtpSettings> {
    let limits = limits(judge, at, provider);
    let server = server(judge, at, config, provider)?;
    let allow_private = provider.allow_private || is_here(&server.host);
    Some(SmtpSettings { server, from: from.to_owned(), allow_private, limits, effects: Default::default() })
}

/// The mail server on this machine is the usual one: naming it is allowing it.
fn is_here(host: &str) -> bool {
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

fn limits(judge: &mut Judge<'_>, at: &str, provider: &ProviderConfig) -> SmtpLimits {
    let why = "Between a second and an hour.";
    let asked = provider.timeout_ms.unwrap_or(TIMEOUT_MS);
    let total = judge.within(&format!("{at}.timeout_ms"), asked, 1_000, HOUR_MS, why);
    // Its parts are not held against a number that was refused.
    let most = if asked == total { total } else { HOUR_MS };
    let connect = provider.connect_timeout_ms.unwrap_or(CONNECT_MS.min(most));
    let within_total = "It is a part of timeout_ms, so not more than that, and not nothing.";
    let connect = judge.within(&format!("{at}.connect_timeout_ms"), connect, 10, most, within_total);
    let last = provider.final_reply_timeout_ms.unwrap_or(FINAL_REPLY_MS);
    let last = judge.within(&format!("{at}.final_reply_timeout_ms"), last, 1_000, HOUR_MS, why);
    if last < FINAL_REPLY_MS {
        let what = "shorter than the 600 s of RFC 5321: slow servers will leave outcomes unknown";
        judge.note(&format!("{at}.final_reply_timeout_ms"), what);
    }
    SmtpLimits { connect_ms: unsigned(connect), total_ms: unsigned(total), final_reply_timeout_ms: unsigned(last) }
}

fn server(judge: &mut Judge<'_>, at: &str, config: &Config, provider: &ProviderConfig) -> Option<SmtpServer> {
    let tls = provider.tls.unwrap_or(TlsWord::Starttls);
    let port = provider.port.unwrap_or(match tls {
        TlsWord::None => 25,
        TlsWord::Starttls => 587,
        TlsWord::Tls => 465,
    });
    let port = judge.within(&format!("{at}.port"), port, 1, 65_535, "Ports are from 1 to 65535.");
    let password_at = format!("{at}.password");
    let password = judge.secret(&password_at, provider.password.as_ref(), provider.password_file.as_deref());
    let has_password = provider.password.is_some() || provider.password_file.is_some();
    if provider.username.is_some() != has_password {
        judge.refuse(&password_at, "a user name and a password come together", "Give both, or neither.");
    }
    let Some(host) = &provider.host else {
        judge.refuse(&format!("{at}.host"), "an smtp provider has a host", "Name the mail server.");
        return None;
    };
    let credentials = provider.username.clone().zip(password);
    Some(SmtpServer {
        host: host.clone(),
        port: unsigned(port),
        tls: match tls {
            TlsWord::None => SmtpTls::None,
            TlsWord::Starttls => SmtpTls::StartTls,
            TlsWord::Tls => SmtpTls::Tls,
        },
        credentials: credentials.map(|(username, password)| SmtpCredentials { username, password }),
        hello_name: hello_name(config),
    })
}

/// The name people reach this server by; an address as a literal (RFC 5321 section 4.1.3).
fn hello_name(config: &Config) -> String {
    let url = config.server.public_url.as_deref().and_then(|text| Url::parse(text).ok());
    match url.as_ref().and_then(Url::host) {
        Some(Host::Domain(name)) => name.to_owned(),
        Some(Host::Ipv4(ip)) => format!("[{ip}]"),
        Some(Host::Ipv6(ip)) => format!("[IPv6:{ip}]"),
        None => "[127.0.0.1]".to_owned(),
    }
}

/// Members of the other kind, and promises that mail cannot keep.
fn foreign(judge: &mut Judge<'_>, at: &str, provider: &ProviderConfig) {
    if provider.class == ClassWord::Enforcing {
        let what = "no mail server promises to drop a second copy";
        judge.refuse(&format!("{at}.class"), what, "Say advisory: silence after the final dot then goes to a person.");
    }
    let members = [
        ("url", provider.url.is_some()),
        ("auth", provider.auth.is_some()),
        ("key_header", provider.key_header.is_some()),
        ("key_field", provider.key_field.is_some()),
        ("key_window_ms", provider.key_window_ms.is_some()),
        ("key_window_margin_ms", provider.key_window_margin_ms.is_some()),
        ("lookup", provider.lookup.is_some()),
        ("first_byte_timeout_ms", provider.first_byte_timeout_ms.is_some()),
        ("conflict_in_flight", provider.conflict_in_flight),
        ("in_flight", !provider.in_flight.is_empty()),
        ("external_id_required", provider.external_id_required),
    ];
    for (member, _) in members.into_iter().filter(|(_, is_there)| *is_there) {
        judge.refuse(&format!("{at}.{member}"), "this belongs to http providers", "Leave it out.");
    }
    for (name, _) in provider.effects.iter().filter(|(_, request)| **request != RequestConfig::default()) {
        let what = "a mail is made of its payload: to, subject, text, html";
        judge.refuse(&format!("{at}.effects.{name}"), what, "Leave the section empty.");
    }
}

/// True for the name of an smtp provider.
pub(super) fn is_smtp(config: &Config, name: &str) -> bool {
    config.providers.get(name).is_some_and(|provider| provider.kind == ProviderKind::Smtp)
}
