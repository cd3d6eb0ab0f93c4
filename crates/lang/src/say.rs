//! Saying a message. The five files are compiled in and read once; the tests hold every message of every file against
//! [`Msg`], so that nothing here can be missing at run time.

use std::{borrow::Cow, sync::LazyLock};

use fluent_bundle::{FluentArgs, FluentResource, FluentValue, concurrent::FluentBundle};
use unic_langid::LanguageIdentifier;

use crate::{Language, Msg, number};

/// The value of a variable.
///
/// A text that came from outside goes through core's `visible` first: direction characters in it would reach past the
/// isolation that right-to-left messages put around values. In a page the template escapes the whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value<'a> {
    Text(&'a str),
    /// Chooses the plural form, and is written as the language writes numbers.
    Number(i64),
}

type Bundle = FluentBundle<FluentResource>;

const SOURCES: [&str; 5] = [
    include_str!("../messages/en.ftl"),
    include_str!("../messages/sv.ftl"),
    include_str!("../messages/de.ftl"),
    include_str!("../messages/ru.ftl"),
    include_str!("../messages/fa.ftl"),
];

static BUNDLES: LazyLock<[Bundle; 5]> = LazyLock::new(|| Language::ALL.map(bundle));

/// The message in the language. `args`: exactly the variables that [`Msg::variables`] names; a debug build stops where
/// one is missing or not of the message, a release build writes its name.
#[must_use]
pub fn say(language: Language, msg: Msg, args: &[(&str, Value<'_>)]) -> String {
    debug_assert!(
        msg.variables().len() == args.len() && args.iter().all(|(name, _)| msg.variables().contains(name)),
        "{} wants {:?}, not {:?}",
        msg.id(),
        msg.variables(),
        args.iter().map(|(name, _)| *name).collect::<Vec<_>>()
    );
    let bundle = &BUNDLES[language.at()];
    let Some(pattern) = bundle.get_message(msg.id()).and_then(|message| message.value()) else {
        return msg.id().to_owned();
    };
    let args = fluent_args(args);
    bundle.format_pattern(pattern, Some(&args), &mut Vec::new()).into_owned()
}

/// The message in two halves, before and after the variable `hole`, for a page that puts an element there (a `<time>`,
/// a `<strong>`). `args` leaves the hole out. Give the element `<bdi>` or `dir`, as the isolation of the value is gone.
#[must_use]
pub fn say_around(language: Language, msg: Msg, hole: &str, args: &[(&str, Value<'_>)]) -> (String, String) {
    // A noncharacter: it stands in no text of ours, and one from outside is refused by JSON's own rules or made visible.
    const HOLE: &str = "\u{fdd0}";
    let mut all = args.to_vec();
    all.push((hole, Value::Text(HOLE)));
    let said = say(language, msg, &all);
    let isolated = format!("\u{2068}{HOLE}\u{2069}");
    let mark = if said.contains(&isolated) { isolated.as_str() } else { HOLE };
    match said.split_once(mark) {
        Some((before, after)) => (before.to_owned(), after.to_owned()),
        None => (said, String::new()),
    }
}

fn fluent_args<'a>(args: &[(&'a str, Value<'a>)]) -> FluentArgs<'a> {
    let mut all = FluentArgs::with_capacity(args.len());
    for (name, value) in args {
        let value = match value {
            Value::Text(text) => FluentValue::String(Cow::Borrowed(text)),
            Value::Number(n) => FluentValue::from(*n),
        };
        all.set(*name, value);
    }
    all
}

/// Every file is held against the list by the tests, so a fault here cannot reach a release.
fn bundle(language: Language) -> Bundle {
    let id: LanguageIdentifier = language.tag().parse().expect("the tags of the five languages are tags");
    let mut bundle = FluentBundle::new_concurrent(vec![id]);
    // Values of another direction must not reorder the sentence. Left-to-right pages use <bdi> where it matters, and a
    // plain mail without invisible characters can be searched and copied.
    bundle.set_use_isolating(language.dir() == "rtl");
    bundle.set_formatter(Some(match language {
        Language::En => |value, _| written(value, Language::En),
        Language::Sv => |value, _| written(value, Language::Sv),
        Language::De => |value, _| written(value, Language::De),
        Language::Ru => |value, _| written(value, Language::Ru),
        Language::Fa => |value, _| written(value, Language::Fa),
    }));
    let resource = FluentResource::try_new(SOURCES[language.at()].to_owned()).unwrap_or_else(|(whole, _)| whole);
    bundle.add_resource_overriding(resource);
    bundle
}

/// Numbers by the language; other values as they are.
fn written(value: &FluentValue<'_>, language: Language) -> Option<String> {
    match value {
        #[expect(clippy::cast_possible_truncation, reason = "made from an i64; counts are far below 2^53")]
        FluentValue::Number(n) => Some(number(n.value as i64, language)),
        _ => None,
    }
}
