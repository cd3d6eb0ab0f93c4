//! The demo's counts, as a program reads them.

use crate::support::{effectgate, said};

#[test]
fn the_demo_counts_three_effects_without_the_gate_and_one_with_it() {
    let told = said(&mut effectgate(&["demo", "--json"]));

    assert_eq!(told.code, 0, "{} {}", told.out, told.err);
    let counts = told.json();
    assert_eq!((&counts["without_gate"]["deliveries"], &counts["without_gate"]["effects"]), (&2.into(), &3.into()));
    assert_eq!((&counts["with_gate"]["deliveries"], &counts["with_gate"]["effects"]), (&2.into(), &1.into()));
    assert_eq!(counts["approval"]["effects_after_opening"], 0);
    assert_eq!(counts["approval"]["effects"], 1);
    assert_eq!((&counts["crash"]["effects"], &counts["crash"]["resent"]), (&1.into(), &0.into()));
    assert!(["unknown", "review"].contains(&counts["crash"]["state_after_crash"].as_str().unwrap()));
    assert_eq!(counts["switch"]["effects_while_off"], 0);
    assert_eq!(counts["switch"]["effects_after_on"], 1);
    let kinds: Vec<_> = counts["timeline"].as_array().unwrap().iter().filter_map(|m| m["kind"].as_str()).collect();
    assert_eq!(kinds.first(), Some(&"reserved"));
    assert!(kinds.contains(&"attempt_lost") && kinds.contains(&"effect_resolved"), "{kinds:?}");
}

#[test]
fn the_demo_told_to_a_pipe_is_plain_text() {
    let told = said(&mut effectgate(&["demo"]));

    assert_eq!(told.code, 0, "{} {}", told.out, told.err);
    assert!(!told.out.contains('\u{1b}'), "{}", told.out);
    assert!(told.out.contains("notes in the CRM: 3") && told.out.contains("notes in the CRM: 1"), "{}", told.out);
}
