//! The journal: what an auditor asks of one run, and whether the chain holds. Read through the API, and hashed here.

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::{
    evidence::{Done, Evidence},
    gate::OUTPUT_MARK,
    ground::{ADDRESS, Flow},
    stage::{Stage, word},
};

pub(super) async fn names(stage: &mut Stage<'_>, seen: &mut Evidence) -> Done {
    stage.far()?;
    let waiting = stage.waiting(Flow::Link, "card", seen).await?;
    let form = stage.form(&waiting.link, "approve").await?;
    stage.gate.submit(&form).await?;
    stage.until_effect(&waiting.run, &["completed"]).await?;
    let done = stage.far()?.ledger().into_iter().find(|e| e.path == waiting.path).map(|e| e.id).unwrap_or_default();

    let (text, entries) = stage.gate.journal(&waiting.run).await?;
    seen.note(format!("a run with a decision and one effect left {} entries", entries.len()));
    let fact = |kind: &str, pointer: &str| {
        let entry = entries.iter().find(|entry| entry["kind"] == kind);
        entry.map_or_else(|| "no such entry".to_owned(), |entry| word(entry, pointer))
    };
    let names = [
        ("the key (reserved)", fact("reserved", "/entry/facts/key"), stage.key("card")),
        ("the validation (proposed)", fact("proposed", "/entry/facts/validation"), "valid".to_owned()),
        ("the model (proposed)", fact("proposed", "/entry/facts/model/name"), "scripted".to_owned()),
        ("the decision (decided)", fact("decided", "/entry/facts/decision"), "approve".to_owned()),
        ("the provider's own id (attempt_ended)", fact("attempt_ended", "/entry/facts/external_id"), done),
    ];
    for (what, named, wanted) in &names {
        seen.word(&format!("the journal names {what}"), named, &[wanted]);
    }
    let approver = fact("decided", "/entry/actor");
    seen.check(approver.contains(ADDRESS), format!("the journal names the approver (decided): {approver}"));
    seen.check(!text.contains(OUTPUT_MARK), "the journal holds no text of the model's output");
    chained(seen, &text, &entries);
    let verified = stage.gate.get("/v1/journal/verify").await?.json();
    seen.check(verified["verified"] == true, format!("the gate's own verification: {}", verified["verified"]));
    Ok(())
}

/// Each entry's hash is SHA-256 over its own text, and each names the hash before it.
fn chained(seen: &mut Evidence, text: &str, entries: &[Value]) {
    let texts = raw_entries(text);
    let mut last: Option<String> = None;
    let mut good = 0;
    for (entry, raw) in entries.iter().zip(&texts) {
        let hash = hex::encode(Sha256::digest(raw.as_bytes()));
        let named = entry["entry"]["prev_hash"].as_str().map(bare);
        good += usize::from(bare(&word(entry, "/hash")) == hash && named == last);
        last = Some(hash);
    }
    let all = entries.len();
    seen.check(
        good == all && texts.len() == all,
        format!("entries whose hash, computed here, closes the chain: {good} of {all}"),
    );
}

/// The digits of a hash, with or without the name of its function.
fn bare(hash: &str) -> String {
    hash.rsplit(':').next().unwrap_or_default().to_owned()
}

/// The entries' own texts, byte for byte: what follows each `"entry":` up to the brace that closes it.
fn raw_entries(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("\"entry\":") {
        let begin = &rest[at + "\"entry\":".len()..];
        let end = closing(begin);
        found.push(&begin[..end]);
        rest = &begin[end..];
    }
    found
}

/// The length of the JSON object at the beginning of a text.
fn closing(text: &str) -> usize {
    let (mut depth, mut in_text, mut escaped) = (0_usize, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            b'{' if !in_text => depth += 1,
            b'}' if !in_text => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_an_entry_is_taken_as_it_stands() {
        let text = r#"{"entries":[{"seq":1,"entry":{"a":"}\"{","b":{"c":1}},"x":2},{"entry":{}}]}"#;

        assert_eq!(raw_entries(text), [r#"{"a":"}\"{","b":{"c":1}}"#, "{}"]);
    }
}
