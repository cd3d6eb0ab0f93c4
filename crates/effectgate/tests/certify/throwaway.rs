//! `certify --self`: everything judged, everything green, nothing left.

use std::fs;

use tempfile::TempDir;

use crate::{
    support::{effectgate, said},
    verdicts::verdicts,
};

#[test]
fn a_throwaway_gate_is_ready_in_under_a_minute_and_nothing_of_it_is_left() {
    let (papers, play) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let (markdown, junit) = (papers.path().join("report.md"), papers.path().join("report.xml"));
    let mut certify = effectgate(&["certify", "--self", "--json", "--markdown"]);
    certify.arg(&markdown).arg("--junit").arg(&junit).env("TMPDIR", play.path());

    let judged = verdicts(&mut certify);

    assert_eq!(judged.code, 0, "{:#}", judged.report);
    assert_eq!(judged.report["ready"], true);
    assert_eq!(judged.items().count(), 17);
    assert!(judged.all().iter().all(|(_, verdict)| *verdict == "pass"), "{:#}", judged.report);
    assert!(judged.items().all(|item| item["evidence"].as_array().unwrap().len() >= 3), "{:#}", judged.report);
    assert!(judged.report["took_ms"].as_u64().unwrap() < 60_000, "{}", judged.report["took_ms"]);
    assert_eq!(fs::read_dir(play.path()).unwrap().count(), 0);
    let (markdown, junit) = (fs::read_to_string(markdown).unwrap(), fs::read_to_string(junit).unwrap());
    assert!(markdown.starts_with("# Effectgate certify: ready\n"), "{markdown}");
    assert!(markdown.contains("| `crash` | pass |"), "{markdown}");
    let suite = roxmltree::Document::parse(&junit).unwrap();
    let count = |name: &str| suite.root_element().attribute(name).unwrap().to_owned();
    assert_eq!((count("tests"), count("failures"), count("errors")), ("17".into(), "0".into(), "0".into()));
}

#[test]
fn told_to_a_pipe_it_is_plain_text_a_line_for_each_item() {
    let told = said(&mut effectgate(&["certify", "--self", "--only", "one_lease,retention"]));

    assert_eq!(told.code, 0, "{} {}", told.out, told.err);
    assert!(!told.out.contains('\u{1b}'), "{}", told.out);
    assert!(told.out.contains("pass  one_lease"), "{}", told.out);
    assert!(told.out.contains("ready: 2 of 2 items pass"), "{}", told.out);
}

#[test]
fn an_item_that_is_none_is_a_mistake_of_usage_that_names_the_items() {
    let refused = said(&mut effectgate(&["certify", "--self", "--only", "luck"]));

    assert_eq!(refused.code, 2, "{}", refused.err);
    assert!(refused.err.contains("one_lease"), "{}", refused.err);
}
