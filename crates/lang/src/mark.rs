//! Marks for what would not be seen, in words: code points are the same everywhere, counts are said in the language.

use effectgate_core::visible::Mark;

use crate::{Language, Msg, Value, say};

/// `U+202E`, `50 × U+200B`, `398 blank lines`.
#[must_use]
pub fn mark(mark: Mark, language: Language) -> String {
    let counted = |msg, n: usize| say(language, msg, &[("n", Value::Number(i64::try_from(n).unwrap_or(i64::MAX)))]);
    match mark {
        Mark::Hidden(..) => mark.to_string(),
        Mark::Blanks(n) => counted(Msg::MarkBlanks, n),
        Mark::BlankLines(n) => counted(Msg::MarkBlankLines, n),
    }
}
