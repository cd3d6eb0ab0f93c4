//! A message as a page of its own: no image, no script, no style sheet, nothing that is fetched when it is opened. Every
//! text is escaped; those from outside stand in elements that find their own direction.

use std::fmt::Write as _;

use effectgate_core::visible::Piece;
use effectgate_lang::{Language, Msg, mark, say};

use super::{
    content::{Content, EffectPart, Fact},
    preview::Preview,
};

/// Mail programs drop style sheets, so the few rules stand at the elements.
const BODY: &str = "font:16px/1.5 system-ui,sans-serif;max-width:40em;margin:0 auto;padding:16px";
const BUTTON: &str = "display:inline-block;padding:12px 20px;border:2px solid;border-radius:6px;font-weight:bold";
const QUOTE: &str = "margin:0 0 12px;padding:8px 12px;border:1px solid #888;border-radius:6px";
const VALUE: &str = "white-space:pre-wrap;overflow-wrap:anywhere;margin:0";

pub(super) fn page(content: &Content, subject: &str) -> String {
    let language = content.language;
    let mut out = format!(
        "<!doctype html>\n<html lang=\"{}\" dir=\"{}\">\n<head><meta charset=\"utf-8\"><title>{}</title></head>\n\
         <body style=\"{BODY}\">\n<p>{}</p>\n",
        language.tag(),
        language.dir(),
        escaped(subject),
        escaped(&content.lead)
    );
    if let Some(link) = &content.link {
        let (href, text) = (escaped(link), say(language, Msg::MailOpen, &[]));
        let _ = writeln!(out, "<p><a href=\"{href}\" style=\"{BUTTON}\">{}</a></p>", escaped(&text));
        let _ = writeln!(out, "<p dir=\"ltr\" style=\"overflow-wrap:anywhere\"><a href=\"{href}\">{href}</a></p>");
    }
    facts(&mut out, &content.facts, language);
    content.effects.iter().for_each(|effect| one(&mut out, effect, language));
    content.more.iter().chain(&content.foot).for_each(|line| {
        let _ = writeln!(out, "<p>{}</p>", escaped(line));
    });
    out.push_str("</body>\n</html>\n");
    out
}

fn one(out: &mut String, effect: &EffectPart, language: Language) {
    let _ = writeln!(out, "<h2 style=\"font-size:18px\">{}</h2>", escaped(&effect.title));
    if let Some(warning) = &effect.warning {
        let _ = writeln!(out, "<p><strong>{}</strong></p>", escaped(warning));
    }
    let _ = writeln!(out, "<div style=\"{QUOTE}\">");
    facts(out, &effect.members, language);
    out.push_str("</div>\n");
}

fn facts(out: &mut String, facts: &[Fact], language: Language) {
    for Fact { name, value } in facts {
        let name =
            if name.is_empty() { String::new() } else { format!("<strong><bdi>{}</bdi></strong>", escaped(name)) };
        let _ = writeln!(out, "{name}<p dir=\"auto\" style=\"{VALUE}\">{}</p>", shown(value, language));
    }
}

fn shown(preview: &Preview, language: Language) -> String {
    let piece = |piece: &Piece| match piece {
        Piece::Text(text) => escaped(text),
        Piece::Mark(named) => format!("<b dir=\"ltr\">[{}]</b>", escaped(&mark(*named, language))),
    };
    let mut out: String = preview.pieces.iter().map(piece).collect();
    if preview.is_cut {
        let _ = write!(out, " <b dir=\"{}\">{}</b>", language.dir(), escaped(&say(language, Msg::MailCut, &[])));
    }
    out
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}
