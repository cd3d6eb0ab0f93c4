//! A bounded preview of a text from outside: what would not be seen is marked first, then the text is cut between two
//! grapheme clusters, so that no letter loses its accent and no emoji or flag is cut in two. Who shows it says that it
//! was cut.

use effectgate_core::visible::{Piece, pieces};
use unicode_segmentation::UnicodeSegmentation as _;

/// How much of a text is shown.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bound {
    /// What a reader counts as characters; a mark counts as one.
    pub(super) graphemes: usize,
    pub(super) lines: usize,
}

/// The beginning of a text, and whether there is more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Preview {
    pub(super) pieces: Vec<Piece>,
    pub(super) is_cut: bool,
}

/// Code points of one cluster. Emoji families have about ten, Unicode's stream-safe form (UAX 15) allows 31 marks on a
/// letter; a cluster beyond that is made to be a nuisance, and the preview ends before it.
const CLUSTER_CHARS_MAX: usize = 32;

impl Preview {
    pub(super) fn new(text: &str, bound: Bound) -> Self {
        let mut cutter = Cutter { left: bound, shown: Vec::new() };
        let is_cut = !pieces(text).into_iter().all(|piece| cutter.take(piece));
        Self { pieces: cutter.shown, is_cut }
    }
}

/// A text of ours, as it is.
pub(super) fn whole(text: &str) -> Preview {
    Preview { pieces: vec![Piece::Text(text.to_owned())], is_cut: false }
}

struct Cutter {
    left: Bound,
    shown: Vec<Piece>,
}

impl Cutter {
    /// False where the preview ends within or before this piece.
    fn take(&mut self, piece: Piece) -> bool {
        match piece {
            Piece::Mark(_) if self.left.graphemes == 0 => false,
            Piece::Mark(mark) => {
                self.left.graphemes -= 1;
                self.shown.push(Piece::Mark(mark));
                true
            }
            Piece::Text(text) => {
                let fits = self.fitting(&text);
                if fits > 0 {
                    self.shown.push(Piece::Text(text[..fits].to_owned()));
                }
                fits == text.len()
            }
        }
    }

    /// Bytes of the text that are still shown: the end of a cluster.
    fn fitting(&mut self, text: &str) -> usize {
        for (at, cluster) in text.grapheme_indices(true) {
            let is_line_end = cluster == "\n";
            let too_many_lines = is_line_end && self.left.lines <= 1;
            if self.left.graphemes == 0 || too_many_lines || cluster.chars().count() > CLUSTER_CHARS_MAX {
                return at;
            }
            self.left.graphemes -= 1;
            self.left.lines -= usize::from(is_line_end);
        }
        text.len()
    }
}

#[cfg(test)]
mod tests {
    use effectgate_core::visible::marked;

    use super::*;

    /// "Big List of Naughty Strings" (MIT), unchanged.
    const NAUGHTY: &str = include_str!("../../../core/tests/data/naughty-strings/blns.json");

    const NASTY: [&str; 12] = [
        "👩\u{200d}👩\u{200d}👧\u{200d}👦 family",
        "🇸🇪🇩🇪🇷🇺🇮🇷",
        "👍🏽👍🏿",
        "e\u{301}a\u{308}o\u{302}\u{323}",
        "한국어 \u{1112}\u{1161}\u{11ab}",
        "می\u{200c}شود و می\u{200c}رود",
        "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
        "क्षत्रिय नमस्ते",
        "❤\u{fe0f}\u{200d}🔥 1\u{fe0f}\u{20e3}",
        "𝒳𝒴𝒵 𠜎𠜱",
        "a\u{202e}b\u{200b}\u{200b}c",
        "กำ ກຳ",
    ];

    fn texts() -> Vec<String> {
        let naughty: Vec<String> = serde_json::from_str(NAUGHTY).unwrap();
        assert!(naughty.len() > 500);
        naughty.into_iter().chain(NASTY.map(str::to_owned)).collect()
    }

    fn plain(preview: &Preview) -> String {
        let text = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Mark(mark) => format!("[{mark}]"),
        };
        preview.pieces.iter().map(text).collect()
    }

    fn cut(text: &str, graphemes: usize) -> Preview {
        Preview::new(text, Bound { graphemes, lines: usize::MAX })
    }

    /// Every place where a text may be cut: the clusters' ends of its stretches.
    fn whole_clusters(text: &str) -> Vec<String> {
        let mut ends = vec![String::new()];
        let mut so_far = String::new();
        for piece in pieces(text) {
            match piece {
                Piece::Text(text) => {
                    for cluster in text.graphemes(true) {
                        so_far.push_str(cluster);
                        ends.push(so_far.clone());
                    }
                }
                Piece::Mark(mark) => {
                    so_far.push_str(&format!("[{mark}]"));
                    ends.push(so_far.clone());
                }
            }
        }
        ends
    }

    #[test]
    fn a_cut_at_every_place_of_every_nasty_text_falls_between_two_clusters() {
        for text in texts() {
            let ends = whole_clusters(&text);
            for (n, end) in ends.iter().enumerate() {
                let preview = cut(&text, n);
                assert!(
                    plain(&preview) == *end || plain(&preview).len() < end.len() && preview.is_cut,
                    "{n} of {}",
                    text.escape_unicode()
                );
                assert_eq!(
                    preview.is_cut,
                    plain(&preview) != *ends.last().unwrap(),
                    "{n} of {}",
                    text.escape_unicode()
                );
                assert!(ends.contains(&plain(&preview)));
            }
        }
    }

    #[test]
    fn a_family_a_flag_and_an_accent_are_whole_or_not_there() {
        assert_eq!(plain(&cut("👩\u{200d}👩\u{200d}👧x", 1)), "👩\u{200d}👩\u{200d}👧");
        assert_eq!(plain(&cut("🇸🇪🇩🇪", 1)), "🇸🇪");
        assert_eq!(plain(&cut("e\u{301}e\u{301}", 1)), "e\u{301}");
        assert_eq!(plain(&cut("👍🏽x", 1)), "👍🏽");
    }

    #[test]
    fn a_text_that_fits_is_whole_and_not_cut() {
        assert_eq!(cut("abc", 3), Preview { pieces: vec![Piece::Text("abc".into())], is_cut: false });
        assert!(cut("abcd", 3).is_cut && cut("a", 0).is_cut && !cut("", 0).is_cut);
    }

    #[test]
    fn lines_are_counted_too() {
        let preview = Preview::new("one\ntwo\nthree", Bound { graphemes: 100, lines: 2 });
        assert_eq!((plain(&preview).as_str(), preview.is_cut), ("one\ntwo", true));
    }

    #[test]
    fn a_letter_with_a_thousand_marks_is_not_shown() {
        let preview = cut(&format!("ab{}", "\u{301}".repeat(1_000)), 10);
        assert_eq!((plain(&preview).as_str(), preview.is_cut), ("a", true));
    }

    #[test]
    fn hc_34_four_hundred_blank_lines_do_not_push_the_end_out_of_the_preview() {
        let text = format!("top{}amount: 9999.00", "\n".repeat(401));
        let preview = Preview::new(&text, Bound { graphemes: 100, lines: 5 });
        assert!(!preview.is_cut && plain(&preview).ends_with("amount: 9999.00"), "{preview:?}");
        assert!(marked(&text).contains("400 blank lines"));
    }
}
