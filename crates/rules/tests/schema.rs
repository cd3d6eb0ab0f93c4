//! What this crate promises about schemas beyond the suite: nothing fetched, nothing coerced, bounded messages.
#![allow(clippy::unwrap_used)]

use effectgate_rules::schema::{FINDINGS_MAX, SCHEMA_BYTES_MAX, Schema, SchemaError};
use serde_json::{Value, json};

fn refusal(schema: Value) -> SchemaError {
    Schema::compile(&schema).unwrap_err()
}

#[test]
fn findings_name_pointer_keyword_and_reason() {
    let schema = json!({"required": ["to"], "properties": {"a/b": {"items": {"type": "boolean"}}}});

    let findings = Schema::compile(&schema).unwrap().validate(&json!({"a/b": [true, "false"]}));

    let mut seen: Vec<_> = findings.iter().map(|f| (f.pointer.as_str(), f.keyword.as_str())).collect();
    seen.sort();
    assert_eq!(seen, [("", "required"), ("/a~1b/1", "type")]);
    assert!(findings.iter().any(|f| f.message.contains("is not of type \"boolean\"")), "{findings:?}");
}

#[test]
fn nothing_is_coerced() {
    let table = [
        ("boolean", json!("false")),
        ("boolean", json!(0)),
        ("number", json!("1")),
        ("string", json!(1)),
        ("null", json!("")),
        ("array", json!({})),
    ];
    for (wanted, value) in table {
        assert_eq!(Schema::compile(&json!({"type": wanted})).unwrap().validate(&value).len(), 1, "{wanted} {value}");
    }
}

#[test]
fn findings_are_bounded_and_do_not_repeat_values() {
    let schema =
        Schema::compile(&json!({"items": {"maxLength": 3}, "properties": {}, "additionalProperties": false})).unwrap();
    let many: Vec<_> = (0..100).map(|_| "secret".repeat(1_000)).collect();

    let findings = schema.validate(&json!(many));

    assert_eq!(findings.len(), FINDINGS_MAX);
    assert!(findings.iter().all(|f| !f.message.contains("secret")), "{:?}", findings[0]);
    let long = schema.validate(&json!({"å".repeat(4_000): 1}));
    assert!(long[0].message.len() < 310 && long[0].message.ends_with('…'), "{:?}", long[0]);
}

#[test]
fn a_reference_that_leaves_the_schema_is_refused_and_not_fetched() {
    for uri in ["https://example.test/s.json", "http://169.254.169.254/latest", "file:///etc/passwd", "other.json"] {
        let error = refusal(json!({"properties": {"a": {"$ref": uri}}}));

        assert!(matches!(&error, SchemaError::RemoteRef { .. }), "{uri}: {error}");
    }
    assert!(Schema::compile(&json!({"$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}})).is_ok());
}

#[test]
fn a_given_document_is_used_and_no_other() {
    let documents = vec![("https://example.test/id.json".to_owned(), json!({"type": "integer"}))];
    let schema = Schema::compile_with(&json!({"$ref": "https://example.test/id.json"}), documents.clone()).unwrap();

    assert_eq!((schema.validate(&json!(1)).len(), schema.validate(&json!("1")).len()), (0, 1));
    assert!(Schema::compile_with(&json!({"$ref": "https://example.test/no.json"}), documents).is_err());
}

#[test]
fn patterns_are_checked_at_compile_time_and_run_in_linear_time() {
    for pattern in ["(a)\\1", "a(?=b)c", "(", "(a{1000}){1000}"] {
        let error = refusal(json!({"properties": {"x": {"pattern": pattern}}}));

        assert_eq!(error, SchemaError::PatternUnsupported { pointer: "/properties/x/pattern".into() }, "{pattern}");
    }
    let schema = Schema::compile(&json!({"pattern": "^(a+)+$"})).unwrap();
    assert_eq!(schema.validate(&json!(format!("{}b", "a".repeat(100_000)))).len(), 1);
}

#[test]
fn drafts_2020_12_and_7_are_told_apart_and_others_refused() {
    let items = |draft: Option<&str>| {
        let mut schema = json!({"items": [{"type": "string"}], "prefixItems": [{"type": "integer"}]});
        if let Some(draft) = draft {
            schema["$schema"] = json!(draft);
        }
        Schema::compile(&schema)
    };

    assert_eq!(items(Some("http://json-schema.org/draft-07/schema#")).unwrap().validate(&json!([1])).len(), 1);
    assert!(items(None).is_err(), "an array under items is draft 7's");
    for draft in ["http://json-schema.org/draft-04/schema#", "https://example.test/own", "2020-12"] {
        assert!(matches!(items(Some(draft)).unwrap_err(), SchemaError::DraftUnsupported { .. }));
    }
    assert!(matches!(refusal(json!({"$schema": 7})), SchemaError::DraftUnsupported { .. }));
}

#[test]
fn invalid_schemas_unknown_formats_and_huge_ones_are_refused() {
    assert!(matches!(refusal(json!({"type": "text"})), SchemaError::Invalid { .. }));
    assert!(matches!(refusal(json!([])), SchemaError::Invalid { .. }));
    assert_eq!(
        refusal(json!({"properties": {"a": {"format": "emial"}}})),
        SchemaError::FormatUnknown { pointer: "/properties/a/format".into() }
    );
    assert!(matches!(refusal(json!({"title": "x".repeat(SCHEMA_BYTES_MAX)})), SchemaError::TooLarge { .. }));
}

#[test]
fn formats_are_asserted() {
    let table = [
        ("email", "a@example.test", "a@"),
        ("date-time", "2026-11-30T09:00:00Z", "yesterday"),
        ("uri", "https://example.test", "x y"),
        ("uuid", "6c0f2d0e-6f0b-4f43-9d0f-0d6a3f0a9c11", "6c"),
    ];
    for (format, good, bad) in table {
        let schema = Schema::compile(&json!({"format": format})).unwrap();

        assert_eq!((schema.validate(&json!(good)).len(), schema.validate(&json!(bad)).len()), (0, 1), "{format}");
    }
}

#[test]
fn deeply_nested_values_and_schemas_that_refer_to_themselves_end() {
    let schema = Schema::compile(&json!({"items": {"$ref": "#"}, "type": "array"})).unwrap();
    let deep = (0..128).fold(json!([]), |inner, _| json!([inner]));

    assert_eq!(schema.validate(&deep), []);
}
