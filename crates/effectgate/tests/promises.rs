//! Prose and tests held together: every test that `docs/guarantees.md` names exists, and every promise names one.
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
        for test in tests {
            assert!(
                code.contains(&format!("fn {test}")) || code.contains(&format!("{test},")),
                "no test is called {test}"
            );
        }
    }
}
