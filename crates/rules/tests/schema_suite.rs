//! The JSON-Schema-Test-Suite (data in `data/json-schema`, unchanged, with its licence) against our settings: required
//! tests of draft 2020-12 and draft 7 and the optional ones that matter for outputs. Counts are asserted, and every
//! test that answers otherwise than the suite says is named with its reason; nothing is skipped silently.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use effectgate_rules::schema::Schema;
use serde_json::Value;

/// What one run over the suite saw.
#[derive(Default)]
struct Tally {
    passed: usize,
    /// Groups and tests that differ, as `file | group` or `file | group | test`.
    differing: BTreeMap<String, String>,
}

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/json-schema")
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// The suite's remote documents under the addresses the suite gives them. Nothing is fetched.
fn remotes(folder: &Path, address: &str) -> Vec<(String, Value)> {
    let mut all = Vec::new();
    for path in files(folder) {
        let address = format!("{address}/{}", path.file_name().unwrap().to_str().unwrap());
        if path.is_dir() {
            all.extend(remotes(&path, &address));
        } else {
            all.push((address, read(&path)));
        }
    }
    all
}

/// Draft 7's schemas in the suite carry no `$schema`: say it, as a user must.
fn named(schema: &Value, draft: &str) -> Value {
    let mut schema = schema.clone();
    if let (Some(members), "draft7") = (schema.as_object_mut(), draft) {
        members.entry("$schema").or_insert_with(|| "http://json-schema.org/draft-07/schema#".into());
    }
    schema
}

fn run(draft: &str, folder: &str) -> Tally {
    let documents = remotes(&data().join("remotes"), "http://localhost:1234");
    let documents: Vec<_> = documents.iter().map(|(uri, document)| (uri.clone(), named(document, draft))).collect();
    let mut tally = Tally::default();
    for path in files(&data().join("tests").join(draft).join(folder)).iter().filter(|path| path.is_file()) {
        for group in read(path).as_array().unwrap() {
            let name =
                format!("{} | {}", path.file_stem().unwrap().to_str().unwrap(), group["description"].as_str().unwrap());
            run_group(&mut tally, &name, group, draft, &documents);
        }
    }
    tally
}

fn run_group(tally: &mut Tally, name: &str, group: &Value, draft: &str, documents: &[(String, Value)]) {
    let schema = match Schema::compile_with(&named(&group["schema"], draft), documents.to_vec()) {
        Ok(schema) => schema,
        Err(error) => {
            tally.differing.insert(name.to_owned(), error.to_string());
            return;
        }
    };
    for test in group["tests"].as_array().unwrap() {
        let findings = schema.validate(&test["data"]);
        if findings.is_empty() == test["valid"].as_bool().unwrap() {
            tally.passed += 1;
        } else {
            tally
                .differing
                .insert(format!("{name} | {}", test["description"].as_str().unwrap()), format!("{findings:?}"));
        }
    }
}

fn assert_tally(draft: &str, folder: &str, passed: usize, differing: &[String]) {
    let tally = run(draft, folder);

    let seen: Vec<_> = tally.differing.keys().cloned().collect();
    assert_eq!(seen, differing, "{:#?}", tally.differing);
    assert_eq!(tally.passed, passed);
}

/// Formats are asserted here: what a schema asks for is checked. The suite's required tests expect an annotation only,
/// for each of these.
const ASSERTED: [&str; 19] = [
    "date",
    "date-time",
    "duration",
    "email",
    "hostname",
    "idn-email",
    "idn-hostname",
    "ipv4",
    "ipv6",
    "iri",
    "iri-reference",
    "json-pointer",
    "regex",
    "relative-json-pointer",
    "time",
    "uri",
    "uri-reference",
    "uri-template",
    "uuid",
];

/// `$schema` may name the two drafts only: a user's own dialect could switch validation off.
const OWN_DIALECTS: [&str; 2] = [
    "vocabulary | ignore unrecognized optional vocabulary",
    "vocabulary | schema that uses custom metaschema with with no validation vocabulary",
];

/// A format that nobody checks is refused when the schema is compiled, not ignored: it is a slip of the pen more often
/// than not.
const UNKNOWN_FORMAT: &str = "unknown | unknown format";

#[test]
fn required_tests_of_draft_2020_12_pass_but_for_asserted_formats_and_own_dialects() {
    let differs =
        |format| format!("format | {format} format | invalid {format} string is only an annotation by default");
    let mut differing: Vec<String> = ASSERTED.into_iter().map(differs).collect();
    differing.sort();
    differing.extend(OWN_DIALECTS.map(str::to_owned));

    assert_tally("draft2020-12", "", 1_275, &differing);
}

#[test]
fn required_tests_of_draft_7_pass() {
    assert_tally("draft7", "", 927, &[]);
}

#[test]
fn optional_tests_on_big_numbers_and_patterns_pass() {
    assert_tally("draft2020-12", "optional", 96, &[]);
    assert_tally("draft7", "optional", 96, &[]);
}

#[test]
fn format_tests_pass_but_for_the_unknown_format() {
    assert_tally("draft2020-12", "optional/format", 757, &[UNKNOWN_FORMAT.to_owned()]);
    assert_tally("draft7", "optional/format", 669, &[UNKNOWN_FORMAT.to_owned()]);
}
