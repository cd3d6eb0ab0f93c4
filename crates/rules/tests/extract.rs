//! Rules of extraction, as a table of texts and verdicts, and properties over arbitrary texts.

#![allow(clippy::unwrap_used)]

use effectgate_rules::extract::{ExtractError, Note, TEXT_BYTES_MAX, extract};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use serde_json::json;

/// The code of the refusal, or `ok`.
fn verdict(text: &str) -> &'static str {
    extract(text).as_ref().map_or_else(ExtractError::code, |_| "ok")
}

#[test]
fn a_text_that_is_exactly_json_is_taken_as_it_is() {
    for (text, value) in
        [("{\"a\":1}", json!({"a":1})), (" [1]\n", json!([1])), ("true", json!(true)), ("\"x\"", json!("x"))]
    {
        let found = extract(text).unwrap();

        assert_eq!((found.value, found.extracted, found.notes.len()), (value, false, 0), "{text}");
        assert_eq!(found.text, text.trim());
    }
}

#[test]
fn the_value_is_found_below_marks_fences_prose_and_thinking_and_the_notes_say_so() {
    use Note::{ByteOrderMark, EqualCandidates, SurroundingText, Thinking};
    let table: [(&str, &[Note]); 14] = [
        ("\u{feff}{\"a\":1}", &[ByteOrderMark]),
        ("\u{feff}```json\r\n{\"a\":1}\r\n```\r\n", &[ByteOrderMark, SurroundingText]),
        ("```\n{\"a\":1}\n```", &[SurroundingText]),
        ("~~~~JSON5 title=x\n{\"a\":1}\n~~~~", &[SurroundingText]),
        ("```{\"a\":1}```", &[SurroundingText]),
        ("```json\n{\"a\":1}", &[SurroundingText]),
        ("Here's the answer (5\" wide): {\"a\":1}. Done!", &[SurroundingText]),
        ("As [the docs](https://example.test) say [see below]: {\"a\":1}", &[SurroundingText]),
        ("<think>{\"a\":2}</think>{\"a\":1}", &[Thinking, SurroundingText]),
        ("<THINKING lang=\"en\">\"{[</THINKING >{\"a\":1}", &[Thinking, SurroundingText]),
        ("[THINK]{\"a\":2}[/THINK]{\"a\":1}", &[Thinking, SurroundingText]),
        ("so {\"a\":2} or {\"a\": NaN}?</think>{\"a\":1}", &[Thinking, SurroundingText]),
        ("{\"a\":1} <reasoning> or {\"a\":2}", &[Thinking, SurroundingText]),
        ("{\"a\":1}\n{ \"a\" : 1 }", &[SurroundingText, EqualCandidates]),
    ];
    for (text, notes) in table {
        let found = extract(text).unwrap_or_else(|error| panic!("{text}: {error}"));

        assert_eq!((found.value, found.extracted), (json!({"a":1}), true), "{text}");
        assert_eq!(found.notes, notes, "{text}");
    }
}

#[test]
fn tags_and_brackets_inside_strings_are_text() {
    for text in [r#"Answer: {"a":"<think> } ] \" \\"}"#, r#"Answer: {"a":"</think>[/THINK] {"}"#] {
        let found = extract(text).unwrap();

        assert_eq!(found.text, &text[8..]);
    }
}

#[test]
fn a_text_that_leaves_a_choice_has_no_value() {
    let table = [
        ("{\"a\":1} or {\"a\":2}", "several_candidates"),
        ("{\"a\":1} and as [1] says", "several_candidates"),
        ("{\"a\":1}\n{\"a\":1,\"b\":null}", "several_candidates"),
        ("no value at all", "no_json"),
        ("", "no_json"),
        ("NaN", "no_json"),
        ("The answer is true", "no_json"),
        ("```json\n```", "no_json"),
        ("<think>{\"a\":1}", "no_json"),
        ("<think>{\"a\":1}</think>", "no_json"),
        ("{\"a\":1}</think>", "no_json"),
        ("<think><think>x</think>{\"a\":1}", "no_json"),
        ("<think>{\"a\":1}</thinking>", "no_json"),
        ("<think", "no_json"),
    ];
    for (text, expected) in table {
        assert_eq!(verdict(text), expected, "{text}");
    }
}

#[test]
fn what_is_cut_off_is_never_closed_and_nothing_inside_it_is_taken() {
    let table = [
        "{\"a\":1",
        "{\"a\":[{\"b\":1}",
        "[{\"a\":1},{\"a\":2}",
        "{\"a\":\"x}",
        "{\"a\":\"x\\\"}",
        "Sure: {\"list\":[{\"a\":1},{\"a\":1}",
        "{\"a\":1} then {\"a\":",
        "\"the answer is {}",
        "[see {\"a\":1}",
    ];
    for text in table {
        assert_eq!(verdict(text), "cut_off", "{text}");
    }
}

#[test]
fn what_looks_like_json_and_is_not_makes_the_text_invalid() {
    let table = [
        "{\"a\":NaN}",
        "{a:1}",
        "{'a':1}",
        "{\"a\":.5}",
        "{\"a\":+0.5}",
        "{\"a\":0x1}",
        "{\"a\":01}",
        "{\"a\":1.}",
        "{\"a\":False}",
        "{\"a\":1,}",
        "{\"a\":1}}",
        "{\"a\":[1}]",
        "{\"a\":1 /* note */}",
        "{\"a\":\"line\nbreak\"}",
        "{\"a\":\"\\ud800\"}",
        "{\"a\":1e999}",
        "{\"a\":1,\"a\":2}",
        "{\"a\":1,\"a\":1}",
        "[NaN]",
        "[Infinity, x]",
        "{x: {\"a\":1}}",
        "[x, {\"a\":1}]",
        "\"a\":{\"b\":1}",
        "\"action\":\"refund\",\"detail\":{\"a\":1}}",
    ];
    for bad in table {
        for text in
            [bad.to_owned(), format!("Here: {bad} ok?"), format!("{{\"ok\":1}} {bad}"), format!("{bad}\n{{\"ok\":1}}")]
        {
            assert_eq!(verdict(&text), "invalid_json", "{text}");
        }
    }
}

#[test]
fn a_value_that_goes_on_as_something_else_is_no_value_in_prose() {
    let table = [
        "[1]x",
        "{\"a\":1}#",
        "{\"a\":1}/**/",
        "{\"a\":1}//",
        "{\"a\":1},",
        "{\"a\":1},\n{\"a\":1}",
        "[][]",
        "{\"a\":1}{\"a\":1}",
        "{\"a\":1}: 2",
        "{\"a\":1} \"x\"",
        "{\"a\":1} 5",
        "null\n{\"a\":1}",
        "{\"a\":1} true {\"a\":1}",
    ];
    for text in table {
        assert_eq!(verdict(text), "invalid_json", "{text}");
    }
    for text in [
        "{\"a\":1}.",
        "({\"a\":1})",
        "`{\"a\":1}`",
        "{\"a\":1}, as you wished",
        "json{\"a\":1}",
        "{\"a\":1}。",
        "**{\"a\":1}**",
        "1. {\"a\":1}",
    ] {
        assert_eq!(verdict(text), "ok", "{text}");
    }
}

#[test]
fn candidates_are_compared_in_canonical_form() {
    let same = ["{\"a\":1,\"b\":2} {\"b\":2.0,\"a\":1e0}", "{\"a\":\"\\u0041\"} {\"a\":\"A\"}"];
    let other = ["{\"a\":9007199254740993} {\"a\":9007199254740992}", "{\"a\":1} {\"a\":\"1\"}", "[1,2] [2,1]"];

    assert_eq!(same.map(verdict), ["ok"; 2]);
    assert_eq!(other.map(verdict), ["several_candidates"; 3]);
}

#[test]
fn too_long_too_deep_and_non_utf8_texts_are_refused() {
    let long = format!("{{\"a\":\"{}\"}}", "x".repeat(TEXT_BYTES_MAX));

    assert_eq!(verdict(&long), "too_large");
    assert_eq!(verdict(&format!("{}{}", "[".repeat(129), "]".repeat(129))), "invalid_json");
    assert_eq!(extract(b"{\"a\":\"\xff\"}").unwrap_err(), ExtractError::NotUtf8 { offset: 6 });
}

/// 1 MiB of what is worst for a scanner that looks back or starts anew. A quadratic one takes minutes here.
#[test]
fn hostile_texts_of_full_size_end_in_time() {
    let started = std::time::Instant::now();

    for unit in [
        "{", "[", "{}", "[]", "\"", "<think>", "<think ", "</think>", "[think", "[a]", "{\"", "\\\"", "\":{}", " ", "}",
    ] {
        let _ = extract(unit.repeat(TEXT_BYTES_MAX / unit.len()));
    }

    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
}

/// Pieces from which bad model answers are made.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        "\"",
        "\\",
        ":",
        ",",
        "1",
        "NaN",
        "{\"a\":1}",
        "<think>",
        "</think>",
        "[THINK]",
        "[/THINK]",
        "```json\n",
        "~~~",
        "\u{feff}",
        " ",
        "\r\n",
        "word",
        "é",
        "\u{0}",
        "<think ",
        "-",
        "true",
    ]);
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

/// Where failing cases are kept, beside this file.
fn kept(cases: u32) -> ProptestConfig {
    let file = FileFailurePersistence::Direct(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/regressions/extract.txt"));
    ProptestConfig { failure_persistence: Some(Box::new(file)), ..ProptestConfig::with_cases(cases) }
}

proptest! {
    #![proptest_config(kept(500))]

    #[test]
    fn extract_never_panics_on_any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = extract(&bytes);
    }

    #[test]
    fn extract_never_panics_and_its_text_is_a_part_of_the_input(text in pieces()) {
        if let Ok(found) = extract(&text) {
            prop_assert!(text.contains(&found.text));
            prop_assert_eq!(serde_json::from_str::<serde_json::Value>(&found.text).unwrap(), found.value);
        }
    }

    #[test]
    fn a_prefix_of_an_object_is_never_a_value(cut in 1_usize..40) {
        let whole = r#"{"subject":"a [b] {c}","to":["x","y"]}"#;
        prop_assume!(cut < whole.len());

        prop_assert!(extract(&whole[..cut]).is_err());
    }
}
