//! What no template may do.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

fn files(folder: &Path) -> Vec<PathBuf> {
    let found = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    found.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[test]
fn no_template_turns_escaping_off_or_brings_a_script() {
    let files = files(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/templates")));
    assert!(files.len() >= 5);
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap();
        for bad in [
            "|safe",
            "| safe",
            "escape(\"none\"",
            "<script",
            "<iframe",
            "<object",
            "style=",
            "javascript:",
            "http://",
            "https://",
            " onclick",
            " onload",
            " onerror",
            " onsubmit",
            "src=",
        ] {
            assert!(!text.contains(bad), "{} has {bad}", path.display());
        }
    }
}
