//! Text that came from outside, shown as text (HC-34): escaped by the template, with every character that turns the
//! direction, shows nothing or hides what follows made a visible mark that names the code point. Which ones, core says.
//!
//! What is shown is complete: nothing is cut here. A run of blank lines or blanks becomes one mark with its count, so
//! that the end of a text cannot be pushed out of sight.

use askama::Template;
use effectgate_core::visible;
pub(crate) use effectgate_core::visible::one_line;
use effectgate_lang::{Msg, Value};

use super::tongue::Tongue;

/// A text in pieces. Its template escapes every piece, so the whole is safe to put into a page.
#[derive(Debug, Clone, PartialEq, Eq, Template)]
#[template(path = "shown.html")]
pub(crate) struct Shown {
    pieces: Vec<Piece>,
}

impl askama::filters::HtmlSafe for Shown {}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    Mark(Mark),
}

/// What stands for characters that would not be seen.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Mark {
    /// `U+202E`, `50 × U+200B`, `398 blank lines`.
    label: String,
    /// For the pointer and the screen reader.
    name: String,
    /// A mark that stands on a line of its own.
    is_gap: bool,
}

/// A longer text with its size and whether it needs a frame that scrolls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TextBlock {
    pub(crate) shown: Shown,
    /// `1,234 characters, 42 lines`.
    pub(crate) size: String,
    pub(crate) scrolls: bool,
}

/// About what a phone shows at once beside the buttons.
const LINES_IN_FRAME: usize = 16;
const CHARS_IN_FRAME: usize = 900;

impl TextBlock {
    pub(crate) fn new(text: &str) -> Self {
        let (chars, lines) = (text.chars().count(), text.lines().count().max(1));
        let size = format!("{} characters, {} {}", grouped(chars), grouped(lines), plural(lines, "line", "lines"));
        Self { shown: Shown::new(text), size, scrolls: lines > LINES_IN_FRAME || chars > CHARS_IN_FRAME }
    }

    /// With its size in the reader's language.
    pub(crate) fn of(text: &str, tongue: &Tongue) -> Self {
        let number = |n: usize| Value::Number(i64::try_from(n).unwrap_or(i64::MAX));
        let (chars, lines) = (number(text.chars().count()), number(text.lines().count().max(1)));
        let size = effectgate_lang::say(tongue.language, Msg::CardSize, &[("characters", chars), ("lines", lines)]);
        Self { size, ..Self::new(text) }
    }
}

impl Shown {
    pub(crate) fn new(text: &str) -> Self {
        let piece = |piece| match piece {
            visible::Piece::Text(text) => Piece::Text(text),
            visible::Piece::Mark(mark) => Piece::Mark(Mark::new(mark)),
        };
        Self { pieces: visible::pieces(text).into_iter().map(piece).collect() }
    }
}

impl Mark {
    fn new(mark: visible::Mark) -> Self {
        let (name, label) = match mark {
            visible::Mark::Hidden(c, 1) => (name(c).to_owned(), mark.to_string()),
            visible::Mark::Hidden(c, n) => (name(c).to_owned(), format!("{} × U+{:04X}", grouped(n), u32::from(c))),
            visible::Mark::Blanks(n) => (format!("{n} blanks in a row"), format!("{} blanks", grouped(n))),
            visible::Mark::BlankLines(n) => {
                let label = format!("{} blank lines", grouped(n));
                (label.clone(), label)
            }
        };
        Self { label, name, is_gap: matches!(mark, visible::Mark::BlankLines(_)) }
    }
}

fn name(c: char) -> &'static str {
    match c {
        '\u{200b}' => "zero width space",
        '\u{200c}' => "zero width non-joiner",
        '\u{200d}' => "zero width joiner",
        '\u{200e}' | '\u{200f}' | '\u{61c}' => "direction mark",
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => "changes the direction of the text",
        '\u{feff}' | '\u{2060}' => "zero width no-break space",
        '\u{ad}' => "soft hyphen",
        '\u{fe00}'..='\u{fe0f}' => "variation selector",
        '\u{e0000}'..='\u{e0fff}' => "invisible tag character",
        '\u{2028}' | '\u{2029}' => "line separator",
        c if c.is_control() => "control character",
        _ => "invisible character",
    }
}

/// `1234567` as `1,234,567`.
pub(crate) fn grouped(n: usize) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

pub(crate) fn plural<'a>(n: usize, one: &'a str, many: &'a str) -> &'a str {
    if n == 1 { one } else { many }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn html(text: &str) -> String {
        Shown::new(text).render().expect("rendering into a string")
    }

    #[test]
    fn hc_34_markup_is_text() {
        assert_eq!(html("<img src=x>&\"'"), "&#60;img src=x&#62;&#38;&#34;&#39;");
    }

    #[test]
    fn hc_34_hidden_characters_name_their_code_point() {
        let text = html("a\u{202e}b\u{200b}\u{200b}\u{200b}c\u{e0041}\u{0}");

        for mark in ["U+202E", "3 × U+200B", "U+E0041", "U+0000"] {
            assert!(text.contains(mark), "{mark} in {text}");
        }
        assert!(!text.contains('\u{202e}') && !text.contains('\u{200b}'));
    }

    #[test]
    fn hc_34_four_hundred_blank_lines_are_one_mark() {
        let text = html(&format!("top{}amount: 9999.00", "\n".repeat(401)));

        assert!(text.contains("400 blank lines"), "{text}");
        assert!(text.matches('\n').count() < 5, "{text}");
        assert!(text.ends_with("amount: 9999.00"));
    }

    #[test]
    fn paragraphs_and_indents_stay_as_they_are() {
        let text = "Dear Anna,\r\n\r\n    thank you.\n\n\nYours";
        assert_eq!(html(text), text.replace('\r', ""));
    }

    #[test]
    fn numbers_are_grouped_by_thousands() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }
}
