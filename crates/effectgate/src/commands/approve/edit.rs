//! The file behind `--edit`: the effects as they are to be, in the form in which `approve show --json` prints them.
//! Payloads are carried as text: a number keeps every digit.

use std::{fs, io::Read as _, path::Path};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::exit::{Failure, Result};

/// More than any server takes as a body by default.
const FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// The effects to send, and the hash under which they were shown, where the file says it.
#[derive(Debug, Deserialize)]
pub(super) struct Edit {
    pub(super) effects: Vec<Effect>,
    pub(super) effects_hash: Option<String>,
}

/// One effect. What else the server showed of it (provider, impact, gate) is not for sending back.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Effect {
    #[serde(rename = "type")]
    effect_type: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
    payload: Box<RawValue>,
}

impl Edit {
    /// Reads the file; `-` is standard input. A list of effects, or an object that has one in `effects`.
    ///
    /// # Errors
    /// Unreadable, too large, or of another form.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let failed = |why: String| Failure::usage(format!("{}: {why}", path.display()));
        let text = text_of(path).map_err(|e| failed(e.to_string()))?;
        Self::parse(&text).map_err(|e| failed(format!("not the effects of an approval: {e}")))
    }

    fn parse(text: &str) -> serde_json::Result<Self> {
        if text.trim_start().starts_with('[') {
            return Ok(Self { effects: serde_json::from_str(text)?, effects_hash: None });
        }
        serde_json::from_str(text)
    }
}

fn text_of(path: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    if path == Path::new("-") {
        std::io::stdin().take(FILE_BYTES_MAX).read_to_string(&mut text)?;
    } else {
        fs::File::open(path)?.take(FILE_BYTES_MAX).read_to_string(&mut text)?;
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_shown_is_read_back_with_every_digit() {
        let shown = r#"{"id":"apr_1","effects_hash":"sha256:00","effects":[{"type":"refund","target":"c-1","provider":"crm",
            "payload":{"amount":9007199254740993.10}}],"run":{}}"#;

        let edit = Edit::parse(shown).unwrap();

        let sent = serde_json::to_string(&edit.effects).unwrap();
        assert_eq!(sent, r#"[{"type":"refund","target":"c-1","payload":{"amount":9007199254740993.10}}]"#);
        assert_eq!(edit.effects_hash.as_deref(), Some("sha256:00"));
    }

    #[test]
    fn a_list_of_effects_is_enough_and_anything_else_is_refused() {
        assert_eq!(Edit::parse(r#" [{"type":"note","payload":{}}]"#).unwrap().effects.len(), 1);
        for text in ["", "{}", "7", r#"[{"payload":{}}]"#, r#"{"effects":{}}"#] {
            assert!(Edit::parse(text).is_err(), "{text}");
        }
    }
}
