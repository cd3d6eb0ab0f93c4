//! What an edit changed, as the card shows it: member by member, before and after, with long texts compared line by line.
//! Additions and removals are marked by a word and a sign, not by colour alone.

use effectgate_core::{
    approval::{Approval, Edit, EffectChange, changes},
    diff::ChangeKind,
    json,
    time::Timestamp,
};
use effectgate_lang::Msg;

use super::{
    effect::plain,
    text::{Shown, TextBlock},
    time::When,
    tongue::Tongue,
};

/// One person's edit.
pub(crate) struct EditShown {
    pub(crate) by: Shown,
    pub(crate) at: When,
    pub(crate) changes: Vec<ChangeShown>,
}

/// One member that differs.
pub(crate) struct ChangeShown {
    /// The effect's number on the card.
    pub(crate) effect: usize,
    pub(crate) pointer: Shown,
    pub(crate) kind: String,
    pub(crate) before: Option<TextBlock>,
    pub(crate) after: Option<TextBlock>,
    /// Instead of before and after, for texts of several lines.
    pub(crate) lines: Vec<LineShown>,
}

pub(crate) struct LineShown {
    /// `+`, `−` or a blank.
    pub(crate) sign: &'static str,
    /// For those who do not see the sign.
    pub(crate) word: String,
    /// `added`, `removed` or `same`: the style.
    pub(crate) style: &'static str,
    pub(crate) text: Shown,
}

impl EditShown {
    pub(crate) fn new(approval: &Approval, edit: &Edit, now: Timestamp, tongue: &Tongue) -> Self {
        Self {
            by: Shown::new(approval.known_as(&edit.by).as_str()),
            at: tongue.when(edit.at, now),
            changes: shown(&changes(&edit.before, &edit.after), tongue),
        }
    }
}

pub(crate) fn shown(changes: &[EffectChange], tongue: &Tongue) -> Vec<ChangeShown> {
    changes.iter().map(|change| change_shown(change, tongue)).collect()
}

fn change_shown(EffectChange { effect, change }: &EffectChange, tongue: &Tongue) -> ChangeShown {
    let kind = match change.kind {
        ChangeKind::Added => Msg::ChangeAdded,
        ChangeKind::Removed => Msg::ChangeRemoved,
        ChangeKind::Changed => Msg::ChangeChanged,
    };
    let (before, after) = (change.before.as_deref().map(value), change.after.as_deref().map(value));
    let lines = match (&before, &after) {
        (Some(before), Some(after)) if before.contains('\n') || after.contains('\n') => compared(before, after, tongue),
        _ => Vec::new(),
    };
    let block = |text: Option<String>| text.filter(|_| lines.is_empty()).map(|text| TextBlock::of(&text, tongue));
    let (before, after) = (block(before), block(after));
    ChangeShown {
        effect: effect + 1,
        pointer: Shown::new(if change.pointer.is_empty() { "/" } else { &change.pointer }),
        kind: tongue.say(kind),
        before,
        after,
        lines,
    }
}

/// A JSON text as a reader reads it.
fn value(text: &str) -> String {
    json::parse(text.as_bytes()).map_or_else(|_| text.to_owned(), |json| plain(&json))
}

fn compared(before: &str, after: &str, tongue: &Tongue) -> Vec<LineShown> {
    let line = |(side, text): (Side, &str)| {
        let (sign, style, word) = match side {
            Side::Both => (" ", "same", String::new()),
            Side::Before => ("−", "removed", tongue.say(Msg::ChangeRemoved)),
            Side::After => ("+", "added", tongue.say(Msg::ChangeAdded)),
        };
        LineShown { sign, word, style, text: Shown::new(text) }
    };
    lines(before, after).into_iter().map(line).collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Before,
    Both,
    After,
}

/// Comparing takes the product of both lengths; 400 lines a side are 160,000 steps. What is longer is shown whole, old
/// and then new.
const LINES_MAX: usize = 400;

/// Both texts line by line: what was taken out, what stayed, what was put in. A longest common subsequence.
fn lines<'a>(before: &'a str, after: &'a str) -> Vec<(Side, &'a str)> {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.split('\n').collect(), after.split('\n').collect());
    if old.len() > LINES_MAX || new.len() > LINES_MAX {
        let all = old.into_iter().map(|line| (Side::Before, line));
        return all.chain(new.into_iter().map(|line| (Side::After, line))).collect();
    }
    let common = common(&old, &new);
    let (mut i, mut j, mut found) = (0, 0, Vec::new());
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            found.push((Side::Both, old[i]));
            (i, j) = (i + 1, j + 1);
        } else if j == new.len() || (i < old.len() && common[i + 1][j] >= common[i][j + 1]) {
            found.push((Side::Before, old[i]));
            i += 1;
        } else {
            found.push((Side::After, new[j]));
            j += 1;
        }
    }
    found
}

/// How many lines the rests from `i` and `j` have in common.
fn common(old: &[&str], new: &[&str]) -> Vec<Vec<u16>> {
    let mut table = vec![vec![0_u16; new.len() + 1]; old.len() + 1];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            table[i][j] = if old[i] == new[j] { table[i + 1][j + 1] + 1 } else { table[i + 1][j].max(table[i][j + 1]) };
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_stayed_are_told_from_those_that_came_and_went() {
        let found = lines("Dear Anna,\n\n42 EUR\nYours", "Dear Anna,\n\n40 EUR\nSorry\nYours");

        let signs: Vec<Side> = found.iter().map(|(side, _)| *side).collect();
        assert_eq!(signs, [Side::Both, Side::Both, Side::Before, Side::After, Side::After, Side::Both]);
    }

    #[test]
    fn a_text_without_an_end_is_shown_whole_and_costs_no_product() {
        let long = "x\n".repeat(100_000);
        assert_eq!(lines(&long, "y").len(), 100_002);
    }

    #[test]
    fn a_number_keeps_every_digit_and_a_text_loses_its_quotes() {
        assert_eq!(value("12345678901234567890.10"), "12345678901234567890.10");
        assert_eq!(value(r#""a\nb""#), "a\nb");
    }
}
