//! A message as plain text: the sentence, the link alone on its line, then what it is about. Every line of a text from
//! outside begins with `> `, so that none of it can pass for a line of ours.

use std::fmt::Write as _;

use effectgate_lang::{Msg, say};

use super::content::{Content, EffectPart, Fact, plain_pieces};

pub(super) fn text(content: &Content) -> String {
    let mut out = format!("{}\n", content.lead);
    if let Some(link) = &content.link {
        let _ = write!(out, "\n{link}\n");
    }
    if !content.facts.is_empty() {
        out.push('\n');
    }
    content.facts.iter().for_each(|fact| named(&mut out, fact, content));
    content.effects.iter().for_each(|effect| one(&mut out, effect, content));
    if let Some(line) = &content.more {
        let _ = write!(out, "\n{line}\n");
    }
    if !content.foot.is_empty() {
        out.push_str("\n-- \n");
    }
    content.foot.iter().for_each(|line| out.extend([line.as_str(), "\n"]));
    out
}

fn one(out: &mut String, effect: &EffectPart, content: &Content) {
    let _ = write!(out, "\n{}", effect.title);
    match &effect.warning {
        Some(warning) => {
            let _ = writeln!(out, " ({warning})");
        }
        None => out.push('\n'),
    }
    effect.members.iter().for_each(|member| quoted(out, member, content));
}

/// A fact of ours: its name, its value on the same line.
fn named(out: &mut String, fact: &Fact, content: &Content) {
    let value = shown(fact, content).replace('\n', " ");
    let _ = writeln!(out, "{}: {value}", fact.name);
}

/// A member of a payload, line by line as a quotation.
fn quoted(out: &mut String, fact: &Fact, content: &Content) {
    let value = shown(fact, content);
    let is_block = value.contains('\n');
    let head = if fact.name.is_empty() { String::new() } else { format!("{}:", fact.name) };
    match (head.is_empty(), is_block) {
        (true, _) => {}
        (false, true) => {
            let _ = writeln!(out, "> {head}");
        }
        (false, false) => {
            let _ = writeln!(out, "> {head} {value}");
            return;
        }
    }
    value.split('\n').for_each(|line| {
        let _ = writeln!(out, ">   {line}");
    });
}

/// The value, with the mark where it was cut.
pub(super) fn shown(fact: &Fact, content: &Content) -> String {
    let value = plain_pieces(&fact.value.pieces, content.language);
    if !fact.value.is_cut {
        return value;
    }
    let cut = say(content.language, Msg::MailCut, &[]);
    format!("{value} {cut}")
}
