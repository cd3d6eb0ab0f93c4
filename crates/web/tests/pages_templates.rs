//! What no template may do.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

fn files(folder: &Path) -> Vec<PathBuf> {
    let found = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    found.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[test]
fn no_template_turns_escaping_off_or_brings_a_script_of_its_own() {
    let files = files(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/templates")));
    assert!(files.len() >= 5);
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap();
        // The frame alone brings our one script, as a file.
        let own = "<script defer src=\"{{ frame.js }}\"></script>";
        let text = if path.ends_with("base.html") { text.replacen(own, "", 1) } else { text };
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

#[test]
fn our_one_script_is_small_a_file_of_its_own_and_makes_no_code_of_text() {
    let script = include_str!("../static/effectgate.js");

    assert!(script.lines().count() <= 150, "{} lines", script.lines().count());
    for bad in ["eval(", "new Function", "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "http"] {
        assert!(!script.contains(bad), "{bad}");
    }
}

#[test]
fn the_sheet_is_written_for_both_directions_of_reading() {
    let physical = ["margin-left", "margin-right", "padding-left", "padding-right", "border-left", "border-right"];
    let placed = [" left:", " right:", "text-align: left", "text-align: right", "float: left", "float: right"];
    for path in files(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/static/css"))) {
        let text = std::fs::read_to_string(&path).unwrap();
        for bad in physical.iter().chain(&placed) {
            assert!(!text.contains(bad), "{} has {bad}", path.display());
        }
    }
}
