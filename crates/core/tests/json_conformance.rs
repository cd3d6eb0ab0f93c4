//! The reader and the canonical form against other people's vectors: JSONTestSuite, RFC 8785's test data, the big list
//! of naughty strings, and the handed cases about text that a database will not take.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use effectgate_core::json::{DEPTH_MAX, Json, JsonErrorCode, canonical, parse, parse_document};
use proptest::prelude::*;
use serde_json::json;

fn data(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(path)
}

fn read(path: &str) -> Vec<u8> {
    fs::read(data(path)).unwrap()
}

fn files(folder: &str) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = fs::read_dir(data(folder))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read(path).unwrap()))
        .collect();
    files.sort();
    files
}

fn canonical_text(text: &str) -> String {
    String::from_utf8(canonical(&parse(text.as_bytes()).unwrap())).unwrap()
}

/// Doubles of which the seventeen digits of `%.17g` are taken for the double.
fn is_normal_fraction(double: f64) -> bool {
    double.is_normal() && double.fract() != 0.0
}

fn refusal(bytes: &[u8]) -> (&'static str, String) {
    let error = parse(bytes).unwrap_err();
    (error.code.as_str(), error.pointer)
}

/// Of the texts that RFC 8259 leaves to each reader, these are accepted: whole numbers that no double holds, and
/// numbers below the smallest double. All are kept digit for digit.
const FREE_ACCEPTED: [&str; 5] = [
    "i_number_double_huge_neg_exp.json",
    "i_number_real_underflow.json",
    "i_number_too_big_neg_int.json",
    "i_number_too_big_pos_int.json",
    "i_number_very_big_negative_int.json",
];

#[test]
fn json_test_suite_is_judged_as_it_says() {
    let files = files("json-parsing/test_parsing");
    let count = |prefix| files.iter().filter(|(name, _)| name.starts_with(prefix)).count();
    assert_eq!((count("y_"), count("n_"), count("i_")), (95, 186, 35));

    for (name, bytes) in &files {
        // RFC 7493 forbids what these two RFC 8259 texts do: one name twice.
        let i_json_refuses = name.starts_with("y_object_duplicated_key");
        let expected = (name.starts_with("y_") && !i_json_refuses) || FREE_ACCEPTED.contains(&name.as_str());

        let result = parse(bytes);

        assert_eq!(result.is_ok(), expected, "{name}: {result:?}");
        if i_json_refuses {
            assert_eq!(result.unwrap_err().code, JsonErrorCode::DuplicateMember, "{name}");
        }
    }
}

#[test]
fn accepted_texts_read_as_serde_json_reads_them() {
    for (name, bytes) in files("json-parsing/test_parsing") {
        let (Ok(json), true) = (parse(&bytes), name.starts_with("y_")) else { continue };

        let reread = parse(json.to_text().as_bytes()).unwrap();

        assert_eq!(reread, json, "{name}");
        assert_eq!(json.to_value(), serde_json::from_slice::<serde_json::Value>(&bytes).unwrap(), "{name}");
    }
}

#[test]
fn texts_that_others_transform_are_refused_or_kept_without_loss() {
    let code_of = |name: &str| match name {
        name if name.starts_with("object_same_key") => Some("duplicate_member"),
        name if name.contains("escaped_invalid") => Some("lone_surrogate"),
        name if name.contains("invalid") => Some("invalid_utf8"),
        _ => None,
    };
    let files = files("json-parsing/test_transform");
    assert_eq!(files.len(), 22);

    for (name, bytes) in files {
        let result = parse(&bytes);

        assert_eq!(result.as_ref().err().map(|error| error.code.as_str()), code_of(&name), "{name}");
        let Ok(json) = result else { continue };
        if name.starts_with("number_") {
            assert_eq!(json.to_text().as_bytes(), bytes.trim_ascii(), "{name}");
        }
        assert_eq!(parse(json.to_text().as_bytes()).unwrap(), json, "{name}");
    }
}

#[test]
fn names_that_differ_only_in_unicode_form_are_two_members() {
    let json = parse(&read("json-parsing/test_transform/object_key_nfc_nfd.json")).unwrap();

    assert_eq!(json.as_object().unwrap().len(), 2);
}

#[test]
fn nesting_is_accepted_to_the_limit_and_refused_beyond() {
    let nested = |depth: usize| ["[".repeat(depth), "]".repeat(depth)].concat();

    assert!(parse(nested(DEPTH_MAX).as_bytes()).is_ok());
    let (code, pointer) = refusal(nested(DEPTH_MAX + 1).as_bytes());
    assert_eq!((code, pointer), ("too_deep", "/0".repeat(DEPTH_MAX)));
}

#[test]
fn a_hundred_thousand_brackets_are_refused_at_once() {
    let started = Instant::now();
    let inputs = ["[".repeat(100_000), "[{\"\":".repeat(50_000), "{\"a\":".repeat(1_000_000)];

    for input in inputs {
        assert_eq!(refusal(input.as_bytes()).0, "too_deep");
    }

    assert!(started.elapsed() < Duration::from_secs(1));
}

#[test]
fn refusals_name_the_member() {
    let large = format!("{{{}\"m5\":0}}", (0..100).map(|n| format!("\"m{n}\":{n},")).collect::<String>());
    let cases: [(&[u8], &str, &str); 17] = [
        (b"", "invalid_json", ""),
        (b"\xEF\xBB\xBF{}", "invalid_json", ""),
        (b"{\"a\":[1,2,{\"b/c~d\":tru}]}", "invalid_json", "/a/2/b~1c~0d"),
        (b"{\"a\":1,}", "invalid_json", ""),
        (b"{\"a\":\"x\ny\"}", "invalid_json", "/a"),
        (b"[1] 2", "invalid_json", ""),
        (b"{\"a\":{\"b\":1,\"b\":1}}", "duplicate_member", "/a/b"),
        (b"{\"a\":1,\"\\u0061\":1}", "duplicate_member", "/a"),
        (large.as_bytes(), "duplicate_member", "/m5"),
        (b"[0,\"\\ud83d\"]", "lone_surrogate", "/1"),
        (b"[0,\"\\ude00\\ud83d\"]", "lone_surrogate", "/1"),
        (b"{\"a\":{\"\\ud83d\":1}}", "lone_surrogate", "/a"),
        (b"{\"a\":1,\"b\":[1e400]}", "number_out_of_range", "/b/0"),
        (b"{\"a\":{\"b\":\"x\xFF\"}}", "invalid_utf8", "/a/b"),
        (b"{\"a\":\"\xC0\xAF\"}", "invalid_utf8", "/a"),
        (b"{} \xFF", "invalid_utf8", ""),
        (b"{\"a\":\"\\u12", "invalid_json", "/a"),
    ];

    for (bytes, code, pointer) in cases {
        assert_eq!(refusal(bytes), (code, pointer.to_owned()), "{}", String::from_utf8_lossy(bytes));
    }
}

#[test]
fn numbers_outside_a_double_are_refused_and_the_largest_is_not() {
    let zeros = "0".repeat(1_000_000);
    let accepted =
        ["1.7976931348623157e308", "1.7976931348623158e308", "-1.7976931348623157E+308", "0e999999999999999999999"];
    let refused = ["1.7976931348623159e308", "-1e309", "1e400", "1e999999999999999999999", "1e-999999999999999999999"];

    for text in accepted {
        assert!(parse(text.as_bytes()).is_ok(), "{text}");
    }
    for text in refused {
        assert_eq!(refusal(text.as_bytes()), ("number_out_of_range", String::new()), "{text}");
    }
    assert_eq!(refusal(format!("1{zeros}").as_bytes()).0, "number_out_of_range");
    assert_eq!(canonical_text(&format!("0.{zeros}25e1000001")), "2.5");
    assert_eq!(canonical_text(&format!("25{zeros}e-1000001")), "2.5");
}

#[test]
fn huge_negative_exponents_cost_nothing_and_stay_exact() {
    assert_eq!(canonical_text("1e-999999999999"), "1e-999999999999");
    assert_eq!(canonical_text("-0.10E-999999999998"), "-1e-999999999999");
    assert_eq!(parse(b"1e-999999999999").unwrap().to_value(), json!(0.0));
}

#[test]
fn rfc_8785_vectors_hold_byte_for_byte() {
    let inputs = files("jcs/testdata/input");
    assert_eq!(inputs.len(), 6);

    for (name, input) in inputs {
        let output = read(&format!("jcs/testdata/output/{name}"));
        let hex_text =
            String::from_utf8(read(&format!("jcs/testdata/outhex/{}", name.replace(".json", ".txt")))).unwrap();
        let from_hex = hex::decode(hex_text.split_whitespace().collect::<String>()).unwrap();

        let canonical_bytes = canonical(&parse(&input).unwrap());

        assert_eq!(String::from_utf8_lossy(&canonical_bytes), String::from_utf8_lossy(&output), "{name}");
        assert_eq!(canonical_bytes, from_hex, "{name}");
        assert_eq!(canonical(&parse(&output).unwrap()), output, "{name}");
    }
}

#[test]
fn ecmascript_numbers_are_written_as_ecmascript_writes_them() {
    let list = String::from_utf8(read("jcs/es6numbers-10000.txt")).unwrap();
    let mut lines = 0;

    for line in list.lines() {
        let (bits, expected) = line.split_once(',').unwrap();
        let double = f64::from_bits(u64::from_str_radix(bits, 16).unwrap());

        assert_eq!(canonical_text(expected), expected);
        if is_normal_fraction(double) {
            assert_eq!(canonical_text(&format!("{double:.16e}")), expected);
        }
        assert_eq!(canonical_text(&json!(double).to_string()), expected);
        lines += 1;
    }
    assert_eq!(lines, 10_000);
}

#[test]
fn numbers_have_one_canonical_text_by_value() {
    let cases = [
        ("-0", "0"),
        ("-0.0e7", "0"),
        ("1E2", "100"),
        ("1000e-1", "100"),
        ("0.000001", "0.000001"),
        ("1e-7", "1e-7"),
        ("100000000000000000000", "100000000000000000000"),
        ("1000000000000000000000", "1e+21"),
        ("1e21", "1e+21"),
        ("0.1e22", "1e+21"),
        ("9007199254740992", "9007199254740992"),
        ("9007199254740993", "9007199254740993"),
        ("9007199254740993.0", "9007199254740993"),
        ("9.007199254740993e15", "9007199254740993"),
        ("-9223372036854775809", "-9223372036854775809"),
        ("1000000000000000000001", "1.000000000000000000001e+21"),
        ("1.000000000000000005", "1.000000000000000005"),
        ("0.1000000000000000055511151231257827", "0.1000000000000000055511151231257827"),
        ("1e-400", "1e-400"),
        // Seventeen digits of a fraction are how %.17g prints a double.
        ("0.10000000000000001", "0.1"),
        ("333333333.33333329", "333333333.3333333"),
        // Where two shortest texts lie equally near, ECMAScript takes the even one; the other is another decimal.
        ("1424953923781206.3", "1424953923781206.2"),
        ("591340196471289.2", "591340196471289.2"),
        ("591340196471289.3", "591340196471289.3"),
        // Sixteen are not.
        ("9007199254740.993", "9007199254740.993"),
    ];

    for (text, expected) in cases {
        assert_eq!(canonical_text(text), expected, "{text}");
        assert_eq!(canonical_text(expected), expected);
    }
}

#[test]
fn members_are_sorted_by_utf16_units() {
    let names =
        ["", "a", "aa", "z", "é", "\u{7ff}", "\u{800}", "\u{d7ff}", "\u{e000}", "\u{fb33}", "\u{fffd}", "\u{ffff}"];
    let mut names: Vec<String> = names.map(String::from).to_vec();
    names.extend(["\u{10000}", "\u{1f600}", "\u{10ffff}", "é\u{1f600}", "é\u{ffff}"].map(String::from));
    let object = Json::Object(names.iter().map(|name| (name.clone(), Json::Null)).collect());

    let reread = parse(&canonical(&object)).unwrap();

    names.sort_by(|a, b| a.encode_utf16().cmp(b.encode_utf16()));
    assert_eq!(
        reread.as_object().unwrap().iter().map(|(name, _)| name).collect::<Vec<_>>(),
        names.iter().collect::<Vec<_>>()
    );
}

#[test]
fn naughty_strings_come_back_unchanged() {
    let bytes = read("naughty-strings/blns.json");
    let expected: Vec<String> = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(expected.len(), 515);

    let json = parse(&bytes).unwrap();
    let reread = parse(&canonical(&json)).unwrap();

    for json in [json, reread] {
        let texts: Vec<_> = json.as_array().unwrap().iter().map(|item| item.as_str().unwrap()).collect();
        assert_eq!(texts, expected);
    }
}

#[test]
fn hc_17_not_a_number_and_infinite_numbers_are_refused() {
    for text in ["NaN", "{\"score\":NaN}", "[Infinity]", "{\"a\":{\"b\":-Infinity}}"] {
        assert_eq!(refusal(text.as_bytes()).0, "invalid_json", "{text}");
    }
    assert_eq!(refusal(b"{\"score\":1e999}"), ("number_out_of_range", "/score".into()));
}

#[test]
fn hc_18_half_pairs_and_broken_utf8_are_refused_and_the_rest_is_kept() {
    let refused = [
        ("hc18-high.json", "lone_surrogate"),
        ("hc18-low.json", "lone_surrogate"),
        ("hc18-swapped.json", "lone_surrogate"),
        ("hc18-bad-utf8.bin", "invalid_utf8"),
        ("hc18-cut-utf8.bin", "invalid_utf8"),
    ];
    for (name, code) in refused {
        assert_eq!(refusal(&read(&format!("handed/{name}"))), (code, "/draft".into()), "{name}");
    }

    let kept = [("hc18-nul.json", "Dear Ms\0Berg"), ("hc18-pair-ok.json", "done \u{1f600}")];
    for (name, text) in kept {
        let json = parse(&read(&format!("handed/{name}"))).unwrap();
        assert_eq!(json.pointer("/draft").and_then(Json::as_str), Some(text), "{name}");
        assert_eq!(parse(json.to_text().as_bytes()).unwrap(), json, "{name}");
    }
}

#[test]
fn a_member_keeps_the_text_it_came_in() {
    let text = br#" { "flow" : "f", "payload" : { "b": 1.50, "a" :9007199254740993, "c":{"payload":0} } , "n":-0.0 } "#;

    let document = parse_document(text).unwrap();

    assert_eq!(document.member_text("payload"), Some(r#"{ "b": 1.50, "a" :9007199254740993, "c":{"payload":0} }"#));
    assert_eq!(document.member_text("n"), Some("-0.0"));
    assert_eq!(document.member_text("absent"), None);
    assert_eq!(parse_document(b"[1]").unwrap().member_text("0"), None);
}

#[test]
fn pointers_find_what_rfc_6901_says() {
    let text = r#"{"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\j":5,"k\"l":6," ":7,"m~n":8,"~1":9}"#;
    let json = parse(text.as_bytes()).unwrap();
    let found = [
        ("/foo/0", "\"bar\""),
        ("/", "0"),
        ("/a~1b", "1"),
        ("/c%d", "2"),
        ("/i\\j", "5"),
        ("/m~0n", "8"),
        ("/~01", "9"),
    ];

    assert_eq!(json.pointer(""), Some(&json));
    for (pointer, expected) in found {
        assert_eq!(json.pointer(pointer).map(Json::to_text).as_deref(), Some(expected), "{pointer}");
    }
    for absent in ["foo", "/foo/2", "/foo/-", "/foo/00", "/foo/+1", "/foo/bar", "/m~n", "/m~2n", "/x/y"] {
        assert_eq!(json.pointer(absent), None, "{absent}");
    }
}

#[test]
fn a_value_for_rules_says_where_it_is_inexact() {
    let exact = parse(br#"{"a":[9223372036854775807,18446744073709551615,0.1,1e3,-0.0,4.50]}"#).unwrap();
    let inexact = parse(br#"{"a":[1,{"b":0.1,"c":18446744073709551616.5}]}"#).unwrap();

    assert_eq!(exact.inexact_member(), None);
    assert_eq!(inexact.inexact_member().as_deref(), Some("/a/1/c"));
    assert_eq!(Json::from(&exact.to_value()).to_value(), exact.to_value());
}

/// Any JSON value, with member names that meet often and numbers of every spelling.
fn any_json() -> impl Strategy<Value = String> {
    let number = "-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,2})?";
    let string = any::<String>().prop_map(|text| serde_json::Value::String(text).to_string());
    let leaf = prop_oneof![Just("null".to_owned()), Just("true".to_owned()), number.prop_map(String::from), string];
    leaf.prop_recursive(4, 64, 8, |inner| {
        let array = prop::collection::vec(inner.clone(), 0..6).prop_map(|items| format!("[ {} ]", items.join(" ,\n")));
        let object = prop::collection::btree_map(any::<String>(), inner, 0..20).prop_map(|members| {
            let member = |(name, value)| format!("{} : {value}", serde_json::Value::String(name));
            format!("{{{}}}", members.into_iter().map(member).collect::<Vec<_>>().join("\t,"))
        });
        prop_oneof![array, object]
    })
}

proptest! {
    #[test]
    fn canonical_form_is_a_fixed_point(text in any_json()) {
        let json = parse(text.as_bytes()).unwrap();
        let bytes = canonical(&json);

        prop_assert_eq!(&canonical(&parse(&bytes).unwrap()), &bytes);
        prop_assert_eq!(&canonical(&parse(json.to_text().as_bytes()).unwrap()), &bytes);
    }

    #[test]
    fn every_double_is_written_as_ecmascript_would(double in any::<f64>().prop_filter("finite", |double| double.is_finite())) {
        let shortest = canonical_text(&json!(double).to_string());

        prop_assert_eq!(shortest.parse::<f64>().unwrap(), double);
        if is_normal_fraction(double) {
            prop_assert_eq!(canonical_text(&format!("{double:.16e}")), shortest);
        }
    }

    #[test]
    fn equal_decimals_are_equal_and_different_ones_differ(a in 0_i64..1_000_000_000_000_000_000, step in 0_i64..3, shift in 0_usize..30) {
        let (a, b) = (a as i128 * 10 + 1, (a + step) as i128 * 10 + 1);
        let spelled = |whole: i128| [
            format!("{whole}"), format!("{whole}.0"), format!("{whole}{}e-{shift}", "0".repeat(shift)),
            format!("0.{}{whole}e+{}", "0".repeat(shift), shift + whole.to_string().len()),
        ].map(|text| canonical_text(&text));

        prop_assert!(spelled(a).windows(2).all(|pair| pair[0] == pair[1]));
        prop_assert_eq!(spelled(a)[0] == spelled(b)[0], step == 0);
    }

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(prop_oneof![any::<u8>(), prop::sample::select(b"[]{}\",:\\u0e-1tfn ".to_vec())], 0..64)) {
        if let Ok(json) = parse(&bytes) {
            prop_assert!(serde_json::from_slice::<serde_json::Value>(&bytes).is_ok());
            // By canonical form and not by value: minus zero is zero there.
            prop_assert_eq!(canonical(&parse(&canonical(&json)).unwrap()), canonical(&json));
        }
    }
}
