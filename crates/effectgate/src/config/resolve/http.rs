//! What an http provider's section says, as settings of the connector.

use std::collections::BTreeMap;

use effectgate_core::{
    ids::EffectType,
    provider::{Class, InFlight, ReplayMark},
};
use effectgate_engine::{
    connect::{http::HttpLimits, tls::Tls},
    connectors::{
        Auth, Content, HttpConnector, HttpSettings, KeyPlace, LookupMethod, LookupSettings, MemberIs, RequestSettings,
        WriteMethod,
    },
};
use url::Url;

use super::{
    judge::{Judge, unsigned},
    provider::enforcing,
};
use crate::config::provider::{
    AuthConfig, ClassWord, ContentWord, FactsConfig, InFlightConfig, LookupConfig, LookupMethodWord, MemberConfig,
    MethodWord, ProviderConfig, ProviderKind, RequestConfig,
};
use crate::presets;

/// What an API call in a workflow may take.
pub(super) const TIMEOUT_MS: i64 = 10_000;
const CONNECT_MS: i64 = 2_000;
/// Ten minutes: what takes longer is a job to be started, not a call to be waited for.
const TIMEOUT_MS_MAX: i64 = 600_000;

pub(super) struct Statuses {
    pub(super) refused: Vec<u16>,
    pub(super) not_done: Vec<u16>,
}

pub(super) fn class(judge: &mut Judge<'_>, at: &str, provider: &ProviderConfig) -> Option<Class> {
    match provider.class {
        ClassWord::Enforcing => {
            covered(judge, at, provider);
            enforcing(judge, at, provider)
        }
        ClassWord::Advisory => {
            let members =
                [("key_window_ms", provider.key_window_ms), ("key_window_margin_ms", provider.key_window_margin_ms)];
            for (member, _) in members.into_iter().filter(|(_, value)| value.is_some()) {
                let what = "an advisory provider has no key window";
                let advice = "Say class = \"enforcing\" if the provider honours our key, or leave this out.";
                judge.refuse(&format!("{at}.{member}"), what, advice);
            }
            let members =
                [("conflict_in_flight", provider.conflict_in_flight), ("in_flight", !provider.in_flight.is_empty())];
            for (member, _) in members.into_iter().filter(|(_, is_there)| *is_there) {
                let what = "an answer such as 409 can only mean \"our key is in use\" where the provider keeps keys";
                judge.refuse(&format!("{at}.{member}"), what, "Say class = \"enforcing\", or leave this out.");
            }
            Some(Class::Advisory)
        }
    }
}

/// A preset's class holds for the requests that its documentation speaks of, and for no others.
fn covered(judge: &mut Judge<'_>, at: &str, provider: &ProviderConfig) {
    let Some(preset) = provider.preset.as_deref().and_then(presets::find) else { return };
    let base = provider.url.as_deref().and_then(|url| Url::parse(url).ok());
    let base = base.as_ref().map_or("", |url| url.path().trim_end_matches('/'));
    let what = |method: &str, path: &str| {
        format!("{} documents its keys for {}, not for {method} {path}", preset.title, preset.key.covers.join(", "))
    };
    for (name, request) in &provider.effects {
        let method = request.method.unwrap_or(MethodWord::Post).as_str();
        let path = format!("{base}{}", request.path.as_deref().unwrap_or_default());
        if !preset.covers(method, &path) {
            let advice = "Put this effect into a provider section of its own with class = \"advisory\", or leave the preset out and declare what you have read.";
            judge.refuse(&format!("{at}.effects.{name}"), what(method, &path), advice);
        }
    }
    let Some(out) = &provider.out else { return };
    let passes = out.paths.iter().flat_map(|path| super::out::methods(out).into_iter().map(move |word| (word, path)));
    let wide = |(word, path): &(MethodWord, &String)| !preset.covers_below(word.as_str(), &format!("{base}{path}"));
    if let Some((word, path)) = passes.into_iter().find(wide) {
        let advice = "Name methods and paths that it covers, or open the door in a provider section of its own with class = \"advisory\".";
        let below = format!("{base}{}/…", path.trim_end_matches('/'));
        judge.refuse(&format!("{at}.out"), what(word.as_str(), &below), advice);
    }
}

/// True where our key needs no header: every request has it in its path, its body or a header of its own. A request that
/// comes through a door is the caller's own and has no such place.
pub(super) fn every_request_names_the_key(provider: &ProviderConfig) -> bool {
    let names = |text: &String| text.contains("provider_key");
    let named = |r: &RequestConfig| r.path.iter().chain(&r.body).chain(r.headers.values()).any(names);
    provider.out.is_none() && !provider.effects.is_empty() && provider.effects.values().all(named)
}

pub(super) fn connector(
    judge: &mut Judge<'_>,
    at: &str,
    provider: &ProviderConfig,
    tls: Option<Tls>,
) -> Option<HttpConnector> {
    foreign(judge, at, provider);
    let limits = limits(judge, at, provider);
    let key = key(judge, at, provider);
    // Refused credentials are a fault on record: nothing is sent without them, and the rest is judged all the same.
    let auth = provider.auth.as_ref().and_then(|auth| self::auth(judge, &format!("{at}.auth"), auth));
    let effects = effects(judge, at, provider);
    let lookup = provider.lookup.as_ref().map(|lookup| self::lookup(judge, at, lookup));
    let settings = HttpSettings {
        url: url(judge, at, provider)?,
        allow_private: provider.allow_private,
        auth,
        key: key?,
        replayed: provider.facts.as_ref().and_then(replay_mark),
        limits,
        effects,
        lookup,
        door: super::out::door(judge, at, provider),
    };
    HttpConnector::new(&settings, tls?).map_err(|faults| judge.refuse_settings(at, faults)).ok()
}

/// Members of the other kind.
fn foreign(judge: &mut Judge<'_>, at: &str, provider: &ProviderConfig) {
    let members = [
        ("host", provider.host.is_some()),
        ("port", provider.port.is_some()),
        ("tls", provider.tls.is_some()),
        ("username", provider.username.is_some()),
        ("password", provider.password.is_some()),
        ("password_file", provider.password_file.is_some()),
        ("from", provider.from.is_some()),
        ("final_reply_timeout_ms", provider.final_reply_timeout_ms.is_some()),
    ];
    for (member, _) in members.into_iter().filter(|(_, is_there)| *is_there) {
        judge.refuse(&format!("{at}.{member}"), "this belongs to smtp providers", "Leave it out, or see url and auth.");
    }
}

fn url(judge: &mut Judge<'_>, at: &str, provider: &ProviderConfig) -> Option<Url> {
    let at = format!("{at}.url");
    let advice = "Write the beginning of all its addresses, as in https://api.example.com.";
    let Some(text) = &provider.url else {
        let example = provider.preset.as_deref().and_then(presets::find).and_then(|preset| preset.needs.get("url"));
        let advice = example.map_or_else(|| advice.to_owned(), |url| format!("At this provider: url = {url}"));
        judge.refuse(&at, "an http provider has a url", advice);
        return None;
    };
    Url::parse(text).map_err(|e| judge.refuse(&at, format!("this is no URL: {e}"), advice)).ok()
}

fn limits(judge: &mut Judge<'_>, at: &str, provider: &ProviderConfig) -> HttpLimits {
    let why = "Between a tenth of a second and ten minutes.";
    let asked = provider.timeout_ms.unwrap_or(TIMEOUT_MS);
    let total = judge.within(&format!("{at}.timeout_ms"), asked, 100, TIMEOUT_MS_MAX, why);
    // Its parts are not held against a number that was refused.
    let most = if asked == total { total } else { TIMEOUT_MS_MAX };
    let within_total = "It is a part of timeout_ms, so not more than that, and not nothing.";
    let connect = provider.connect_timeout_ms.unwrap_or(CONNECT_MS.min(most));
    let connect = judge.within(&format!("{at}.connect_timeout_ms"), connect, 10, most, within_total);
    let first_byte = provider.first_byte_timeout_ms.unwrap_or(total);
    let first_byte = judge.within(&format!("{at}.first_byte_timeout_ms"), first_byte, 10, most, within_total);
    HttpLimits {
        connect_ms: unsigned(connect),
        first_byte_ms: unsigned(first_byte),
        total_ms: unsigned(total),
        ..HttpLimits::default()
    }
}

fn key(judge: &mut Judge<'_>, at: &str, provider: &ProviderConfig) -> Option<KeyPlace> {
    match (&provider.key_header, &provider.key_field) {
        (Some(_), Some(_)) => {
            judge.refuse(&format!("{at}.key_field"), "the key goes to one place", "Keep key_header or key_field.");
            None
        }
        (Some(header), None) => Some(KeyPlace::Header(header.clone())),
        (None, Some(field)) => Some(KeyPlace::Field(field.clone())),
        (None, None) => Some(KeyPlace::default()),
    }
}

pub(super) fn auth(judge: &mut Judge<'_>, at: &str, config: &AuthConfig) -> Option<Auth> {
    let bearer = judge.secret(&format!("{at}.bearer"), config.bearer.as_ref(), config.bearer_file.as_deref());
    let password = judge.secret(&format!("{at}.password"), config.password.as_ref(), config.password_file.as_deref());
    let value = judge.secret(&format!("{at}.value"), config.value.as_ref(), config.value_file.as_deref());
    let has_bearer = config.bearer.is_some() || config.bearer_file.is_some();
    let has_password = config.password.is_some() || config.password_file.is_some();
    let has_value = config.value.is_some() || config.value_file.is_some();
    match (has_bearer, &config.username, has_password, &config.header, has_value) {
        (true, None, false, None, false) => Some(Auth::Bearer(bearer?)),
        (false, Some(username), true, None, false) => {
            Some(Auth::Basic { username: username.clone(), password: password? })
        }
        (false, None, false, Some(name), true) => Some(Auth::Header { name: name.clone(), value: value? }),
        _ => {
            let what = "this is not one way to show who we are";
            judge.refuse(at, what, "Give bearer, or username and password, or header and value.");
            None
        }
    }
}

fn effects(judge: &mut Judge<'_>, at: &str, provider: &ProviderConfig) -> BTreeMap<EffectType, RequestSettings> {
    let mut effects = BTreeMap::new();
    for (name, request) in &provider.effects {
        match &request.path {
            Some(path) => {
                effects.insert(EffectType::new(name), settings(request, path));
            }
            None => {
                let at = format!("{at}.effects.{name}.path");
                judge.refuse(&at, "the request has no path", "Write it, as in /v1/refunds; at least /.");
            }
        }
    }
    effects
}

fn settings(request: &RequestConfig, path: &str) -> RequestSettings {
    RequestSettings {
        method: match request.method.unwrap_or(MethodWord::Post) {
            MethodWord::Post => WriteMethod::Post,
            MethodWord::Put => WriteMethod::Put,
            MethodWord::Patch => WriteMethod::Patch,
            MethodWord::Delete => WriteMethod::Delete,
        },
        path: path.to_owned(),
        body: request.body.clone(),
        content: match request.content.unwrap_or(ContentWord::Json) {
            ContentWord::Json => Content::Json,
            ContentWord::Form => Content::Form,
        },
        headers: request.headers.iter().map(|(name, text)| (name.clone(), text.clone())).collect(),
        external_id: request.external_id.clone(),
        success: request.success.as_ref().map(member),
    }
}

fn lookup(judge: &mut Judge<'_>, at: &str, config: &LookupConfig) -> LookupSettings {
    if !config.path.contains("{{") {
        let what = "the question names nothing of the effect, so any answer would be \"found\"";
        let advice = "Put {{ provider_key }}, {{ target }}, {{ effect_id }} or a member of the payload into it.";
        judge.refuse(&format!("{at}.lookup.path"), what, advice);
    }
    LookupSettings {
        method: match config.method {
            LookupMethodWord::Get => LookupMethod::Get,
            LookupMethodWord::Head => LookupMethod::Head,
        },
        path: config.path.clone(),
        found: config.found.clone(),
        list: config.list.clone(),
        in_progress: config.in_progress.as_ref().map(member),
    }
}

pub(super) fn replay_mark(facts: &FactsConfig) -> Option<ReplayMark> {
    let mark = facts.replayed.as_ref()?;
    Some(ReplayMark { header: mark.header.clone(), equals: mark.equals.clone() })
}

/// Answers that mean "our key is in use", told from others of their status by a member.
pub(super) fn in_flight(judge: &mut Judge<'_>, at: &str, provider: &ProviderConfig) -> Vec<InFlight> {
    for rule in &provider.in_flight {
        if !(400..=599).contains(&rule.status) || !effectgate_core::json::is_pointer(&rule.pointer) {
            let what = format!(
                "{} with {:?} is not how an answer could say that our key is in use",
                rule.status, rule.pointer
            );
            judge.refuse(
                &format!("{at}.in_flight"),
                what,
                "Name a status from 400 to 599 and a JSON Pointer, as in /code.",
            );
        }
    }
    let rule = |rule: &InFlightConfig| InFlight {
        status: rule.status,
        member: Some((rule.pointer.clone(), rule.equals.clone())),
    };
    provider.in_flight.iter().map(rule).collect()
}

fn member(config: &MemberConfig) -> MemberIs {
    MemberIs { pointer: config.pointer.clone(), equals: config.equals.clone() }
}

/// The declared statuses, without those that can mean that something happened.
pub(super) fn statuses(judge: &mut Judge<'_>, at: &str, provider: &ProviderConfig) -> Statuses {
    let is_http = provider.kind == ProviderKind::Http;
    for status in &provider.refused {
        let is_sound = is_http && (400..=499).contains(status) && !matches!(status, 408 | 425 | 429);
        let clashes = *status == 409 && provider.conflict_in_flight;
        if !is_sound || clashes {
            let what = format!("{status} cannot be declared a definite refusal");
            let advice = "Name 4xx statuses of an http provider, without 408, 425, 429, or 409 where conflict_in_flight says \
                          what it means: they do not prove that nothing happened.";
            judge.refuse(&format!("{at}.refused"), what, advice);
        }
    }
    for status in &provider.not_done {
        if !is_http || !(501..=599).contains(status) || matches!(status, 502 | 504) {
            let what = format!("{status} cannot be declared to mean \"nothing was done\"");
            let advice = "503 can, where the provider documents it; 500, 502 and 504 say nothing about what was done.";
            judge.refuse(&format!("{at}.not_done"), what, advice);
        }
    }
    Statuses { refused: provider.refused.clone(), not_done: provider.not_done.clone() }
}
