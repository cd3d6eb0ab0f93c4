//! A command on a page: a folded form with what it will do in one sentence, a reason, and the mark of what was shown.
//! It comes back open, with what was typed, where something stood in the way.

use effectgate_core::approval::REASON_CHARS_MAX;
use serde::{Deserialize, Serialize};

use super::{posted::Posted, visit::Visit};

/// The form as it is sent.
#[derive(Deserialize, Serialize, Default)]
#[serde(default)]
pub(super) struct ActForm {
    csrf: String,
    pub(super) reason: String,
    /// The mark of what the page showed.
    pub(super) shown: i64,
    /// Which of several forms to one path.
    pub(super) verdict: String,
    pub(super) external_id: String,
}

impl Posted for ActForm {
    fn csrf(&self) -> &str {
        &self.csrf
    }
}

/// What stood in the way of a form, and what was typed into it.
pub(super) struct Refusal {
    /// The path it was posted to.
    pub(super) path: String,
    pub(super) typed: ActForm,
    pub(super) error: &'static str,
}

/// A command as the page shows it.
pub(super) struct Action {
    pub(super) path: String,
    /// Names it among its siblings: for ids, and the form's class.
    pub(super) name: &'static str,
    /// Unique on the page.
    pub(super) id: String,
    pub(super) title: &'static str,
    /// What it will do, in one sentence.
    pub(super) does: String,
    pub(super) button: &'static str,
    /// Takes something away, or cannot be taken back.
    pub(super) is_stop: bool,
    /// Asks for the provider's id too; what stands in the field.
    pub(super) external_id: Option<String>,
    pub(super) csrf: String,
    pub(super) shown: i64,
    pub(super) reason: String,
    pub(super) reason_chars_max: usize,
    pub(super) error: Option<&'static str>,
}

/// The words of a command.
pub(super) struct Words {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) does: String,
    pub(super) button: &'static str,
    pub(super) is_stop: bool,
}

impl Action {
    pub(super) fn new(visit: &Visit, path: String, n: usize, shown: i64, words: Words) -> Self {
        let Words { name, title, does, button, is_stop } = words;
        Self {
            csrf: visit.forms().token(&path),
            id: format!("{name}-{n}"),
            path,
            name,
            title,
            does,
            button,
            is_stop,
            external_id: None,
            shown,
            reason: String::new(),
            reason_chars_max: REASON_CHARS_MAX,
            error: None,
        }
    }

    /// Asks for the provider's id, with this to begin with.
    pub(super) fn with_external_id(mut self, id: String) -> Self {
        self.external_id = Some(id);
        self
    }

    /// Puts back what was typed, if it was typed here.
    pub(super) fn again(mut self, refusal: Option<&Refusal>) -> Self {
        let own = |r: &&Refusal| r.path == self.path && (r.typed.verdict.is_empty() || r.typed.verdict == self.name);
        if let Some(refusal) = refusal.filter(own) {
            self.reason.clone_from(&refusal.typed.reason);
            self.error = Some(refusal.error);
            if self.external_id.is_some() {
                self.external_id = Some(refusal.typed.external_id.clone());
            }
        }
        self
    }
}
