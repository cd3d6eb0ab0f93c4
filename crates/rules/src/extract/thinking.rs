//! Thinking parts of a model's text: `<think> … </think>` and its kin, also `[THINK] … [/THINK]`. They never count, so
//! where it is open how far one goes, it goes further: an unclosed one to the end of the text, nested ones to the last
//! end.

/// Names of the tags, in use with reasoning models and in prompts that ask for reasoning. Compared without case.
const NAMES: [&[u8]; 8] =
    [b"think", b"thinking", b"thought", b"thoughts", b"reasoning", b"reflection", b"scratchpad", b"analysis"];

/// A tag that opens or closes a thinking part.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tag {
    name: &'static [u8],
    pub(super) closes: bool,
    /// The byte after the tag; for an opening tag with attributes, the byte after its name.
    pub(super) end: usize,
}

/// Reads the tag that begins at `at`, if there is one.
pub(super) fn tag_at(bytes: &[u8], at: usize) -> Option<Tag> {
    let closer = if bytes[at] == b'<' { b'>' } else { b']' };
    let rest = &bytes[at + 1..];
    let closes = rest.first() == Some(&b'/');
    let rest = if closes { &rest[1..] } else { rest };
    let length = rest.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let name = NAMES.into_iter().find(|name| rest[..length].eq_ignore_ascii_case(name))?;
    let after = at + 1 + usize::from(closes) + length;
    let is_ended = bytes.get(after) == Some(&closer);
    // `[think about it]` is an aside, and `<think-tank>` another tag; `<think lang="en">` and a cut `<think` are tags.
    let has_attributes = closer == b'>' && bytes.get(after).is_none_or(u8::is_ascii_whitespace);
    (is_ended || has_attributes).then_some(Tag { name, closes, end: after + usize::from(is_ended) })
}

/// Returns the byte after the end of the thinking part that `open` begins; the text's end if it has none.
pub(super) fn end_of(bytes: &[u8], open: &Tag) -> usize {
    let mut depth = 1_usize;
    let mut at = open.end;
    while at < bytes.len() {
        let tag = if matches!(bytes[at], b'<' | b'[') { tag_at(bytes, at) } else { None };
        let Some(tag) = tag.filter(|tag| tag.name == open.name) else {
            at += 1;
            continue;
        };
        depth = if tag.closes { depth - 1 } else { depth + 1 };
        if depth == 0 {
            return tag.end;
        }
        at = tag.end;
    }
    bytes.len()
}
