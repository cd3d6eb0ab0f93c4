//! Text from outside, made so that a reader sees all of it (HC-34): every character that turns the direction, shows
//! nothing or hides what follows becomes a mark that names it; a run of blank lines or blanks becomes one mark with its
//! count, so that the end of a text cannot be pushed out of sight. Nothing is cut here, and nothing escaped: the page
//! and the mail do that.
//!
//! What joins or separates letters where the script needs it (Persian's zero width non-joiner), and what makes one
//! picture of several emoji, is seen by its effect and stays as it is.

use std::fmt;

use unicode_properties::{EmojiStatus, GeneralCategoryGroup, UnicodeEmoji as _, UnicodeGeneralCategory as _};

/// A stretch of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// As it is.
    Text(String),
    /// Stands for characters that would not be seen.
    Mark(Mark),
}

/// What stands there instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// This many times a character that is not seen.
    Hidden(char, usize),
    /// This many blanks in a row.
    Blanks(usize),
    /// This many empty lines in a row: a mark on a line of its own.
    BlankLines(usize),
}

/// More empty lines than any letter has between its paragraphs.
const BLANK_LINES_SHOWN: usize = 3;
/// Deeper than code is indented; more blanks than this in a row hide what follows on a line that scrolls.
const BLANKS_SHOWN: usize = 40;

/// The text in pieces, in order. CRLF counts as one line end; no other character is lost.
#[must_use]
pub fn pieces(text: &str) -> Vec<Piece> {
    let text = text.replace("\r\n", "\n");
    let mut chars = text.chars().peekable();
    let (mut pieces, mut before) = (Vec::new(), None);
    while let Some(c) = chars.next() {
        let mut n = 1;
        while chars.next_if_eq(&c).is_some() {
            n += 1;
        }
        match mark(c, n, before, chars.peek().copied()) {
            Some(mark) => pieces.push(Piece::Mark(mark)),
            None => push(&mut pieces, c, n),
        }
        before = Some(c);
    }
    pieces
}

fn push(pieces: &mut Vec<Piece>, c: char, n: usize) {
    if !matches!(pieces.last(), Some(Piece::Text(_))) {
        pieces.push(Piece::Text(String::new()));
    }
    if let Some(Piece::Text(text)) = pieces.last_mut() {
        text.extend(std::iter::repeat_n(c, n));
    }
}

fn mark(c: char, n: usize, before: Option<char>, after: Option<char>) -> Option<Mark> {
    match c {
        // n line ends in a row are n - 1 empty lines.
        '\n' if n - 1 > BLANK_LINES_SHOWN => Some(Mark::BlankLines(n - 1)),
        ' ' | '\t' | '\u{a0}' | '\u{3000}' if n > BLANKS_SHOWN => Some(Mark::Blanks(n)),
        c if is_hidden(c) && !(n == 1 && shapes(c, before, after)) => Some(Mark::Hidden(c, n)),
        _ => None,
    }
}

/// The text for one who reads it as plain text: marks in square brackets. Ours are in English, as in the journal.
#[must_use]
pub fn marked(text: &str) -> String {
    marked_as(text, |mark| mark.to_string())
}

/// The text with each mark as `name` says it, in square brackets.
#[must_use]
pub fn marked_as(text: &str, name: impl Fn(Mark) -> String) -> String {
    let mut out = String::with_capacity(text.len());
    for piece in pieces(text) {
        match piece {
            Piece::Text(text) => out.push_str(&text),
            Piece::Mark(mark @ Mark::BlankLines(_)) => out.push_str(&format!("\n[{}]\n", name(mark))),
            Piece::Mark(mark) => out.push_str(&format!("[{}]", name(mark))),
        }
    }
    out
}

/// One line of a sentence of ours: what would not be seen, and every line end, becomes a plain sign.
#[must_use]
pub fn one_line(text: &str) -> String {
    let plain = |c: char| if c == '\n' || c == '\t' || is_hidden(c) { '\u{fffd}' } else { c };
    text.chars().map(plain).collect()
}

/// `U+202E`, `50 × U+200B`, `60 blanks`, `398 blank lines`.
impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hidden(c, 1) => write!(f, "U+{:04X}", u32::from(*c)),
            Self::Hidden(c, n) => write!(f, "{n} × U+{:04X}", u32::from(*c)),
            Self::Blanks(n) => write!(f, "{n} blanks"),
            Self::BlankLines(n) => write!(f, "{n} blank lines"),
        }
    }
}

/// Characters that a reader does not see, or that change how others are seen: controls, the default-ignorable ones of
/// Unicode (DerivedCoreProperties, version 16), separators and interlinear marks.
#[must_use]
pub fn is_hidden(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t')
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}

/// True if this one character changes the shape of its neighbours, as its script or an emoji wants it.
fn shapes(c: char, before: Option<char>, after: Option<char>) -> bool {
    let (Some(before), after) = (before, after) else { return false };
    match c {
        // RFC 5892 appendix A.1, narrower: between two letters of a script that joins, or after a sign that asks for it.
        '\u{200c}' => is_virama(before) || (is_joining(before) && after.is_some_and(is_joining)),
        '\u{200d}' => is_virama(before) || (is_picture(before) && after.is_some_and(is_pictograph)),
        // Emoji presentation, only where there is one to choose.
        '\u{fe0f}' => is_pictograph(before),
        _ => false,
    }
}

/// Letters of Arabic and Syriac, and the marks on them.
fn is_joining(c: char) -> bool {
    let is_block = matches!(c, '\u{600}'..='\u{6ff}' | '\u{700}'..='\u{77f}' | '\u{8a0}'..='\u{8ff}');
    is_block && matches!(c.general_category_group(), GeneralCategoryGroup::Letter | GeneralCategoryGroup::Mark)
}

/// The signs of the Indic scripts after which a joiner chooses the form (canonical combining class 9).
fn is_virama(c: char) -> bool {
    matches!(
        c,
        '\u{94d}'
            | '\u{9cd}'
            | '\u{a4d}'
            | '\u{acd}'
            | '\u{b4d}'
            | '\u{bcd}'
            | '\u{c4d}'
            | '\u{ccd}'
            | '\u{d4d}'
            | '\u{dca}'
    )
}

/// What may stand before a joiner in an emoji: a pictograph, its skin tone, its presentation.
fn is_picture(c: char) -> bool {
    c == '\u{fe0f}' || is_pictograph(c)
}

/// An emoji that is no digit, `#` or `*`.
fn is_pictograph(c: char) -> bool {
    c > '\u{a8}' && !matches!(c.emoji_status(), EmojiStatus::NonEmoji | EmojiStatus::NonEmojiButEmojiComponent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hc_34_hidden_characters_name_their_code_point() {
        assert_eq!(
            marked("a\u{202e}b\u{200b}\u{200b}\u{200b}c\u{e0041}\u{0}"),
            "a[U+202E]b[3 × U+200B]c[U+E0041][U+0000]"
        );
    }

    #[test]
    fn hc_34_four_hundred_blank_lines_are_one_mark() {
        let text = format!("top{}amount: 9999.00", "\r\n".repeat(401));
        assert_eq!(marked(&text), "top\n[400 blank lines]\namount: 9999.00");
        assert_eq!(marked(&format!("a{}b", " ".repeat(60))), "a[60 blanks]b");
    }

    #[test]
    fn paragraphs_and_indents_stay_as_they_are() {
        let text = "Dear Anna,\n\n    thank you.\n\n\nYours\t";
        assert_eq!(marked(text), text);
    }

    #[test]
    fn what_a_script_or_an_emoji_needs_stays_as_it_is() {
        for text in [
            "می\u{200c}شود",
            "👩\u{200d}👩\u{200d}👧",
            "❤\u{fe0f}",
            "👩🏽\u{200d}🚀",
            "🏳\u{fe0f}\u{200d}🌈",
            "क्\u{200d}ष",
        ] {
            assert_eq!(marked(text), text);
        }
    }

    #[test]
    fn hc_34_the_same_characters_elsewhere_are_marked() {
        for text in [
            "a\u{200c}b",
            "می\u{200c}\u{200c}شود",
            "a\u{200d}b",
            "👩\u{200d}b",
            "a\u{fe0f}",
            "1\u{fe0f}",
            "\u{200c}ش",
            "ش\u{200c}",
            "ش\u{200d}ش",
        ] {
            assert!(marked(text).contains("U+"), "{}", text.escape_unicode());
            assert!(!marked(text).chars().any(is_hidden), "{}", text.escape_unicode());
        }
    }

    #[test]
    fn one_line_has_no_line_end() {
        assert_eq!(one_line("a\r\nb\u{202e}\tc"), "a\u{fffd}\u{fffd}b\u{fffd}\u{fffd}c");
    }
}
