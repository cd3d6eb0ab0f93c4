//! What no template may do.
#![allow(clippy::unwrap_used)]

#[test]
fn no_template_turns_escaping_off_or_brings_a_script() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/templates");
    let files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
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
