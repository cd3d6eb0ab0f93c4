//! Rules in CEL: what holds, what never does, and what is refused before it runs.
#![allow(clippy::unwrap_used)]

use std::time::{Duration, Instant};

use effectgate_rules::cel::{Facts, ITEMS_MAX, RULE_BYTES_MAX, Rule, RuleError, RuleResult};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use serde_json::{Value, json};

fn ask_all(source: &str, payload: &Value, output: &Value, run: &Value) -> RuleResult {
    Rule::compile(source).unwrap_or_else(|error| panic!("{source}: {error}")).holds(&Facts { payload, output, run })
}

fn ask(source: &str, payload: Value) -> RuleResult {
    ask_all(source, &payload, &Value::Null, &Value::Null)
}

fn failure(source: &str, payload: Value) -> String {
    match ask(source, payload) {
        RuleResult::Failed(why) => why,
        other => panic!("{source}: {other:?}"),
    }
}

fn refusal(source: &str) -> RuleError {
    Rule::compile(source).map(|_| ()).expect_err(source)
}

#[test]
fn rules_over_payload_output_and_run_hold_or_do_not() {
    let payload = json!({"amount": 900, "items": [{"sku": "a", "n": 1}, {"sku": "b", "n": 2}], "customer": {"mail": "a@example.test"}});
    let output = json!({"label": "thanks", "note": "short", "skus": ["a", "b"]});
    let run = json!({"attempt": 1, "ratio": 0.5});
    let table = [
        ("output.label in ['question', 'thanks']", true),
        ("output.label in ['question']", false),
        ("size(output.note) < 2000", true),
        ("payload.amount <= 1000 && run.attempt == 1", true),
        ("payload.amount > 1000 || run.ratio < 0.5", false),
        ("has(payload.customer.mail) && !has(payload.customer.phone)", true),
        ("payload.customer.mail.endsWith('@example.test')", true),
        ("payload.items.all(i, i.n > 0)", true),
        ("payload.items.all(i, output.skus.exists(s, s == i.sku))", true),
        ("payload.items.exists_one(i, i.sku == 'a')", true),
        ("size(payload.items.filter(i, i.n > 1)) == 1", true),
        ("'b' in payload.items.map(i, i.sku)", true),
        ("payload.items.map(i, i.n > 1, i.sku) == ['b']", true),
        ("payload.items[0].n + payload.items[1].n == 3", true),
        ("payload.amount == 900.0 ? true : false", true),
        ("payload.items.exists(i, i.missing == 1)", false),
    ];
    for (source, expected) in table {
        let result = ask_all(source, &payload, &output, &run);

        match (expected, &result) {
            (true, RuleResult::Holds) | (false, RuleResult::DoesNotHold) => {}
            (false, RuleResult::Failed(why)) if why.contains("missing") => {}
            _ => panic!("{source}: {result:?}"),
        }
    }
}

#[test]
fn anything_but_true_does_not_hold() {
    for source in ["1", "'true'", "payload", "null", "[true]", "{'a': true}", "payload.n"] {
        let why = failure(source, json!({"n": 1}));

        assert!(why.starts_with("the rule gives a value of type"), "{source}: {why}");
    }
}

#[test]
fn a_rule_that_cannot_be_evaluated_has_failed_and_says_why_without_values() {
    let secret = json!({"text": "secret words", "n": 0, "list": ["secret words"]});
    let table = [
        ("payload.missing == 1", "there is no member \"missing\""),
        ("payload.text + 1 == 2", ""),
        ("payload.text > 1", ""),
        ("1 / payload.n == 1", "division by zero"),
        ("9223372036854775807 + payload.n + 1 == 0", "overflows"),
        ("payload.list[7] == 'x'", ""),
        ("payload.text.all(c, true)", ""),
        ("int(payload.text) == 1", ""),
        ("payload.text", "a value of type string"),
    ];
    for (source, part) in table {
        let why = failure(source, secret.clone());

        assert!(why.contains(part) && !why.contains("secret"), "{source}: {why}");
    }
}

#[test]
fn an_error_beside_a_false_is_false() {
    assert_eq!(ask("payload.missing == 1 && false", json!({})), RuleResult::DoesNotHold);
}

#[test]
fn names_and_functions_are_checked_when_the_rule_is_compiled() {
    for (source, name) in [
        ("paylod.a == 1", "paylod"),
        ("x == 1", "x"),
        ("payload.l.all(x, y)", "y"),
        ("payload.l.all(x, x) && x", "x"),
        ("int == int", "int"),
        (".payload.a", ".payload"),
    ] {
        assert_eq!(refusal(source), RuleError::NameUnknown { name: name.to_owned() }, "{source}");
    }
    for (source, name) in [
        ("now() > 1", "now"),
        ("payload.a.matches('x')", "matches"),
        ("type(payload) == 1", "type"),
        ("payload.all(x)", "all"),
        ("bytes('a') == b'a'", "bytes"),
    ] {
        assert_eq!(refusal(source), RuleError::FunctionUnknown { name: name.to_owned() }, "{source}");
    }
    for source in ["", "payload.", "a b", "payload.?a == 1", "'", "{", "has(1)", "payload.l.all(1, true)"] {
        assert!(matches!(refusal(source), RuleError::Syntax { .. }), "{source:?}: {}", refusal(source));
    }
    assert!(matches!(refusal("T{a: 1}.a == 1"), RuleError::NotAllowed { .. }));
}

#[test]
fn rules_that_could_take_long_or_much_memory_are_refused() {
    let loops = "payload.a.all(x, payload.b.all(y, payload.c.all(z, z == x)))";
    assert_eq!(refusal(loops), RuleError::LoopsTooDeep);
    let wide = format!("payload.a.all(x, payload.b.all(y, {}))", vec!["x < y"; 20].join(" && "));
    assert!(matches!(refusal(&wide), RuleError::TooCostly { .. }));
    let bombs = [
        "payload.l.map(x, x + x).map(x, x + x) == []",
        "payload.l.map(x, [x, x]).map(x, [x, x]) == []",
        "payload.l.map(x, {'a': x, 'b': x}) == []",
        "payload.l.all(x, payload.l.map(y, payload) == [])",
        "payload.a + payload.a + payload.a + payload.a + payload.a + payload.a == ''",
        "payload.l.all(payload, true)",
    ];
    for source in bombs {
        assert!(matches!(refusal(source), RuleError::NotAllowed { .. }), "{source}: {}", refusal(source));
    }
    let copies = format!("[{}] == []", vec!["payload"; 33].join(","));
    assert!(matches!(refusal(&copies), RuleError::NotAllowed { .. }));
}

#[test]
fn rules_are_bounded_in_length_and_depth_and_hostile_ones_never_end_the_process() {
    assert!(matches!(refusal(&" ".repeat(RULE_BYTES_MAX + 1)), RuleError::TooLong { .. }));
    let full = |unit: &str, end: &str| format!("{}{end}", unit.repeat((RULE_BYTES_MAX - end.len()) / unit.len()));
    for source in [
        full("1+", "1"),
        full("payload.a==", "1"),
        full("payload[0][0]", ""),
        format!("payload{}", full(".a", "")[7..].to_owned()),
    ] {
        assert!(Rule::compile(&source).is_err());
    }
    for unit in [
        "(",
        "[",
        "{",
        "!",
        "-",
        "{'a':",
        "true?",
        "[1].map(x,",
        "size(",
        "\"",
        "\\",
        "payload.",
        "a.b(",
        "1 in ",
        "é",
        "\0",
    ] {
        let _ = Rule::compile(&full(unit, "")).map(|rule| rule.source().len());
    }
    for bracket in ["{", "[", "[?", "{[", "{!", "{'a':["] {
        assert_eq!(refusal(&bracket.repeat(65)), RuleError::TooManyBrackets);
        let most = bracket.repeat(if bracket.contains('{') { 16 } else { 64 });
        assert!(matches!(refusal(&most), RuleError::Syntax { .. }));
    }
    assert!(matches!(refusal(&format!("payload{}", ".a".repeat(64))), RuleError::TooDeep));
    assert_eq!(refusal(&format!("1{} > 0", "-1".repeat(70))), RuleError::TooDeep);
}

#[test]
fn the_deepest_rule_evaluates_on_a_caller_with_a_small_stack() {
    let source = format!("payload{} == 1", "['a']".repeat(60));
    let nested = (0..60).fold(json!(1), |inner, _| json!({"a": inner}));

    let caller = std::thread::Builder::new().stack_size(128 * 1024);
    let result = caller.spawn(move || ask(&source, nested)).unwrap().join().unwrap();

    assert_eq!(result, RuleResult::Holds);
}

#[test]
fn facts_beyond_the_limits_fail_and_are_not_cut() {
    let list = |n: usize| json!({"l": vec![1; n]});
    let members = |n: usize| json!({"l": (0..n).map(|n| (n.to_string(), json!(1))).collect::<serde_json::Map<_, _>>()});

    assert_eq!(ask("payload.l.all(x, x == 1)", list(ITEMS_MAX)), RuleResult::Holds);
    assert!(failure("payload.l.all(x, x == 1)", list(ITEMS_MAX + 1)).contains("257 items"));
    assert!(failure("size(payload.l) > 0", members(ITEMS_MAX + 1)).contains("257 items"));
    assert!(failure("size(payload.l) > 0", json!({"l": vec![vec![1; 200]; 200]})).contains("10000 values"));
    assert!(failure("size(payload.l) > 0", json!({"l": "x".repeat(300_000)})).contains("bytes of text"));
}

#[test]
fn facts_a_rule_does_not_use_do_not_matter() {
    let huge = json!(vec![1; 10_000]);

    assert_eq!(ask_all("output.ok", &huge, &json!({"ok": true}), &huge), RuleResult::Holds);
}

#[test]
fn numbers_that_would_be_rounded_fail() {
    for text in [
        "9223372036854775808",
        "18446744073709551615",
        "18446744073709551616",
        "1e20",
        "-9223372036854775809",
        "9007199254740993.0",
    ] {
        let payload: Value = serde_json::from_str(&format!("{{\"n\":{text}}}")).unwrap();

        assert!(failure("payload.n > 0", payload).contains("too large"), "{text}");
    }
    assert_eq!(ask("payload.n == 9223372036854775807", json!({"n": i64::MAX})), RuleResult::Holds);
    assert_eq!(ask("payload.n == 9007199254740992", json!({"n": 9_007_199_254_740_993_i64})), RuleResult::DoesNotHold);
}

#[test]
fn a_loop_in_a_loop_over_the_longest_lists_ends_in_seconds() {
    let rule = Rule::compile("payload.l.all(x, payload.l.all(y, x != y || x == y))").unwrap();
    let payload = json!({"l": (0..ITEMS_MAX).collect::<Vec<_>>()});
    let started = Instant::now();

    let result = rule.holds(&Facts { payload: &payload, output: &Value::Null, run: &Value::Null });

    assert_eq!(result, RuleResult::Holds);
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
}

#[test]
fn the_revision_is_the_hash_of_the_source() {
    let rule = Rule::compile("true").unwrap();

    assert_eq!(rule.revision(), "sha256:b5bea41b6c623f7c09f1bf24dcae58ebab3c0cdd90ad966bc43a45b44867e12b");
    assert_ne!(rule.revision(), Rule::compile("true ").unwrap().revision());
}

/// Where failing cases are kept, beside this file.
fn kept(cases: u32) -> ProptestConfig {
    let file = FileFailurePersistence::Direct(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/regressions/cel.txt"));
    ProptestConfig { failure_persistence: Some(Box::new(file)), ..ProptestConfig::with_cases(cases) }
}

proptest! {
    #![proptest_config(kept(300))]

    #[test]
    fn compile_and_holds_never_panic(pieces in prop::collection::vec(prop::sample::select(vec![
        "payload", "output", ".a", "[0]", "(", ")", "!", "-", "+", "==", "&&", "||", "?", ":", "'s'", "1", "1.5", "true", ".all(x,", ".map(x,", "x", "size(", "in", "[", "]", "{", "}", ",", " ", "has(",
    ]), 0..25)) {
        if let Ok(rule) = Rule::compile(&pieces.concat()) {
            let value = json!({"a": [1, "s", null, {"a": true}]});
            let _ = rule.holds(&Facts { payload: &value, output: &value, run: &value });
        }
    }
}
