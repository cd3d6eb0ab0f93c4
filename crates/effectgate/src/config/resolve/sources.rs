//! `[sources.*]`: judged in shape. They come into force with a later release; until then a note says so, and their
//! secrets are not asked for.

use effectgate_core::json::is_pointer;
use url::Url;

use super::judge::Judge;
use crate::config::{
    Config,
    people::{DeliverConfig, KeyPartsConfig, SchemeWord, SourceConfig},
};

pub(super) fn judge(judge: &mut Judge<'_>, config: &Config) {
    for (name, source) in &config.sources {
        let at = format!("sources.{name}");
        judge.name(&at, name);
        self::source(judge, config, &at, source);
        judge.note(&at, "accepted and not in force yet: nothing is taken in at this endpoint");
    }
}

fn source(judge: &mut Judge<'_>, config: &Config, at: &str, source: &SourceConfig) {
    if !config.flows.contains_key(&source.flow) {
        let what = format!("there is no flow {:?}", source.flow);
        judge.refuse(&format!("{at}.flow"), what, "Name one of [flows.*].");
    }
    let signature = &source.signature;
    let (text, file) = (signature.secret.is_some(), signature.secret_file.is_some());
    if signature.scheme != SchemeWord::None {
        given_once(judge, &format!("{at}.signature.secret"), text, file);
    }
    key_parts(judge, at, &source.key_parts);
    if let Some(deliver) = &source.deliver {
        self::deliver(judge, at, deliver);
    }
}

fn key_parts(judge: &mut Judge<'_>, at: &str, parts: &KeyPartsConfig) {
    let named = [
        ("source", &parts.source),
        ("event_type", &parts.event_type),
        ("external_id", &parts.external_id),
        ("version", &parts.version),
    ];
    for (name, text) in named {
        let is_text = text.len() > 2 && text.starts_with('\'') && text.ends_with('\'');
        let is_member = text.starts_with('/') && is_pointer(text);
        if !is_text && !is_member {
            let what = format!("{text:?} is neither a JSON Pointer nor a text in single quotes");
            judge.refuse(&format!("{at}.key_parts.{name}"), what, "Write /data/id or 'shop'.");
        }
    }
}

fn deliver(judge: &mut Judge<'_>, at: &str, deliver: &DeliverConfig) {
    let is_sound = Url::parse(&deliver.url).is_ok_and(|url| matches!(url.scheme(), "http" | "https"));
    if !is_sound {
        judge.refuse(&format!("{at}.deliver.url"), "this is no http URL", "Write the worker's webhook.");
    }
}

fn given_once(judge: &mut Judge<'_>, at: &str, text: bool, file: bool) {
    if text == file {
        let what = if text { "the secret is given twice" } else { "there is no secret" };
        judge.refuse(at, what, format!("Give one of {at} and {at}_file."));
    }
}
