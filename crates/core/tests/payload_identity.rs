//! Which payloads are one payload: the handed cases HC-07 to HC-10, the rule that names the identifying part, and the
//! text forms of hash and rule.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::fs;

use effectgate_core::json::{Json, parse};
use effectgate_core::payload::{
    IdentityRule, IdentityRuleError, POINTERS_MAX, PayloadHash, differing_members, hash_payload,
};

fn handed(name: &str) -> Json {
    let path = format!("{}/tests/data/handed/{name}", env!("CARGO_MANIFEST_DIR"));
    parse(&fs::read(path).unwrap()).unwrap()
}

fn json(text: &str) -> Json {
    parse(text.as_bytes()).unwrap()
}

fn rule(pointers: &[&str]) -> IdentityRule {
    IdentityRule::new(pointers.iter().map(|pointer| pointer.to_string()).collect()).unwrap()
}

fn whole(json: &Json) -> String {
    hash_payload(json, &IdentityRule::default()).unwrap().to_string()
}

fn named(text: &str, pointers: &[&str]) -> PayloadHash {
    hash_payload(&json(text), &rule(pointers)).unwrap()
}

#[test]
fn hc_07_order_of_members_is_no_difference_and_order_of_items_is() {
    let expected_ab = "v1:sha256:dc5501b43c6c6dd4bc3566322cb1950bc44c87259b076129e6c9ccd9c633531e";
    let expected_c = "v1:sha256:5c6e0857bf83dca3f71360a1cdfd8f432372e51cac23c2ca1adaf0f672c89883";

    assert_eq!(whole(&handed("hc07-a.json")), expected_ab);
    assert_eq!(whole(&handed("hc07-b.json")), expected_ab);
    assert_eq!(whole(&handed("hc07-c.json")), expected_c);
}

#[test]
fn hc_08_names_beyond_the_basic_plane_sort_as_utf16() {
    let expected = "v1:sha256:b0876ea4827fc9d6d48b8f29681b6abb568f42a94ff9b3b61ad0bfc2406d6faf";

    for name in ["hc08-a.json", "hc08-b.json", "hc08-c.json"] {
        assert_eq!(whole(&handed(name)), expected, "{name}");
    }
}

#[test]
fn hc_09_digits_that_a_double_cannot_hold_still_count() {
    let hashes = ["a", "b", "c", "e", "f"].map(|letter| whole(&handed(&format!("hc09-{letter}.json"))));
    let path = format!("{}/tests/data/handed/hc09-d.json", env!("CARGO_MANIFEST_DIR"));
    let infinite = parse(&fs::read(path).unwrap()).unwrap_err();

    for (index, hash) in hashes.iter().enumerate() {
        assert!(!hashes[..index].contains(hash), "{index}");
    }
    assert_eq!((infinite.code.as_str(), infinite.pointer.as_str()), ("number_out_of_range", "/amount"));
    assert_eq!(handed("hc09-a.json").to_text(), r#"{"account":9007199254740993,"amount":100}"#);
}

#[test]
fn hc_10_the_named_part_outlives_the_envelope() {
    let rule = rule(&["/params/name", "/params/arguments"]);
    let [first, second, third] =
        ["1", "2", "3"].map(|n| hash_payload(&handed(&format!("hc10-{n}.json")), &rule).unwrap());

    assert_eq!(first, second);
    assert_ne!(first, third);
}

#[test]
fn hc_10_a_conflict_names_the_members_that_differ() {
    let [first, second, third] = ["1", "2", "3"].map(|n| handed(&format!("hc10-{n}.json")));

    assert_ne!(whole(&first), whole(&second));
    assert_eq!(differing_members(&first, &second, 10), ["/id", "/params/_meta/progressToken"]);
    assert_eq!(differing_members(&second, &first, 1), ["/id"]);
    let with_amount = ["/id", "/params/_meta/progressToken", "/params/arguments/amount"];
    assert_eq!(differing_members(&first, &third, 10), with_amount);
}

#[test]
fn differing_members_are_names_on_either_side() {
    let cases: [(&str, &str, &[&str]); 9] = [
        ("{\"a\":1}", "{\"a\":1.0}", &[]),
        ("{\"a\":1,\"b\":2}", "{\"b\":2,\"a\":1}", &[]),
        ("{\"a\":1}", "{\"b\":1}", &["/a", "/b"]),
        ("{\"a\":null}", "{}", &["/a"]),
        ("[1,2,3]", "[1,3]", &["/1", "/2"]),
        ("1", "2", &[""]),
        ("{\"a\":[]}", "{\"a\":{}}", &["/a"]),
        ("{\"a/b\":{\"~\":\"x\"}}", "{\"a/b\":{\"~\":\"y\"}}", &["/a~1b/~0"]),
        ("{\"\\ufb33\":1,\"\\ud83d\\ude00\":1}", "{}", &["/\u{1f600}", "/\u{fb33}"]),
    ];

    for (a, b, expected) in cases {
        assert_eq!(differing_members(&json(a), &json(b), 10), expected, "{a} {b}");
        assert_eq!(differing_members(&json(b), &json(a), 10), expected, "{b} {a}");
    }
    let many = format!("[{}0]", "0,".repeat(10_000));
    assert_eq!(differing_members(&json(&many), &json("[]"), 3), ["/0", "/1", "/2"]);
    assert!(differing_members(&json("1"), &json("2"), 0).is_empty());
}

#[test]
fn absent_null_and_every_value_differ_under_a_rule() {
    let pointers = ["/a", "/b"];
    let hashes = [
        "{\"a\":1}",
        "{\"b\":1}",
        "{\"a\":1,\"b\":null}",
        "{\"a\":null,\"b\":1}",
        "{\"a\":1,\"b\":1}",
        "{\"a\":\"1\"}",
    ]
    .map(|text| named(text, &pointers));

    for (index, hash) in hashes.iter().enumerate() {
        assert!(!hashes[..index].contains(hash), "{index}");
    }
    assert_eq!(named("{\"a\":1,\"x\":9}", &pointers), named("{\"x\":8,\"a\":1.0}", &pointers));
    assert_eq!(named("{\"a\":1,\"b\":2}", &["/b", "/a"]), named("{\"a\":1,\"b\":2}", &pointers));
}

#[test]
fn a_payload_without_any_identifying_member_has_no_identity() {
    let error = hash_payload(&json("{\"x\":1}"), &rule(&["/a", "/b"])).unwrap_err();

    assert_eq!(error.code(), "identity_absent");
    assert_eq!(error.pointers, ["/a", "/b"]);
}

#[test]
fn hashes_are_read_in_three_forms_and_written_in_one() {
    let digits = "dc5501b43c6c6dd4bc3566322cb1950bc44c87259b076129e6c9ccd9c633531e";
    let text = format!("v1:sha256:{digits}");

    for given in [text.clone(), format!("sha256:{digits}"), digits.to_owned(), digits.to_uppercase()] {
        assert_eq!(PayloadHash::parse(&given).unwrap().to_string(), text, "{given}");
    }
    for given in [
        "",
        "v2:sha256:",
        "v1:sha256:00",
        &format!("v2:sha256:{digits}"),
        &format!("v1:{digits}"),
        &format!("{digits}0"),
        &digits[1..],
        &format!("md5:{digits}"),
    ] {
        assert!(PayloadHash::parse(given).is_err(), "{given}");
    }
    let hash = PayloadHash::parse(digits).unwrap();
    assert_eq!(serde_json::to_value(hash).unwrap(), serde_json::json!(text));
    assert_eq!(serde_json::from_value::<PayloadHash>(serde_json::json!(digits)).unwrap(), hash);
}

#[test]
fn a_rule_is_stored_as_text_and_read_back() {
    for rule in [IdentityRule::default(), rule(&["/params/name", "/params/arguments"]), rule(&["/a~1\"b", "/é", ""])] {
        assert_eq!(IdentityRule::parse(&rule.as_text()).unwrap(), rule);
    }
    assert_eq!(IdentityRule::default().as_text(), "v1:[\"\"]");
    assert!(IdentityRule::default().is_whole());
    assert_eq!(IdentityRule::parse("v2:[\"\"]"), Err(IdentityRuleError::NotARule));
    assert_eq!(IdentityRule::parse("[\"\"]"), Err(IdentityRuleError::NotARule));
}

#[test]
fn rules_that_cannot_be_meant_are_refused() {
    let new = |pointers: &[&str]| IdentityRule::new(pointers.iter().map(|pointer| pointer.to_string()).collect());

    assert_eq!(new(&[]), Err(IdentityRuleError::Count(0)));
    assert_eq!(new(&["/a"; POINTERS_MAX + 1]), Err(IdentityRuleError::Count(POINTERS_MAX + 1)));
    assert_eq!(new(&["a"]), Err(IdentityRuleError::NotAPointer("a".into())));
    assert_eq!(new(&["/a~2"]), Err(IdentityRuleError::NotAPointer("/a~2".into())));
    assert_eq!(new(&["/a", "/a"]), Err(IdentityRuleError::Twice("/a".into())));
}
