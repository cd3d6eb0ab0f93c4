//! The HTTP connector: one provider's URL, credentials, templates and lookup, and the only place that holds them.
//!
//! The host of the URL is the one declared host; no template can name another. Lookups go through the same thin client
//! as effects, and only by GET or HEAD.

use std::collections::BTreeMap;

use async_trait::async_trait;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use effectgate_core::{
    effect::Effect,
    ids::EffectType,
    outcome::{Phase, Report},
    provider::ReplayMark,
    retry::{Look, Success},
};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use url::Url;

use super::{
    Faults, SettingError,
    door::{Door, DoorSettings},
    key::KeyPlace,
    lookup::{Lookup, LookupSettings},
    request::{self, Compiled, RequestSettings},
};
use crate::{
    connect::{
        AlwaysOpen, WriteGate,
        guard::EgressGuard,
        http::{HttpLimits, HttpRequest, send, send_keyed},
        template::Facts,
        tls::Tls,
    },
    connector::Connector,
    outbound::{Kept, OUT_TYPE, Redact},
    view::FindingView,
};

/// Some providers refuse requests that do not say who asks.
const USER_AGENT: &str = concat!("effectgate/", env!("CARGO_PKG_VERSION"));

/// Everything one HTTP provider needs.
pub struct HttpSettings {
    /// What every path is appended to.
    pub url: Url,
    /// True: the host may lie in the own network.
    pub allow_private: bool,
    pub auth: Option<Auth>,
    pub key: KeyPlace,
    /// How it marks an answer that it had kept for our key.
    pub replayed: Option<ReplayMark>,
    pub limits: HttpLimits,
    pub effects: BTreeMap<EffectType, RequestSettings>,
    pub lookup: Option<LookupSettings>,
    /// The outbound door, where the section opens one.
    pub door: Option<DoorSettings>,
}

/// Credentials. Never printed.
pub enum Auth {
    Bearer(SecretString),
    Basic { username: String, password: SecretString },
    Header { name: String, value: SecretString },
}

/// A provider spoken to by HTTP.
pub struct HttpConnector {
    base: String,
    guard: EgressGuard,
    tls: Tls,
    auth: Option<(String, SecretString)>,
    key: KeyPlace,
    replayed: Option<ReplayMark>,
    limits: HttpLimits,
    effects: BTreeMap<EffectType, Compiled>,
    lookup: Option<Lookup>,
    door: Option<Door>,
}

impl HttpConnector {
    /// Judges the settings.
    ///
    /// # Errors
    /// Every setting that cannot be used, by its member.
    pub fn new(settings: &HttpSettings, tls: Tls) -> Result<Self, Vec<SettingError>> {
        let mut faults = Faults::default();
        let guard = judge_url(settings, &mut faults);
        let auth = settings.auth.as_ref().map(|auth| faults.keep(auth.header())).unwrap_or_default();
        judge_key(&settings.key, auth.as_ref(), &mut faults);
        judge_mark(settings.replayed.as_ref(), &mut faults);
        let mut effects = BTreeMap::new();
        for (name, request) in &settings.effects {
            let at = format!("effects.{name}");
            if let Some(compiled) = Compiled::new(request, &at, &settings.key, &mut faults) {
                effects.insert(name.clone(), compiled);
            }
        }
        let lookup = settings.lookup.as_ref().and_then(|lookup| Lookup::new(lookup, &mut faults));
        if settings.door.is_some() && settings.effects.contains_key(&EffectType::new(OUT_TYPE)) {
            let what = "the type http is what comes through the outbound door";
            faults.add("effects.http", what, "Give this effect type another name.");
        }
        let door = settings.door.as_ref().map(|door| {
            let redact = redact(auth.as_ref(), settings.auth.as_ref());
            Door::new(door, auth.as_ref(), &settings.key, redact, &mut faults)
        });
        let base = settings.url.as_str().trim_end_matches('/').to_owned();
        let (key, replayed, limits) = (settings.key.clone(), settings.replayed.clone(), settings.limits);
        faults.or(guard.map(|guard| Self { base, guard, tls, auth, key, replayed, limits, effects, lookup, door }))
    }

    fn request(&self, effect: &Effect) -> Result<HttpRequest, String> {
        let compiled = self.effects.get(&effect.effect_type).ok_or("this provider has no effect of that type")?;
        let filled = compiled.fill(effect, &self.key)?;
        let mut headers = self.headers();
        headers.push(("Content-Type".to_owned(), SecretString::from(compiled.content.media_type())));
        if let KeyPlace::Header(name) = &self.key {
            headers.push((name.clone(), SecretString::from(effect.provider_key.as_str())));
        }
        headers.extend(filled.headers);
        self.message(compiled.method.clone(), &filled.path, headers, Bytes::from(filled.body))
    }

    /// One request with our key, and the headers of its answer.
    async fn keyed(&self, request: HttpRequest, limits: &HttpLimits, gate: &dyn WriteGate) -> (Report, HeaderMap) {
        send_keyed(request, self.replayed.as_ref(), limits, &self.guard, &self.tls, gate).await
    }

    /// The door, for effects that came through it.
    fn door_of(&self, effect_type: &EffectType) -> Option<&Door> {
        self.door.as_ref().filter(|_| effect_type.as_str() == OUT_TYPE)
    }

    /// One attempt with a request that came through the door, and the answer as its caller may see it.
    async fn through(&self, door: &Door, effect: &Effect, gate: &dyn WriteGate) -> (Report, Option<Kept>) {
        let request = door.request(effect, &self.key).and_then(|through| {
            let ours = [("User-Agent".to_owned(), SecretString::from(USER_AGENT))].into_iter().chain(self.auth.clone());
            let headers = ours.chain(through.headers).collect();
            self.message(through.method, &through.path, headers, through.body)
        });
        let request = match request {
            Ok(request) => request,
            Err(error) => return (unmade(&error), None),
        };
        let limits = HttpLimits { answer_bytes_max: door.answer_bytes_max, ..self.limits };
        let (mut report, headers) = self.keyed(request, &limits, gate).await;
        let kept = report.answer.as_mut().map(|answer| {
            // As much as may be kept has come: that there was more is our limit's doing and no doubt about the outcome.
            let is_over = !answer.body_complete && answer.body.len() >= limits.answer_bytes_max;
            answer.body_complete |= is_over;
            Kept::of(answer, &headers, &door.redact, is_over)
        });
        (report, kept)
    }

    fn question(&self, lookup: &Lookup, effect: &Effect) -> Result<HttpRequest, String> {
        let id = effect.id.to_string();
        let facts = Facts {
            payload: &effect.payload,
            provider_key: &effect.provider_key,
            target: &effect.target,
            effect_id: &id,
        };
        let path = lookup.path.render(&facts).map_err(|e| e.to_string())?;
        self.message(lookup.method.clone(), &path, self.headers(), Bytes::new())
    }

    fn headers(&self) -> Vec<(String, SecretString)> {
        let plain = [("User-Agent", USER_AGENT), ("Accept", "application/json")];
        let plain = plain.map(|(name, value)| (name.to_owned(), SecretString::from(value)));
        plain.into_iter().chain(self.auth.clone()).collect()
    }

    fn message(
        &self,
        method: Method,
        path: &str,
        headers: Vec<(String, SecretString)>,
        body: Bytes,
    ) -> Result<HttpRequest, String> {
        let url = Url::parse(&format!("{}{path}", self.base)).map_err(|_| "the path makes no URL".to_owned())?;
        Ok(HttpRequest { method, url, headers, body })
    }
}

#[async_trait]
impl Connector for HttpConnector {
    async fn attempt(&self, effect: &Effect, gate: &dyn WriteGate) -> Report {
        self.attempt_kept(effect, gate).await.0
    }

    async fn attempt_kept(&self, effect: &Effect, gate: &dyn WriteGate) -> (Report, Option<Kept>) {
        let (report, kept) = match self.door_of(&effect.effect_type) {
            Some(door) => self.through(door, effect, gate).await,
            None => match self.request(effect) {
                Ok(request) => (self.keyed(request, &self.limits, gate).await.0, None),
                Err(error) => (unmade(&error), None),
            },
        };
        (Report { handle: Some(self.handle(effect)), ..report }, kept)
    }

    fn success(&self, effect_type: &EffectType) -> Success {
        let compiled = self.effects.get(effect_type);
        compiled.map_or(Success { external_id: None, member: None }, Compiled::success)
    }

    async fn look(&self, effect: &Effect) -> Look {
        let Some(lookup) = &self.lookup else {
            return Look::Nothing { detail: "this provider has no lookup".to_owned() };
        };
        match self.question(lookup, effect) {
            Ok(question) => lookup.read(&send(question, &self.limits, &self.guard, &self.tls, &AlwaysOpen).await),
            Err(detail) => Look::Nothing { detail },
        }
    }

    fn check(&self, effect_type: &EffectType, target: &str, payload: &Value) -> Vec<FindingView> {
        if let Some(door) = self.door_of(effect_type) {
            return door.check(&self.key, target, &payload.to_string());
        }
        match self.effects.get(effect_type) {
            Some(compiled) => request::check(compiled, &self.key, target, payload),
            None => vec![FindingView::new("", "type", "the provider has no effect of this type")],
        }
    }
}

/// Nothing left, because there was nothing that could.
fn unmade(error: &str) -> Report {
    Report::not_sent(Phase::Resolve, format!("the request could not be made: {error}"))
}

/// The credentials as they travel, and the password that a provider reads out of them.
fn redact(header: Option<&(String, SecretString)>, auth: Option<&Auth>) -> Redact {
    let password = match auth {
        Some(Auth::Basic { password, .. }) => Some(password),
        Some(Auth::Bearer(_) | Auth::Header { .. }) | None => None,
    };
    Redact::new(header.map(|(_, value)| value).into_iter().chain(password).map(ExposeSecret::expose_secret))
}

impl Auth {
    pub(crate) fn header(&self) -> Result<(String, SecretString), SettingError> {
        let (name, value) = match self {
            Self::Bearer(token) => ("Authorization".to_owned(), format!("Bearer {}", token.expose_secret())),
            Self::Basic { username, password } => {
                let pair = STANDARD.encode(format!("{username}:{}", password.expose_secret()));
                ("Authorization".to_owned(), format!("Basic {pair}"))
            }
            Self::Header { name, value } => (name.clone(), value.expose_secret().to_owned()),
        };
        let is_sound = HeaderName::try_from(name.as_str()).is_ok() && HeaderValue::try_from(value.as_str()).is_ok();
        if !is_sound {
            let what = "these credentials hold characters that a header cannot carry";
            return Err(SettingError::new("auth", what, "Look for a line break or a blank in the secret."));
        }
        Ok((name, SecretString::from(value)))
    }
}

fn judge_url(settings: &HttpSettings, faults: &mut Faults) -> Option<EgressGuard> {
    let url = &settings.url;
    if url.query().is_some() || url.fragment().is_some() {
        faults.add("url", "it has a query or a fragment", "Put the query into the paths.");
    }
    if url.scheme() == "http" && settings.auth.is_some() && !settings.allow_private {
        faults.add("url", "credentials would go out without TLS", "Use https.");
    }
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    let guard = EgressGuard::new([host], settings.allow_private);
    let judged = guard.and_then(|guard| guard.check_url(url).and_then(|to| guard.check_literal(&to)).map(|()| guard));
    judged.map_err(|e| faults.add("url", e, "Use a public host, or allow_private = true for your own network.")).ok()
}

fn judge_key(key: &KeyPlace, auth: Option<&(String, SecretString)>, faults: &mut Faults) {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    match key {
        KeyPlace::Header(name) if HeaderName::try_from(name.as_str()).is_err() => {
            faults.add("key_header", format!("{name:?} is not a header name"), "Use letters, digits and hyphens.");
        }
        KeyPlace::Header(name) if auth.is_some_and(|(auth, _)| auth.eq_ignore_ascii_case(name)) => {
            faults.add("key_header", "the credentials go into the same header", "Name another header for one of them.");
        }
        KeyPlace::Field(name) if name.is_empty() || !name.chars().all(is_plain) => {
            faults.add("key_field", format!("{name:?} is not a plain name"), "Use letters, digits, _ - and dots.");
        }
        _ => {}
    }
}

fn judge_mark(mark: Option<&ReplayMark>, faults: &mut Faults) {
    if let Some(mark) = mark.filter(|mark| HeaderName::try_from(mark.header.as_str()).is_err()) {
        let what = format!("{:?} is not a header name", mark.header);
        faults.add("facts.replayed.header", what, "Use letters, digits and hyphens.");
    }
}
