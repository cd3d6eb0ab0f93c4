//! Keys: the handed cases HC-11 to HC-13, the structured-field vectors, parts that never meet, and what names no event.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::fs;

use effectgate_core::json::parse;
use effectgate_core::key::{KEY_CHARS_MAX, Key, KeyParts, KeyPolicy, KeyReason, from_header, from_headers};
use proptest::prelude::*;
use serde_json::Value;
use unicode_normalization::UnicodeNormalization;

const STRICT: KeyPolicy =
    KeyPolicy { allow_email: false, allow_phone: false, allow_amount: false, key_from_stable_field: true };

fn data(path: &str) -> Vec<u8> {
    fs::read(format!("{}/tests/data/{path}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn accepted(text: &str) -> Key {
    Key::parse(text, &KeyPolicy::default()).unwrap_or_else(|error| panic!("{text:?}: {error}"))
}

fn reason(text: &str, policy: &KeyPolicy) -> KeyReason {
    match Key::parse(text, policy) {
        Ok(key) => panic!("{text:?} was taken as {key:?}"),
        Err(error) => {
            assert_eq!(error.code(), "bad_key");
            error.reason
        }
    }
}

fn refused(text: &str) -> KeyReason {
    reason(text, &KeyPolicy::default())
}

fn parts(source: &str, event_type: &str, external_id: &str, version: &str) -> KeyParts {
    let [source, event_type, external_id, version] = [source, event_type, external_id, version].map(String::from);
    KeyParts { source, event_type, external_id, version }
}

fn joined(parts: &KeyParts) -> Key {
    Key::from_parts(parts, &KeyPolicy::default()).unwrap()
}

/// The values of the `Idempotency-Key` lines of a raw request.
fn key_lines(request: &[u8]) -> Vec<&[u8]> {
    let lines = request.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    lines.filter_map(|line| line.strip_prefix(b"Idempotency-Key:")).map(<[u8]>::trim_ascii).collect()
}

fn header_of(request: &str) -> Result<Option<String>, KeyReason> {
    from_headers(key_lines(&data(&format!("handed/{request}")))).map_err(|error| error.reason)
}

#[test]
fn hc_11_the_limit_counts_characters_and_never_cuts() {
    for count in [100, 127, 128, KEY_CHARS_MAX] {
        let text = String::from_utf8(data(&format!("handed/hc11-key-{count}.txt"))).unwrap();

        assert_eq!(accepted(&text).as_str(), text);
    }
    let long = String::from_utf8(data("handed/hc11-key-256.txt")).unwrap();
    assert_eq!(refused(&long), KeyReason::TooLong);
    assert_eq!(refused(&"x".repeat(1_000_000)), KeyReason::TooLong);
}

#[test]
fn hc_11_a_key_beyond_ascii_is_refused_in_the_header_and_sent_to_the_body() {
    let request = data("handed/hc11-request.http");

    let error = from_headers(key_lines(&request)).unwrap_err();

    assert_eq!(error.reason, KeyReason::HeaderNotAscii);
    assert!(error.detail.contains("body"), "{error}");
    assert_eq!(accepted("заказ-17:оплата").as_str(), "заказ-17:оплата");
}

#[test]
fn hc_12_two_keys_are_refused_and_quotes_make_no_second_one() {
    assert_eq!(header_of("hc12-different.http"), Err(KeyReason::HeaderRepeated));
    assert_eq!(header_of("hc12-listed.http"), Err(KeyReason::HeaderRepeated));
    assert_eq!(header_of("hc12-same.http"), Err(KeyReason::HeaderRepeated));
    assert_eq!(header_of("hc12-quoted.http"), Ok(Some("pay-17".into())));
    assert_eq!(header_of("hc12-plain.http"), Ok(Some("pay-17".into())));
    assert_eq!(from_headers([]).unwrap(), None);
}

#[test]
fn hc_13_blank_keys_and_placeholders_are_refused() {
    use KeyReason::{Empty, Invisible, Placeholder, Template};
    let expected =
        [Empty, Invisible, Invisible, Invisible, Invisible, Invisible, Placeholder, Placeholder, Placeholder, Template];
    let lines = String::from_utf8(data("handed/hc13-keys.jsonl")).unwrap();
    let keys: Vec<String> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(keys.len(), expected.len());

    for (key, expected) in keys.iter().zip(expected) {
        assert_eq!(refused(key), expected, "{key:?}");
        let in_header = from_header(key.as_bytes()).map(|text| Key::parse(&text, &KeyPolicy::default()).is_ok());
        assert_ne!(in_header.ok(), Some(true), "{key:?}");
    }
    assert_eq!(from_header(b" ").unwrap_err().reason, Empty);
}

#[test]
fn hc_13_a_key_that_is_no_string_is_refused() {
    for text in ["17", "true", "[\"a\"]", "{}", "null"] {
        let error = Key::from_json(&parse(text.as_bytes()).unwrap(), &KeyPolicy::default()).unwrap_err();

        assert_eq!(error.reason, KeyReason::NotText, "{text}");
    }
    assert!(Key::from_json(&parse(b"\"pay-17\"").unwrap(), &KeyPolicy::default()).is_ok());
}

#[test]
fn hc_18_a_nul_in_a_key_is_refused() {
    assert_eq!(refused("pay\0-17"), KeyReason::ControlCharacter);
}

#[test]
fn structured_field_strings_give_their_text() {
    for file in ["string.json", "string-generated.json"] {
        let cases: Vec<Value> = serde_json::from_slice(&data(&format!("structured-fields/{file}"))).unwrap();
        for case in cases.iter().filter(|case| case["header_type"] == "item") {
            let raw: Vec<&[u8]> =
                case["raw"].as_array().unwrap().iter().map(|raw| raw.as_str().unwrap().as_bytes()).collect();

            match from_headers(raw) {
                Ok(text) => assert_eq!(text.as_deref(), case["expected"][0].as_str(), "{case}"),
                Err(_) => assert!(case["must_fail"] == true || case["can_fail"] == true, "{case}"),
            }
        }
    }
}

#[test]
fn structured_field_tokens_are_taken_bare() {
    let cases: Vec<Value> = serde_json::from_slice(&data("structured-fields/token.json")).unwrap();
    for case in cases.iter().filter(|case| case["header_type"] == "item") {
        let raw = case["raw"][0].as_str().unwrap();

        assert_eq!(from_header(raw.as_bytes()).unwrap(), case["expected"][0]["value"].as_str().unwrap());
    }
}

#[test]
fn headers_that_are_no_single_key_are_refused() {
    let cases = [
        ("", KeyReason::Empty),
        ("\"pay-17", KeyReason::HeaderMalformed),
        ("pay-17\"", KeyReason::HeaderMalformed),
        ("\"pay-17\" \"pay-18\"", KeyReason::HeaderMalformed),
        ("\"pay-17\";v=1", KeyReason::HeaderMalformed),
        ("\"pay\\n17\"", KeyReason::HeaderMalformed),
        ("pay\t17", KeyReason::HeaderMalformed),
        ("\"pay-17\", \"pay-18\"", KeyReason::HeaderRepeated),
        ("pay-17,", KeyReason::HeaderRepeated),
    ];

    for (value, expected) in cases {
        assert_eq!(from_header(value.as_bytes()).unwrap_err().reason, expected, "{value}");
    }
    assert_eq!(from_header(b"pay-17\xFF").unwrap_err().reason, KeyReason::HeaderNotAscii);
    assert_eq!(from_header(b"\"a, \\\"b\\\" \\\\\"").unwrap(), "a, \"b\" \\");
    assert_eq!(from_header(b"\"\"").unwrap(), "");
}

#[test]
fn whole_keys_are_normalised_and_trimmed() {
    assert_eq!(accepted("  pay-17 \u{a0}\u{3000}").as_str(), "pay-17");
    assert_eq!(accepted("cafe\u{301}:1"), accepted("café:1"));
    assert_eq!(accepted(&"e\u{301}".repeat(KEY_CHARS_MAX)).as_str().chars().count(), KEY_CHARS_MAX);
    assert_eq!(accepted("ticket.reply:zendesk:comment_987:1").as_str(), "ticket.reply:zendesk:comment_987:1");
    assert_eq!(accepted("x").as_str(), "x");
}

#[test]
fn keys_that_show_nothing_are_refused() {
    let invisible = [
        " ",
        "\u{a0}",
        "\u{200b}",
        "\u{200d}\u{fe0f}",
        "\u{feff}",
        "\u{2060} \u{ad}",
        "\u{3164}",
        "\u{115f}",
        "\u{2800}",
        "\u{180e}",
        "\u{e0001}\u{e0041}",
        "\u{34f}",
        "\u{202e}",
        "\0",
        "\r\n",
        "\u{2028}",
        "\u{85}",
        "\u{1d173}",
    ];

    for text in invisible {
        assert_eq!(refused(text), KeyReason::Invisible, "{text:?}");
    }
    assert_eq!(refused(""), KeyReason::Empty);
    assert_eq!(accepted("\u{200b}a").as_str(), "\u{200b}a");
}

#[test]
fn control_characters_are_refused_wherever_they_stand() {
    for text in ["a\tb", "pay-17\n", "\u{1b}[31mred", "a\u{7f}", "a\u{9f}", "a\u{2028}b", "a\0"] {
        assert_eq!(refused(text), KeyReason::ControlCharacter, "{text:?}");
    }
}

#[test]
fn what_a_broken_workflow_sends_is_refused() {
    let placeholders = [
        "null",
        "NULL",
        " null ",
        "undefined",
        "Undefined",
        "NaN",
        "nan",
        "[object Object]",
        "[object Undefined]",
        "None",
        "nil",
        "order:[object Object]:1",
        "zendesk:undefined",
        "ticket:null:987:1",
        "NaN:1",
    ];
    for text in placeholders {
        assert_eq!(refused(text), KeyReason::Placeholder, "{text}");
    }
    for text in ["{{ $json.id }}", "order-{{id}}", "{{", "=order:{{ $json.id }}"] {
        assert_eq!(refused(text), KeyReason::Template, "{text}");
    }
    for text in ["nullable-1", "order:undefined-behaviour", "nano", "{order}", "object 17"] {
        accepted(text);
    }
}

#[test]
fn an_address_a_phone_number_or_an_amount_alone_is_refused_unless_allowed() {
    let emails = ["anna@example.test", "Anna.Berg+x@mail.example.co.uk", "mailto:a@b.se", "анна@пример.рф", " a@b.se "];
    let phones = [
        "+46701234567",
        "+46 70 123 45 67",
        "tel:+46701234567",
        "tel:0701234567",
        "(555) 123-4567",
        "555-123-4567",
        "1-555-123-4567",
        "555.123.4567",
        "0701-23 45 67",
        "+1 (555) 123‑4567",
        "08-123 456 78",
    ];
    let amounts = [
        "25.00",
        "-25.00",
        "25,5",
        "1,999",
        "1 999,00 kr",
        "1\u{a0}999.00",
        "$25",
        "25 EUR",
        "25EUR",
        "EUR 25.00",
        "€1.999,50",
        "19.9",
        "1'000.50",
        "−12.30",
        "+0.01",
        "25 руб.",
        "﷼100",
    ];
    let allowing = KeyPolicy { allow_email: true, allow_phone: true, allow_amount: true, key_from_stable_field: false };
    let all = [
        (&emails[..], KeyReason::LooksLikeEmail),
        (&phones[..], KeyReason::LooksLikePhone),
        (&amounts[..], KeyReason::LooksLikeAmount),
    ];

    for (texts, expected) in all {
        for text in texts {
            assert_eq!(refused(text), expected, "{text}");
            assert!(Key::parse(text, &allowing).is_ok(), "{text}");
        }
    }
    let only_email = KeyPolicy { allow_email: true, ..KeyPolicy::default() };
    assert_eq!(reason("+46701234567", &only_email), KeyReason::LooksLikePhone);
}

#[test]
fn keys_that_only_contain_such_values_pass() {
    let keys = [
        "signup:anna@example.test",
        "order-25.00-EUR",
        "4711",
        "46701234567",
        "1503435956.000247",
        "2026-000123",
        "2026-10-21",
        "pkg@1.2.3",
        "order@shop",
        "CAD17",
        "SEK-2026",
        "127.0.0.1",
        "INV 25",
        "+17",
        "<abc.1@mail.example>",
        "555-1234-99-1",
        "v1.2.3",
        "EUR",
        "$",
        "@",
        "a@",
        "@b.se",
        "9f86d081884c7d659a2feaa0c55ad015",
    ];

    for text in keys {
        accepted(text);
    }
}

#[test]
fn a_stable_field_is_no_execution_id_moment_or_fresh_uuid() {
    let cases = [
        ("4711", KeyReason::ExecutionId),
        ("0", KeyReason::ExecutionId),
        ("1792566000", KeyReason::Timestamp),
        ("1792566000123", KeyReason::Timestamp),
        ("2026-10-21T07:00:00Z", KeyReason::Timestamp),
        ("2026-10-21T07:00:00.123+02:00", KeyReason::Timestamp),
        ("2026-10-21 07:00:00", KeyReason::Timestamp),
        ("Wed, 21 Oct 2026 07:28:00 GMT", KeyReason::Timestamp),
        ("6c0f2d0e-6f0b-4f43-9d0f-0d6a3f0a9c11", KeyReason::FreshUuid),
        ("018F3C5E-7B1A-7CCC-8000-0D6A3F0A9C11", KeyReason::FreshUuid),
        ("{6c0f2d0e-6f0b-4f43-9d0f-0d6a3f0a9c11}", KeyReason::FreshUuid),
        ("urn:uuid:6c0f2d0e-6f0b-1f43-9d0f-0d6a3f0a9c11", KeyReason::FreshUuid),
        ("00000000-0000-0000-0000-000000000000", KeyReason::FreshUuid),
    ];

    for (text, expected) in cases {
        assert_eq!(reason(text, &STRICT), expected, "{text}");
        accepted(text);
    }
    let stable =
        ["comment_987", "order:4711", "2026-10-21", "886313e1-3b8a-5372-9b90-0c9aee199e5d", "6c0f2d0e-6f0b-4f43-9d0f"];
    for text in stable {
        assert!(Key::parse(text, &STRICT).is_ok(), "{text}");
    }
}

#[test]
fn parts_are_joined_in_order_after_normalisation() {
    let key = joined(&parts(" zendesk ", "ticket:reply", "100%", "1"));

    assert_eq!(key.as_str(), "zendesk:ticket%3Areply:100%25:1");
    assert_eq!(joined(&parts("a", "cafe\u{301}", "1", "1")), joined(&parts("a", "café", "1", "1")));
    assert_eq!(joined(&parts("zendesk", "reply", "987", "1")), accepted("zendesk:reply:987:1"));
}

#[test]
fn a_part_at_fault_is_named() {
    let cases = [
        (parts("", "t", "1", "1"), KeyReason::Empty, "source"),
        (parts("s", "\u{200b}", "1", "1"), KeyReason::Invisible, "event_type"),
        (parts("s", "t", "undefined", "1"), KeyReason::Placeholder, "external_id"),
        (parts("s", "t", "{{ $json.id }}", "1"), KeyReason::Template, "external_id"),
        (parts("s", "t", "1", "1\n"), KeyReason::ControlCharacter, "version"),
    ];

    for (parts, reason, part) in cases {
        let error = Key::from_parts(&parts, &KeyPolicy::default()).unwrap_err();

        assert_eq!((error.reason, error.part), (reason, Some(part)));
        assert!(error.detail.contains(part), "{error}");
    }
    let long = parts("s", "t", &"%".repeat(85), "1");
    assert_eq!(Key::from_parts(&long, &KeyPolicy::default()).unwrap_err().reason, KeyReason::TooLong);
}

#[test]
fn refusals_never_show_the_key() {
    let error = Key::parse("anna@example.test", &KeyPolicy::default()).unwrap_err();

    assert!(!error.to_string().contains("anna"));
    assert_eq!(serde_json::to_value(error.reason).unwrap(), error.reason.as_str());
}

#[test]
fn naughty_strings_are_kept_or_refused_as_keys() {
    let strings: Vec<String> = serde_json::from_slice(&data("naughty-strings/blns.json")).unwrap();

    let kept: Vec<_> =
        strings.iter().filter_map(|text| Some((text, Key::parse(text, &KeyPolicy::default()).ok()?))).collect();

    for (text, key) in &kept {
        assert_eq!(key.as_str(), text.trim().nfc().collect::<String>());
        assert_eq!(&accepted(key.as_str()), key);
    }
    assert!(kept.len() > 400, "{}", kept.len());
}

proptest! {
    #[test]
    fn parsing_a_key_again_changes_nothing(text in "\\PC{1,40}|[a-z:%\u{301}\u{30a} ]{1,8}") {
        if let Ok(key) = Key::parse(&text, &KeyPolicy::default()) {
            prop_assert_eq!(Key::parse(key.as_str(), &KeyPolicy::default()).unwrap(), key);
        }
    }

    #[test]
    fn different_parts_never_give_one_key(a in prop::collection::vec("[:%235Aa\u{30a}é]{1,4}", 4), b in prop::collection::vec("[:%235Aa\u{30a}é]{1,4}", 4)) {
        let [first, second] = [&a, &b].map(|list| parts(&list[0], &list[1], &list[2], &list[3]));
        let nfc = |list: &[String]| list.iter().map(|part| part.nfc().collect::<String>()).collect::<Vec<_>>();

        prop_assert_eq!(joined(&first) == joined(&second), nfc(&a) == nfc(&b));
    }

    #[test]
    fn quoted_and_bare_headers_name_one_key(text in "[!#-&(-+.-~][!#-+ .-~]{0,20}[!#-+.-~]") {
        let quoted = format!("\"{}\"", text.replace('\\', "\\\\"));

        prop_assert_eq!(from_header(quoted.as_bytes()).unwrap(), from_header(text.as_bytes()).unwrap());
    }
}
