//! A preset in words: what a lost answer, a second try, an expired key window and a stored error lead to at this
//! provider. Made of the same members that the engine goes by, so that the words cannot say more than the data.

use effectgate_lang::{Language, span};

use super::Preset;
use crate::config::{ClassWord, ProviderConfig, ProviderKind};

/// What the config takes where no margin is named: an hour.
const MARGIN_MS: i64 = 3_600_000;

/// The line of a list: name, class, where the key goes, window, errors kept, lookup, day.
pub(crate) fn row(preset: &Preset, section: &ProviderConfig) -> Vec<String> {
    vec![
        preset.name.clone(),
        class(section).to_owned(),
        key(preset, section),
        section.key_window_ms.map_or_else(|| "-".to_owned(), time),
        errors_kept(section).to_owned(),
        if section.lookup.is_some() { "yes" } else { "no" }.to_owned(),
        checked(section).to_owned(),
    ]
}

/// The heads of [`row`].
pub(crate) const HEADS: [&str; 7] = ["name", "class", "key", "window", "errors kept", "lookup", "checked"];

/// One question and its answer.
#[derive(Debug, Clone, serde::Serialize)]
pub(crate) struct Said {
    pub(crate) when: &'static str,
    pub(crate) then: String,
}

/// What happens in the crash window at this provider.
pub(crate) fn story(section: &ProviderConfig) -> Vec<Said> {
    let said = |when, then: String| Said { when, then };
    vec![
        said("An answer is lost", lost(section)),
        said("A second try", second(section)),
        said("The key window is over", over(section)),
        said("An error was kept", kept(section)),
    ]
}

fn lost(section: &ProviderConfig) -> String {
    let person = "a person settles it on the review desk, and nothing is sent again before";
    match (section.class, &section.lookup, section.kind) {
        (ClassWord::Enforcing, ..) => {
            "The same request is sent again with the same key; the provider answers as it did the first time, or does it once.".into()
        }
        (ClassWord::Advisory, Some(_), _) => format!("The provider is asked by the lookup; where that does not say, {person}."),
        (ClassWord::Advisory, None, ProviderKind::Smtp) => {
            format!("Silence after the final dot is unknown: {person}. What to search for is the Message-ID.")
        }
        (ClassWord::Advisory, None, ProviderKind::Record) => "Nothing leaves here: it is recorded once more.".into(),
        (ClassWord::Advisory, None, ProviderKind::Http | ProviderKind::N8n) => format!("It is unknown whether it happened: {person}."),
    }
}

fn second(section: &ProviderConfig) -> String {
    match section.class {
        ClassWord::Enforcing
            if section.effects.values().all(|effect| names_key(effect.path.as_deref()))
                && !section.effects.is_empty() =>
        {
            "Writes to the same address, which our key is a part of: one record, written again with the same values."
                .into()
        }
        ClassWord::Enforcing => format!("Stopped over there by the key for {} from the first send.", window(section)),
        ClassWord::Advisory => {
            "Nothing over there stops it: it would happen twice. So it needs a named person's word.".into()
        }
    }
}

fn names_key(path: Option<&str>) -> bool {
    path.is_some_and(|path| path.contains("provider_key"))
}

fn over(section: &ProviderConfig) -> String {
    let margin = section.key_window_margin_ms.unwrap_or(MARGIN_MS);
    match (section.class, &section.lookup) {
        (ClassWord::Advisory, _) => "There is none.".into(),
        (ClassWord::Enforcing, Some(_)) => {
            format!(
                "From {} before its end on nothing is sent again by itself: the lookup is asked, then a person.",
                time(margin)
            )
        }
        (ClassWord::Enforcing, None) => {
            format!("From {} before its end on nothing is sent again by itself: a person settles it.", time(margin))
        }
    }
}

fn kept(section: &ProviderConfig) -> String {
    let facts = section.facts.as_ref();
    match (section.class, facts.and_then(|f| f.replays_errors), facts.and_then(|f| f.replayed.as_ref())) {
        (ClassWord::Advisory, ..) => "No second request is made that could meet one.".into(),
        (ClassWord::Enforcing, Some(true), Some(mark)) => format!(
            "The same key only ever repeats it. An error marked by {}: {} goes to a person (key_poisoned), who looks, cancels and makes a correction with a key of its own.",
            mark.header, mark.equals
        ),
        (ClassWord::Enforcing, Some(true), None) => "The same key only ever repeats it. The same 5xx twice goes to a person (key_poisoned), who looks, cancels and makes a correction with a key of its own.".into(),
        (ClassWord::Enforcing, Some(false), _) => "Errors are not kept: the same key is tried again, as often as the attempts allow.".into(),
        (ClassWord::Enforcing, None, _) => "Not documented: the same key is tried again as often as the attempts allow, then a person looks.".into(),
    }
}

pub(crate) const fn class(section: &ProviderConfig) -> &'static str {
    match section.class {
        ClassWord::Enforcing => "enforcing",
        ClassWord::Advisory => "advisory",
    }
}

fn key(preset: &Preset, section: &ProviderConfig) -> String {
    let longest = preset.key.chars_max.map(|chars| format!(", {chars} characters")).unwrap_or_default();
    match (&section.key_header, &section.key_field) {
        (Some(header), _) => format!("{header}{longest}"),
        (None, Some(field)) => format!("{field} in the body{longest}"),
        (None, None) if section.effects.values().any(|e| names_key(e.path.as_deref())) => "in the path".to_owned(),
        (None, None) => "-".to_owned(),
    }
}

fn errors_kept(section: &ProviderConfig) -> &'static str {
    match section.facts.as_ref().and_then(|facts| facts.replays_errors) {
        Some(true) => "yes",
        Some(false) => "no",
        None => "not said",
    }
}

/// The day on which the facts were read.
pub(crate) fn checked(section: &ProviderConfig) -> &str {
    section.facts.as_ref().map_or("-", |facts| facts.checked.as_str())
}

fn window(section: &ProviderConfig) -> String {
    section.key_window_ms.map_or_else(|| "a time that is not said".to_owned(), time)
}

fn time(ms: i64) -> String {
    span(ms, Language::En)
}
