//! Cutting text for messages. Outside values are never repeated at full length: a message must stay readable, and a
//! log must not become a copy of the payload.

/// Stands where text was cut off, so that a reader sees it.
const MARK: &str = "…";

/// Returns `text` unchanged if it has at most `bytes_max` bytes, else its beginning up to a char boundary and a mark.
pub(crate) fn cut(text: &str, bytes_max: usize) -> String {
    if text.len() <= bytes_max {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(bytes_max);
    format!("{}{MARK}", &text[..end])
}

#[cfg(test)]
mod tests {
    use super::cut;

    #[test]
    fn cutting_keeps_whole_characters_and_shows_the_cut() {
        assert_eq!(cut("short", 5), "short");
        assert_eq!(cut("aåå", 2), "a…");
        assert_eq!(cut("aåå", 3), "aå…");
    }
}
