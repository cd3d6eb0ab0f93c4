//! `approve show`: what is asked, of whom, how it stands, and the effects as they would go out.

use serde_json::Value;

use super::Wanted;
use crate::{
    client::json_of,
    exit::Result,
    output::{Out, cell, printable},
};

pub(super) async fn show(wanted: &Wanted, out: Out) -> Result {
    let session = wanted.open().await?;
    let answer = session.api.send(http::Method::GET, &wanted.path(), &[], None).await;
    session.close().await;
    let answer = answer?;
    if out.json && (200..300).contains(&answer.status) {
        // As it came: read and written again, a payload's numbers would lose digits, and the file is for `--edit`.
        return out.bytes(&answer.body);
    }
    let shown = json_of(answer)?;
    if out.json { out.value(&shown) } else { lines(&shown).iter().try_for_each(|line| out.line(printable(line))) }
}

fn lines(shown: &Value) -> Vec<String> {
    let cell = |pointer: &str| cell(shown, pointer);
    let mut lines = vec![
        format!(
            "{}: {} until {}, {} approval(s), {} more wanted",
            cell("/id"),
            cell("/state"),
            cell("/expires_at"),
            cell("/approvals"),
            cell("/wanted")
        ),
        format!("asked: {}", cell("/audience")),
        format!("effects_hash: {}", cell("/effects_hash")),
    ];
    if shown.get("wanted_by_non_editor").and_then(Value::as_bool) == Some(true) {
        lines.push("the next approval must be by somebody who edited nothing".to_owned());
    }
    lines.extend(list(shown, "decisions").iter().map(decision));
    lines.extend(list(shown, "edits").iter().flat_map(edit));
    lines.extend(list(shown, "effects").iter().enumerate().map(effect));
    lines
}

fn list<'a>(shown: &'a Value, member: &str) -> &'a [Value] {
    shown.get(member).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn decision(one: &Value) -> String {
    let stale =
        if one.get("superseded").and_then(Value::as_bool) == Some(true) { " (superseded by an edit)" } else { "" };
    format!("{} {} {}{stale} {}", cell(one, "/at"), cell(one, "/subject"), cell(one, "/decision"), cell(one, "/reason"))
}

fn edit(one: &Value) -> Vec<String> {
    let place = |change: &Value| {
        let side = |name: &str| change.get(name).filter(|v| !v.is_null()).map_or("-".to_owned(), ToString::to_string);
        let (n, kind) = (cell(change, "/effect"), cell(change, "/kind"));
        format!("  effect {n} {} {kind}: {} -> {}", cell(change, "/pointer"), side("before"), side("after"))
    };
    let head = format!("{} {} edited:", cell(one, "/at"), cell(one, "/by"));
    std::iter::once(head).chain(list(one, "changes").iter().map(place)).collect()
}

fn effect((n, one): (usize, &Value)) -> String {
    let payload = one.get("payload").map(ToString::to_string).unwrap_or_default();
    let (kind, target, provider) = (cell(one, "/type"), cell(one, "/target"), cell(one, "/provider"));
    format!("effect {n}: {kind} to {target} by {provider}: {payload}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nothing_that_a_model_wrote_steers_the_terminal() {
        let shown = json!({"id": "apr_1", "state": "open", "wanted_by_non_editor": true,
            "effects": [{"type": "note", "target": "c\u{1b}[2J", "provider": "crm", "payload": {"text": "\u{202e}x"}}],
            "edits": [{"by": "user:bo", "changes": [{"effect": 0, "pointer": "/t\u{1b}", "kind": "changed", "before": 1}]}]});

        let text = lines(&shown).iter().map(|line| printable(line)).collect::<Vec<_>>().join("\n");

        assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text:?}");
        assert!(text.contains("somebody who edited nothing") && text.contains("changed: 1 -> -"), "{text}");
    }
}
