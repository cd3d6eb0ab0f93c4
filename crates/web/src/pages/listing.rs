//! What the operators' lists share: addresses that keep the filters, the links between pages, states in words, and
//! moments in the person's zone.

use effectgate_core::time::Timestamp;
use effectgate_lang::{Language, Zone};
use http::StatusCode;

use super::visit::Visit;

/// Items on one page of a list.
pub(super) const PAGE: u32 = 50;

/// Links between the pages of a list: the newest (or first), and the next.
pub(super) struct Pager {
    pub(super) first: Option<String>,
    pub(super) next: Option<String>,
}

impl Pager {
    /// `query` holds the filters; the cursor is added.
    pub(super) fn new(path: &str, query: &[(&str, &str)], is_first: bool, next: Option<&str>) -> Self {
        let next = next.map(|cursor| {
            let all: Vec<(&str, &str)> = query.iter().copied().chain([("cursor", cursor)]).collect();
            address(path, &all)
        });
        Self { first: (!is_first).then(|| address(path, query)), next }
    }
}

/// What a search found, with the cursor of the next page; or the words that say why it is no search.
pub(super) type Found<L> = Result<(Vec<L>, Option<String>), &'static str>;

pub(super) const NO_SEARCH: &str = "This address is not one of a search.";

/// A search as its page shows it: what was found or what was wrong with it, and the ways on. A search that was wrong is
/// 400, with its fields as they were typed.
pub(super) struct Searched<L> {
    pub(super) status: StatusCode,
    pub(super) error: Option<&'static str>,
    pub(super) lines: Vec<L>,
    pub(super) pager: Pager,
    /// Something was filled in: finding nothing then means another thing.
    pub(super) is_search: bool,
}

impl<L> Searched<L> {
    /// `query` holds the filters as they stand in the address, `cursor` the place in the list.
    pub(super) fn new(path: &str, query: &[(&str, &str)], cursor: &str, found: Found<L>) -> Self {
        let (status, error, (lines, next)) = match found {
            Ok(found) => (StatusCode::OK, None, found),
            Err(error) => (StatusCode::BAD_REQUEST, Some(error), (Vec::new(), None)),
        };
        let pager = Pager::new(path, query, cursor.is_empty(), next.as_deref());
        Self { status, error, lines, pager, is_search: query.iter().any(|(_, value)| !value.is_empty()) }
    }
}

/// A field that was filled in.
pub(super) fn given(text: &str) -> Option<String> {
    Some(text.to_owned()).filter(|text| !text.is_empty())
}

/// A path with a query; what is empty is left out.
pub(super) fn address(path: &str, query: &[(&str, &str)]) -> String {
    let encoded =
        |text: &str| percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string();
    let given = query.iter().filter(|(_, value)| !value.is_empty());
    let pairs: Vec<String> = given.map(|(name, value)| format!("{name}={}", encoded(value))).collect();
    if pairs.is_empty() { path.to_owned() } else { format!("{path}?{}", pairs.join("&")) }
}

/// A choice in a list, and whether it is the one.
pub(super) struct Choice {
    pub(super) value: String,
    pub(super) text: String,
    pub(super) is_chosen: bool,
}

/// The choices of a select of our own words. One that came in the address and is not among them is kept.
pub(super) fn choices<'a>(all: impl IntoIterator<Item = &'a str>, chosen: &str) -> Vec<Choice> {
    choice_list(all, chosen, words)
}

/// The same for names out of the config, as they stand there. A flow that has left the config is kept.
pub(super) fn names<'a>(all: impl IntoIterator<Item = &'a str>, chosen: &str) -> Vec<Choice> {
    choice_list(all, chosen, super::text::one_line)
}

fn choice_list<'a>(all: impl IntoIterator<Item = &'a str>, chosen: &str, text: fn(&str) -> String) -> Vec<Choice> {
    let choice = |value: &str| Choice { value: value.into(), text: text(value), is_chosen: value == chosen };
    let mut list: Vec<Choice> = all.into_iter().map(choice).collect();
    if !chosen.is_empty() && !list.iter().any(|c| c.is_chosen) {
        list.push(choice(chosen));
    }
    list
}

/// A state in words, with the word itself for the style sheet.
pub(super) struct Tag {
    pub(super) word: &'static str,
    pub(super) text: String,
    pub(super) reason: Option<String>,
}

impl Tag {
    /// A reason that only repeats the state (`unknown`, `unknown`) says nothing.
    pub(super) fn new(word: &'static str, reason: Option<&str>) -> Self {
        Self { word, text: words(word), reason: reason.filter(|r| !r.is_empty() && *r != word).map(words) }
    }
}

/// `awaiting_human` as `awaiting human`. Only for words of ours.
pub(super) fn words(word: &str) -> String {
    super::text::one_line(&word.replace('_', " "))
}

/// A moment in the person's zone.
pub(super) struct Moment {
    pub(super) iso: String,
    /// `2026-10-25 02:30 Europe/Stockholm (UTC+02:00)`.
    pub(super) text: String,
    /// For a table: the offset without the zone's name, which stands once on the page.
    pub(super) short: String,
    /// `5 min ago`.
    pub(super) relative: String,
}

impl Moment {
    pub(super) fn new(visit: &Visit, at: Timestamp) -> Self {
        let zone = zone(visit);
        let text = effectgate_lang::when(at, &zone, Language::En);
        Self {
            iso: at.to_string(),
            short: text.replace(&format!(" {zone} ("), " ").trim_end_matches(')').to_owned(),
            relative: effectgate_lang::relative(at, visit.now, Language::En),
            text,
        }
    }
}

/// The zone of whoever looks.
pub(super) fn zone(visit: &Visit) -> Zone {
    visit.tongue.zone.clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_keeps_the_filters_of_the_one_before() {
        let pager = Pager::new("/runs", &[("key", "a b&c"), ("flow", "")], true, Some("7"));
        assert_eq!((pager.first, pager.next.as_deref()), (None, Some("/runs?key=a%20b%26c&cursor=7")));
        assert_eq!(Pager::new("/runs", &[], false, None).first.as_deref(), Some("/runs"));
    }
}
