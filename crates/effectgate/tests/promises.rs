//! Prose and tests held together: every test that `docs/guarantees.md` and the other pages name exists, every promise
//! names one, and every item of the security list has a standing.
#![allow(clippy::unwrap_used)]

use std::{
    fs,
    path::{Path, PathBuf},
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn sources(folder: &Path, all: &mut String) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("target") {
            sources(&path, all);
        } else if path.extension().is_some_and(|e| e == "rs") {
            all.push_str(&fs::read_to_string(&path).unwrap());
        }
    }
}

/// Words in backticks that look like the name of a test: long, lower case, with underscores.
fn named(text: &str) -> Vec<&str> {
    let looks_like_one = |word: &&str| {
        word.len() > 20
            && word.contains('_')
            && word.chars().all(|c| c.is_ascii_lowercase() || c == '_' || c.is_ascii_digit())
    };
    text.split('`').skip(1).step_by(2).filter(looks_like_one).collect()
}

#[test]
fn every_promise_names_tests_and_every_named_test_exists() {
    let page = fs::read_to_string(root().join("docs/guarantees.md")).unwrap();
    let mut code = String::new();
    sources(&root().join("crates"), &mut code);

    let promises: Vec<&str> = page.split("\n## G").skip(1).collect();

    assert_eq!(promises.len(), 15);
    for promise in promises {
        let tests = named(promise);
        assert!(!tests.is_empty(), "no test is named for G{promise}");
        tests.into_iter().for_each(|test| exists(test, &code));
    }
}

fn exists(test: &str, code: &str) {
    assert!(code.contains(&format!("fn {test}")) || code.contains(&format!("{test},")), "no test is called {test}");
}

#[test]
fn every_test_that_another_page_names_exists() {
    let mut code = String::new();
    sources(&root().join("crates"), &mut code);
    for page in [
        "docs/security/asvs.md",
        "docs/security/threat-model.md",
        "docs/reference/roles.md",
        "docs/certify.md",
        "docs/relay.md",
        "docs/budgets.md",
        "docs/delivery.md",
        "docs/inbound.md",
        "docs/out.md",
        "docs/subscriptions.md",
        "docs/n8n/resume.md",
        "docs/providers.md",
        "docs/replay.md",
    ] {
        let text = fs::read_to_string(root().join(page)).unwrap();
        named(&text).into_iter().for_each(|test| exists(test, &code));
    }
}

/// The items of levels 1 and 2 of these chapters, by section: how many there are in version 5.0.0, those of level 3 left
/// out.
const ITEMS: [(&str, usize); 22] = [
    ("3.2", 2),
    ("3.3", 4),
    ("3.4", 6),
    ("3.5", 5),
    ("3.7", 2),
    ("6.1", 3),
    ("6.2", 12),
    ("6.3", 4),
    ("6.4", 4),
    ("6.5", 5),
    ("6.6", 3),
    ("6.8", 4),
    ("7.1", 3),
    ("7.2", 4),
    ("7.3", 2),
    ("7.4", 5),
    ("7.5", 2),
    ("7.6", 2),
    ("8.1", 2),
    ("8.2", 3),
    ("8.3", 1),
    ("8.4", 1),
];

#[test]
fn every_item_of_the_security_list_stands_there_once_with_its_standing() {
    let text = fs::read_to_string(root().join("docs/security/asvs.md")).unwrap();
    let rows: Vec<Vec<&str>> = text
        .lines()
        .filter(|line| line.starts_with("| "))
        .map(|line| line.split('|').map(str::trim).collect())
        .collect();
    let items: Vec<&Vec<&str>> = rows.iter().filter(|row| row[1].starts_with(|c: char| c.is_ascii_digit())).collect();
    for row in &items {
        assert_eq!(row.len(), 7, "{row:?}");
        assert!(["1", "2", "3"].contains(&row[2]), "{row:?}");
        assert!(["met", "partly", "not met", "n/a"].contains(&row[4]), "{row:?}");
        assert!(!row[3].is_empty() && row[5].len() > 1, "{row:?}");
        assert_eq!(items.iter().filter(|other| other[1] == row[1]).count(), 1, "{} stands there twice", row[1]);
    }
    for (section, wanted) in ITEMS {
        let is_of = |row: &&&Vec<&str>| row[1].rsplit_once('.').is_some_and(|(s, _)| s == section) && row[2] != "3";
        assert_eq!(items.iter().filter(is_of).count(), wanted, "items of {section}");
    }
}
