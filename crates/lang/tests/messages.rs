//! Every file against the list: nothing missing, nothing foreign, no other variables, all plural forms.

use std::collections::{BTreeMap, BTreeSet};

use effectgate_lang::{Language, Msg, Value, say, say_around};
use fluent_syntax::ast::{CallArguments, Entry, Expression, InlineExpression, Pattern, PatternElement, VariantKey};

const FILES: [(&str, &str); 5] = [
    ("en", include_str!("../messages/en.ftl")),
    ("sv", include_str!("../messages/sv.ftl")),
    ("de", include_str!("../messages/de.ftl")),
    ("ru", include_str!("../messages/ru.ftl")),
    ("fa", include_str!("../messages/fa.ftl")),
];

/// What one message of a file uses.
#[derive(Default)]
struct Used {
    variables: BTreeSet<String>,
    /// The plural forms of each choice.
    forms: Vec<BTreeSet<String>>,
    /// References and functions, which we use none of.
    others: usize,
}

impl Used {
    fn of(pattern: &Pattern<&str>) -> Self {
        let mut used = Self::default();
        used.pattern(pattern);
        used
    }

    fn pattern(&mut self, pattern: &Pattern<&str>) {
        for element in &pattern.elements {
            if let PatternElement::Placeable { expression } = element {
                self.expression(expression);
            }
        }
    }

    fn expression(&mut self, expression: &Expression<&str>) {
        match expression {
            Expression::Inline(inline) => self.inline(inline),
            Expression::Select { selector, variants } => {
                self.inline(selector);
                let name = |key: &VariantKey<&str>| match key {
                    VariantKey::Identifier { name } => (*name).to_owned(),
                    VariantKey::NumberLiteral { value } => (*value).to_owned(),
                };
                self.forms.push(variants.iter().map(|variant| name(&variant.key)).collect());
                variants.iter().for_each(|variant| self.pattern(&variant.value));
            }
        }
    }

    fn inline(&mut self, inline: &InlineExpression<&str>) {
        match inline {
            InlineExpression::VariableReference { id } => {
                self.variables.insert(id.name.to_owned());
            }
            InlineExpression::Placeable { expression } => self.expression(expression),
            InlineExpression::StringLiteral { .. } | InlineExpression::NumberLiteral { .. } => {}
            InlineExpression::FunctionReference { arguments: CallArguments { .. }, .. } => self.others += 1,
            InlineExpression::MessageReference { .. } | InlineExpression::TermReference { .. } => self.others += 1,
        }
    }
}

fn messages(source: &str) -> BTreeMap<String, Used> {
    let resource = fluent_syntax::parser::parse(source).unwrap_or_else(|(_, errors)| panic!("{errors:?}"));
    let mut messages = BTreeMap::new();
    for entry in &resource.body {
        match entry {
            Entry::Message(message) => {
                assert!(message.attributes.is_empty(), "{} has attributes", message.id.name);
                let pattern = message.value.as_ref().expect("a message has a text");
                let before = messages.insert(message.id.name.to_owned(), Used::of(pattern));
                assert!(before.is_none(), "{} stands twice", message.id.name);
            }
            Entry::Comment(_) | Entry::GroupComment(_) | Entry::ResourceComment(_) => {}
            other => panic!("{other:?}"),
        }
    }
    messages
}

fn declared() -> BTreeMap<String, BTreeSet<String>> {
    let of = |msg: &Msg| (msg.id().to_owned(), msg.variables().iter().map(|v| (*v).to_owned()).collect());
    Msg::ALL.iter().map(of).collect()
}

#[test]
fn every_file_has_every_message_and_no_other() {
    let declared: BTreeSet<String> = declared().into_keys().collect();
    assert_eq!(declared.len(), Msg::ALL.len(), "an id stands twice in the list");

    for (language, source) in FILES {
        let there: BTreeSet<String> = messages(source).into_keys().collect();
        let missing: Vec<_> = declared.difference(&there).collect();
        let foreign: Vec<_> = there.difference(&declared).collect();
        assert!(missing.is_empty() && foreign.is_empty(), "{language}: missing {missing:?}, foreign {foreign:?}");
    }
}

#[test]
fn every_message_uses_its_variables_and_no_other() {
    let declared = declared();

    for (language, source) in FILES {
        for (id, used) in messages(source) {
            assert_eq!(Some(&used.variables), declared.get(&id), "{language}: {id}");
            assert_eq!(used.others, 0, "{language}: {id} refers to something else");
        }
    }
}

/// CLDR's cardinal forms of whole numbers.
#[test]
fn every_choice_has_the_plural_forms_of_its_language() {
    let forms = |language| match language {
        "ru" => BTreeSet::from(["one", "few", "many"]),
        _ => BTreeSet::from(["one", "other"]),
    };

    for (language, source) in FILES {
        for (id, used) in messages(source) {
            for choice in &used.forms {
                let choice: BTreeSet<&str> = choice.iter().map(String::as_str).collect();
                assert_eq!(choice, forms(language), "{language}: {id}");
            }
        }
    }
}

#[test]
fn every_message_can_be_said_in_every_language() {
    for language in Language::ALL {
        for msg in Msg::ALL {
            let args: Vec<(&str, Value<'_>)> = msg.variables().iter().map(|name| (*name, Value::Text("äß"))).collect();
            let said = say(language, *msg, &args);
            assert!(!said.is_empty() && said != msg.id() && !said.contains('{'), "{language}: {}: {said}", msg.id());
            assert_eq!(said.contains("äß"), !args.is_empty(), "{language}: {}", msg.id());
        }
    }
}

/// A message left in English is the commonest way to forget one.
#[test]
fn no_language_repeats_the_english_sentence() {
    let sentences = |source| -> BTreeMap<String, String> {
        let lines = str::lines(source).filter_map(|line| line.split_once(" = "));
        lines
            .filter(|(_, text)| text.split(' ').count() > 4 && !text.starts_with("{ $large"))
            .map(|(id, text)| (id.to_owned(), text.to_owned()))
            .collect()
    };
    let english = sentences(FILES[0].1);

    for (language, source) in &FILES[1..] {
        for (id, text) in sentences(source) {
            assert_ne!(english.get(&id), Some(&text), "{language}: {id}");
        }
    }
}

#[test]
fn right_to_left_isolates_its_values_and_left_to_right_does_not() {
    let said = |language| say(language, Msg::CardQuorum, &[("n", Value::Number(1)), ("of", Value::Number(2_000))]);

    assert_eq!(said(Language::Fa), "\u{2068}۱\u{2069} از \u{2068}۲٬۰۰۰\u{2069} تأیید");
    assert_eq!(said(Language::De), "1 von 2.000 Freigaben");
}

#[test]
fn a_message_is_said_around_an_element() {
    let around = |language| say_around(language, Msg::CardDecideBefore, "when", &[("relative", Value::Text("in 1 h"))]);

    assert_eq!(around(Language::En), ("Decide before ".into(), " (in 1 h)".into()));
    let (before, after) = around(Language::Fa);
    assert!(!before.contains('\u{2068}') && after.matches('\u{2068}').count() == after.matches('\u{2069}').count());
}
