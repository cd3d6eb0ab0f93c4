//! `[sources.*]`: who may knock at an inbound door, which key an event has. Where it is delivered to is in `deliver`.

use std::collections::BTreeMap;

use effectgate_core::ids::{FlowName, SourceName};
use effectgate_engine::{
    connectors::SettingError,
    inbound::{Encoding, HmacForm, KeyRule, KeyWord, Scheme, Signature, SourcePolicy},
};
use http::HeaderName;

use super::{deliver, judge::Judge};
use crate::config::{
    Config,
    source::{EncodingWord, KeyPartsConfig, SchemeWord, SignatureConfig, SourceConfig},
};

/// What the Standard Webhooks specification and Stripe's own libraries take: clocks differ and queues back up.
const TOLERANCE_MS: i64 = 300_000;
/// An hour: whoever has seen a delivery could send it again for as long, had it no key.
const TOLERANCE_MS_MAX: i64 = 3_600_000;

/// The doors that may open. Refused ones are faults on record; the rest is judged all the same.
pub(super) fn sources(judge: &mut Judge<'_>, config: &Config) -> BTreeMap<SourceName, SourcePolicy> {
    let one = |(name, source): (&String, &SourceConfig)| {
        let at = format!("sources.{name}");
        judge.name(&at, name);
        Some((SourceName::new(name), self::source(judge, config, &at, source)?))
    };
    config.sources.iter().filter_map(one).collect()
}

fn source(judge: &mut Judge<'_>, config: &Config, at: &str, source: &SourceConfig) -> Option<SourcePolicy> {
    let flow = config.flows.get(&source.flow);
    if flow.is_none() {
        let what = format!("there is no flow {:?}", source.flow);
        judge.refuse(&format!("{at}.flow"), what, "Name one of [flows.*].");
    }
    let signature = signature(judge, &format!("{at}.signature"), &source.signature);
    let key = key(judge, at, source);
    if let (Some(signature), Some(key)) = (&signature, &key) {
        unsigned_key(judge, at, signature.scheme(), key);
    }
    let at = format!("{at}.deliver");
    let deliver = source.deliver.as_ref().map(|deliver| deliver::policy(judge, &at, deliver, flow));
    let deliver = match deliver {
        Some(None) => return None,
        deliver => deliver.flatten(),
    };
    Some(SourcePolicy { flow: FlowName::new(&source.flow), signature: signature?, key: key?, deliver })
}

fn signature(judge: &mut Judge<'_>, at: &str, config: &SignatureConfig) -> Option<Signature> {
    foreign(judge, at, config);
    if config.scheme == SchemeWord::None {
        judge.note(at, "nothing is signed: whoever reaches this door is believed");
    }
    let scheme = scheme(judge, at, config);
    let why = "Between a second and an hour: a signed moment guards against what was seen and is sent again.";
    let tolerance_ms = config.tolerance_ms.unwrap_or(TOLERANCE_MS);
    let tolerance_ms = judge.within(&format!("{at}.tolerance_ms"), tolerance_ms, 1_000, TOLERANCE_MS_MAX, why);
    let given = config.secret.is_some() || config.secret_file.is_some();
    let given_old = config.secret_old.is_some() || config.secret_old_file.is_some();
    let secret = judge.secret(&format!("{at}.secret"), config.secret.as_ref(), config.secret_file.as_deref());
    let old = judge.secret(&format!("{at}.secret_old"), config.secret_old.as_ref(), config.secret_old_file.as_deref());
    if (given && secret.is_none()) || (given_old && old.is_none()) {
        return None;
    }
    let scheme = scheme?;
    // Judged one by one, so that a fault is told at its own member.
    let mut judged = |member: &str, secrets: &[_]| {
        let signature = Signature::new(scheme.clone(), secrets, tolerance_ms);
        signature.map_err(|fault| judge.refuse(&format!("{at}.{member}"), fault.what, fault.advice)).ok()
    };
    let (secret, old): (Vec<_>, Vec<_>) = (secret.into_iter().collect(), old.into_iter().collect());
    judged("secret", &secret)?;
    if !old.is_empty() {
        judged("secret_old", &old)?;
    }
    judged("secret", &[secret, old].concat())
}

/// A key from a header that the signature is not over: what was seen can be sent again under another key, and is then
/// another event. GitHub signs no id of a delivery, so this is said and not refused.
fn unsigned_key(judge: &mut Judge<'_>, at: &str, scheme: &Scheme, key: &KeyRule) {
    let is_signed = |name: &HeaderName| match scheme {
        // Without a signature over anything there is nothing to add.
        Scheme::None | Scheme::SharedSecret(_) => true,
        Scheme::StandardWebhooks => name == "webhook-id",
        Scheme::Stripe | Scheme::Github | Scheme::Hmac(_) => false,
    };
    if let Some(name) = key.headers().find(|name| !is_signed(name)) {
        let said = format!(
            "the key is read from {name}, which the signature does not cover: whoever saw a delivery can send it again \
             under another key; what the body itself says cannot be changed"
        );
        let member = if matches!(key, KeyRule::Whole(_)) { "key" } else { "key_parts" };
        judge.note(&format!("{at}.{member}"), &said);
    }
}

/// Members of other schemes: what is ignored would be believed to be in force.
fn foreign(judge: &mut Judge<'_>, at: &str, config: &SignatureConfig) {
    let (hmac, shared) = (config.scheme == SchemeWord::Hmac, config.scheme == SchemeWord::SharedSecret);
    let dated = matches!(config.scheme, SchemeWord::StandardWebhooks | SchemeWord::Stripe)
        || (hmac && config.timestamp_header.is_some());
    let members = [
        ("header", config.header.is_some(), hmac || shared),
        ("prefix", config.prefix.is_some(), hmac),
        ("encoding", config.encoding.is_some(), hmac),
        ("timestamp_header", config.timestamp_header.is_some(), hmac),
        ("signed", config.signed.is_some(), hmac),
        ("tolerance_ms", config.tolerance_ms.is_some(), dated),
    ];
    for (member, _, _) in members.into_iter().filter(|(_, given, fits)| *given && !fits) {
        judge.refuse(
            &format!("{at}.{member}"),
            "this scheme does not read it",
            "Leave it out, or name another scheme.",
        );
    }
}

fn scheme(judge: &mut Judge<'_>, at: &str, config: &SignatureConfig) -> Option<Scheme> {
    Some(match config.scheme {
        SchemeWord::StandardWebhooks => Scheme::StandardWebhooks,
        SchemeWord::Stripe => Scheme::Stripe,
        SchemeWord::Github => Scheme::Github,
        SchemeWord::None => Scheme::None,
        SchemeWord::SharedSecret => {
            let name = config.header.as_deref().map(|name| header(judge, &format!("{at}.header"), name));
            Scheme::SharedSecret(match name {
                Some(None) => return None,
                name => name.flatten(),
            })
        }
        SchemeWord::Hmac => Scheme::Hmac(hmac(judge, at, config)?),
    })
}

fn hmac(judge: &mut Judge<'_>, at: &str, config: &SignatureConfig) -> Option<HmacForm> {
    let Some(name) = &config.header else {
        judge.refuse(&format!("{at}.header"), "it is not said where the signature stands", "Name the header.");
        return None;
    };
    let name = header(judge, &format!("{at}.header"), name)?;
    let moment = match config.timestamp_header.as_deref() {
        Some(moment) => Some(header(judge, &format!("{at}.timestamp_header"), moment)?),
        None => None,
    };
    let encoding = match config.encoding {
        None | Some(EncodingWord::Hex) => Encoding::Hex,
        Some(EncodingWord::Base64) => Encoding::Base64,
    };
    let prefix = config.prefix.clone().unwrap_or_default();
    let form = HmacForm::new(name, prefix, encoding, moment, config.signed.as_deref());
    form.map_err(|fault| judge.refuse_settings(at, vec![fault])).ok()
}

fn header(judge: &mut Judge<'_>, at: &str, name: &str) -> Option<HeaderName> {
    let advice = "Use letters, digits and hyphens.";
    HeaderName::try_from(name).map_err(|_| judge.refuse(at, format!("{name:?} is not a header name"), advice)).ok()
}

fn key(judge: &mut Judge<'_>, at: &str, source: &SourceConfig) -> Option<KeyRule> {
    match (&source.key, &source.key_parts) {
        (Some(word), None) => {
            let at = format!("{at}.key");
            let word = self::word(judge, &at, word)?;
            Some(KeyRule::Whole(of_the_event(judge, &at, word)))
        }
        (None, Some(parts)) => self::parts(judge, &format!("{at}.key_parts"), parts),
        (key, _) => {
            let what = if key.is_some() { "the key is given twice" } else { "it is not said which key an event has" };
            judge.refuse(&format!("{at}.key"), what, "Give key or key_parts, from what the sender itself numbers.");
            None
        }
    }
}

fn parts(judge: &mut Judge<'_>, at: &str, parts: &KeyPartsConfig) -> Option<KeyRule> {
    let id_at = format!("{at}.external_id");
    let mut word = |name: &str, text: &str| self::word(judge, &format!("{at}.{name}"), text);
    let source = word("source", &parts.source);
    let event_type = word("event_type", &parts.event_type);
    let external_id = word("external_id", &parts.external_id);
    let version = word("version", &parts.version);
    let external_id = of_the_event(judge, &id_at, external_id?);
    Some(KeyRule::Parts { source: source?, event_type: event_type?, external_id, version: version? })
}

/// A fixed text is one key for all events: the second would be called a duplicate of the first.
fn of_the_event(judge: &mut Judge<'_>, at: &str, word: KeyWord) -> KeyWord {
    if matches!(word, KeyWord::Fixed(_)) {
        let what = "a fixed text is the same for every event";
        judge.refuse(at, what, "Name the member or header that holds the sender's own id of the event.");
    }
    word
}

fn word(judge: &mut Judge<'_>, at: &str, text: &str) -> Option<KeyWord> {
    KeyWord::parse(text).map_err(|SettingError { what, advice, .. }| judge.refuse(at, what, advice)).ok()
}
