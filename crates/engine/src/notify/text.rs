//! What people read in mail and chat: plain text, the link alone on its line, a bounded preview with a visible mark
//! where it was cut. Model text is quoted as text; nothing of it can make a header or a link of ours.

use std::fmt::Write as _;

use effectgate_core::{
    approval::Approval,
    ids::RunId,
    notice::{Alert, Urgency},
    run::Run,
};

use super::Message;

/// Characters of one effect's payload in a message. Enough to recognise it; the card shows all of it.
const PREVIEW_CHARS: usize = 600;
const CUT_MARK: &str = " […cut; the card shows all of it]";

pub(super) fn request(run: &Run, approval: &Approval, urgency: Urgency, link: &str, n: i64) -> Message {
    let word = match urgency {
        Urgency::First => "Decision wanted",
        Urgency::Reminder => "Reminder: decision wanted",
        Urgency::Escalation => "Escalated: decision wanted",
        Urgency::Edited => "Changed: decision wanted",
    };
    let mut text = format!("{word} before {}\n\n{link}\n\n", approval.expires_at);
    let _ = writeln!(text, "Flow: {}\nKey: {}", run.flow, plain(&run.key));
    for why in &approval.terms.why {
        let _ = writeln!(text, "Why you are asked: {why}");
    }
    for effect in &approval.proposed {
        let (kind, target) = (&effect.effect_type, plain(&effect.target));
        let _ = write!(text, "\n{kind} to {target}, by {}:\n{}\n", effect.provider, preview(&effect.payload));
    }
    text.push_str("\nOpening the link changes nothing. Only the buttons on the page decide.\n");
    let id = format!("{}-{n}", approval.id);
    Message { subject: format!("{word}: {} {}", run.flow, plain(&cut(&run.key, 80))), text, id }
}

pub(super) fn alert(run: RunId, alert: Alert, detail: &str, public_url: &str, n: i64) -> Message {
    let text =
        format!("{}: {}\n\nMore: effectgate explain {run}\nServer: {public_url}\n", alert.as_str(), plain(detail));
    Message { subject: format!("Effectgate alert: {}", alert.as_str()), text, id: format!("{run}-{n}") }
}

/// Cuts after a character, never within one, and says so.
fn preview(payload: &str) -> String {
    let clean = visible(payload);
    match clean.char_indices().nth(PREVIEW_CHARS) {
        Some((at, _)) => format!("{}{CUT_MARK}", &clean[..at]),
        None => clean,
    }
}

fn cut(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// One line of plain characters.
fn plain(text: &str) -> String {
    visible(text).replace(['\n', '\r'], " ")
}

/// Characters that turn the direction or show nothing become visible marks.
#[must_use]
pub fn visible(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{061c}' => {
                '\u{fffd}'
            }
            c if c.is_control() && c != '\n' && c != '\t' => '\u{fffd}',
            c => c,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preview_is_cut_between_characters_and_says_so() {
        let text = "é".repeat(PREVIEW_CHARS + 1);

        let shown = preview(&text);

        assert_eq!(shown.chars().filter(|c| *c == 'é').count(), PREVIEW_CHARS);
        assert!(shown.ends_with(CUT_MARK));
    }

    #[test]
    fn hc_34_characters_that_hide_or_turn_text_become_marks() {
        assert_eq!(visible("a\u{202e}b\u{200b}c\nd"), "a\u{fffd}b\u{fffd}c\nd");
    }
}
