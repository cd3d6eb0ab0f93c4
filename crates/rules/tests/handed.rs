//! Handed failure cases HC-14 to HC-18, as far as they are judged by this crate. Files unchanged in `data/handed`.

#![allow(clippy::unwrap_used)]

use effectgate_rules::extract::{ExtractError, Extraction, extract, is_cut};
use effectgate_rules::schema::Schema;
use serde_json::{Value, json};

macro_rules! file {
    ($name:literal) => {
        include_bytes!(concat!("data/handed/", $name)).as_slice()
    };
}

fn schema(bytes: &[u8]) -> Schema {
    Schema::compile(&serde_json::from_slice(bytes).unwrap()).unwrap()
}

/// The value if it was found and fits, else the error's code or the first broken keyword.
fn judge(schema: &Schema, text: &[u8]) -> Result<Value, String> {
    let found = extract(text).map_err(|error| error.code().to_owned())?;
    match schema.validate(&found.value).first() {
        Some(finding) => Err(finding.keyword.clone()),
        None => Ok(found.value),
    }
}

fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty())
}

fn escalate() -> Value {
    json!({"action": "escalate", "order": "A-17", "amount": "0.00"})
}

#[test]
fn hc_14_an_example_before_the_answer_leaves_a_choice_and_nothing_is_chosen() {
    let error = extract(file!("hc14-1.txt")).unwrap_err();

    assert!(matches!(error, ExtractError::SeveralCandidates { .. }), "{error}");
}

#[test]
fn hc_14_answers_in_fences_after_thinking_and_twice_are_found_and_marked_as_extracted() {
    let schema = schema(file!("hc14-schema.json"));

    for text in
        [file!("hc14-2.txt"), file!("hc14-3.txt"), file!("hc14-4.txt"), file!("hc14-5.txt"), file!("hc14-6.txt")]
    {
        assert_eq!(judge(&schema, text), Ok(escalate()));
        let Extraction { extracted, notes, .. } = extract(text).unwrap();
        assert!(extracted && !notes.is_empty());
    }
}

#[test]
fn hc_15_cut_off_outputs_are_never_closed() {
    for text in [file!("hc15-1.txt"), file!("hc15-2.txt"), file!("hc15-3.txt")] {
        assert_eq!(extract(text).unwrap_err(), ExtractError::CutOff { offset: 0 });
    }
}

#[test]
fn hc_15_a_reported_cut_counts_although_the_text_parses() {
    let reported: Value = serde_json::from_slice(file!("hc15-4.json")).unwrap();

    assert!(judge(&schema(file!("hc15-schema.json")), reported["content"].as_str().unwrap().as_bytes()).is_ok());
    assert!(is_cut(reported["finish_reason"].as_str().unwrap()));
}

#[test]
fn hc_16_only_the_boolean_false_is_false() {
    let schema = schema(file!("hc16-schema.json"));
    let all: Vec<_> = lines(file!("hc16-outputs.jsonl")).map(|line| judge(&schema, line)).collect();

    let mut expected = vec![Err("type".to_owned()); 8];
    expected.push(Err("invalid_json".to_owned()));
    expected.push(Ok(json!({"send": false})));
    assert_eq!(all, expected);
}

#[test]
fn hc_17_numbers_that_are_not_json_are_invalid_bare_and_inside_prose() {
    let schema = schema(file!("hc17-schema.json"));
    let verdicts = |wrap: &dyn Fn(&[u8]) -> Vec<u8>| -> Vec<_> {
        lines(file!("hc17-outputs.txt")).map(|line| judge(&schema, &wrap(line))).collect()
    };

    let mut expected = vec![Err("invalid_json".to_owned()); 11];
    expected[7] = Ok(json!({"score": 0.5, "note": "NaN"}));
    assert_eq!(verdicts(&|line| line.to_vec()), expected);
    assert_eq!(verdicts(&|line| [b"Sure, here you go: ", line, b" Anything else?"].concat()), expected);
    assert_eq!(verdicts(&|line| [b"```json\n", line, b"\n```"].concat()), expected);
}

#[test]
fn hc_18_broken_characters_are_refused_and_the_pair_comes_back_unchanged() {
    for text in [file!("hc18-high.json"), file!("hc18-low.json"), file!("hc18-swapped.json")] {
        assert_eq!(extract(text).unwrap_err().code(), "invalid_json");
    }
    for text in [file!("hc18-bad-utf8.bin"), file!("hc18-cut-utf8.bin")] {
        assert_eq!(extract(text).unwrap_err().code(), "not_utf8");
    }
    assert_eq!(extract(file!("hc18-nul.json")).unwrap().value, json!({"draft": "Dear Ms\0Berg"}));
    assert_eq!(extract(file!("hc18-pair-ok.json")).unwrap().value, json!({"draft": "done 😀"}));
}

#[test]
fn json_parsing_corpus_as_model_output_gets_the_verdict_it_gets_as_json() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../core/tests/data/json-parsing/test_parsing");
    let (mut accepted, mut refused) = (0, 0);

    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let is_found = extract(std::fs::read(&path).unwrap()).is_ok();
        // The two files of 100,000 brackets are made in tests/extract.rs. One member twice is JSON by its grammar and refused here on purpose: which value is meant cannot be known.
        let is_right = match &name[..2] {
            "y_" => is_found != name.contains("duplicated_key"),
            "n_" => !is_found,
            _ => true,
        };
        assert!(is_right, "{name}");
        accepted += usize::from(name.starts_with("y_"));
        refused += usize::from(name.starts_with("n_"));
    }

    assert_eq!((accepted, refused), (95, 186));
}
