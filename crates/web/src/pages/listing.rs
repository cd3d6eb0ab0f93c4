//! What the operators' lists share: addresses that keep the filters, the links between pages, states in words, and
//! moments in the person's zone.

use effectgate_core::time::Timestamp;

use super::{time::When, visit::Visit};

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

/// A path with a query; what is empty is left out.
pub(super) fn address(path: &str, query: &[(&str, &str)]) -> String {
    let encoded = |text: &str| percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string();
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

/// The choices of a select. One that came in the address and is not among them (a flow that left the config) is kept.
pub(super) fn choices<'a>(all: impl IntoIterator<Item = &'a str>, chosen: &str) -> Vec<Choice> {
    let choice = |value: &str| Choice { value: value.into(), text: words(value), is_chosen: value == chosen };
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
    pub(super) fn new(word: &'static str, reason: Option<&str>) -> Self {
        Self { word, text: words(word), reason: reason.filter(|r| !r.is_empty()).map(words) }
    }
}

/// `awaiting_human` as `awaiting human`. Only for words of ours.
pub(super) fn words(word: &str) -> String {
    super::text::one_line(&word.replace('_', " "))
}

/// A moment in the person's zone.
pub(super) fn when(visit: &Visit, at: Timestamp) -> When {
    When::new(at, visit.now)
}

/// The zone's name, for what a form asks.
pub(super) fn zone_name(_: &Visit) -> String {
    "UTC".to_owned()
}

/// What a `datetime-local` field holds, as a moment in the person's zone. Of an hour that comes twice the earlier is
/// meant; in an hour that is left out the moment is as long after the gap's beginning as was typed. A day alone is its
/// first moment. `None` for anything else.
pub(super) fn local(_: &Visit, typed: &str) -> Option<Timestamp> {
    let with_time = if typed.contains('T') { typed.to_owned() } else { format!("{typed}T00:00") };
    let whole = if with_time.matches(':').count() == 1 { format!("{with_time}:00") } else { with_time };
    format!("{whole}Z").parse().ok()
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
