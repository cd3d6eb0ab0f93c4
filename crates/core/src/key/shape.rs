//! Recognising what a text is: nothing visible, a placeholder, or one bare value (address, phone number, amount, moment,
//! UUID) that names no event.
//!
//! These are recognisers of shapes, not validators: each looks only for what is typical, so that a key which merely
//! contains such a value, or digits alone (many systems number their events), passes.

use jiff::{Timestamp, civil::DateTime};
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

pub(super) fn is_control(character: char) -> bool {
    character.is_control() || matches!(character, '\u{2028}' | '\u{2029}')
}

/// White space, controls, format characters, and what Unicode lists as Default_Ignorable_Code_Point
/// (DerivedCoreProperties 16.0), plus the Braille blank, which is a symbol with nothing in it.
pub(crate) fn is_invisible(character: char) -> bool {
    character.is_whitespace()
        || is_control(character)
        || character.general_category() == GeneralCategory::Format
        || matches!(character,
            '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}'..='\u{1160}' | '\u{17B4}'..='\u{17B5}' | '\u{180B}'..='\u{180F}'
            | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{2800}' | '\u{3164}'
            | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}' | '\u{FFF0}'..='\u{FFF8}' | '\u{1BCA0}'..='\u{1BCA3}'
            | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}')
}

/// The whole text is what a program prints for "nothing" (JavaScript, Python, Go, SQL), in any case, or holds
/// JavaScript's text for an object.
pub(super) fn is_placeholder(text: &str) -> bool {
    let lower = text.to_lowercase();
    let names = ["null", "undefined", "nan", "none", "nil", "(null)", "<nil>", "<null>", "[null]", "[undefined]"];
    names.contains(&lower.as_str()) || lower.contains("[object ")
}

/// One segment of a joined key is JavaScript's text for a missing value, spelled as JavaScript does.
pub(super) fn is_placeholder_segment(segment: &str) -> bool {
    matches!(segment.trim(), "null" | "undefined" | "NaN")
}

pub(super) fn is_email(text: &str) -> bool {
    let text = text.strip_prefix("mailto:").unwrap_or(text);
    let Some((local, domain)) = text.rsplit_once('@') else { return false };
    let local_fits = |character: char| {
        !character.is_whitespace() && !matches!(character, '@' | ':' | ';' | ',' | '<' | '>' | '(' | ')' | '"' | '/')
    };
    let is_label = |label: &str| !label.is_empty() && label.chars().all(|c| c.is_alphanumeric() || c == '-');
    // A top-level domain begins with a letter; `pkg@1.2.3` is a version.
    let is_domain = |domain: &str| {
        let top = domain.rsplit_once('.').map(|(_, top)| top);
        top.is_some_and(|top| top.starts_with(char::is_alphabetic)) && domain.split('.').all(is_label)
    };
    !local.is_empty() && local.chars().all(local_fits) && is_domain(domain)
}

/// International (`+46 70 123 45 67`, `tel:`), grouped as in North America (`555-123-4567`), with an area code in
/// brackets, or grouped with a leading zero (`0701-23 45 67`). Digits alone are an id.
pub(super) fn is_phone(text: &str) -> bool {
    let (is_tel, text) = text.strip_prefix("tel:").map_or((false, text), |rest| (true, rest));
    let (is_international, text) = text.strip_prefix('+').map_or((false, text), |rest| (true, rest));
    let is_separator =
        |c: char| c.is_whitespace() || matches!(c, '-' | '.' | '/' | '(' | ')' | '\u{2010}'..='\u{2013}');
    let digits = text.chars().filter(char::is_ascii_digit).count();
    let fits = text.chars().all(|c| c.is_ascii_digit() || is_separator(c)) && (7..=15).contains(&digits);
    let groups: Vec<usize> = text.split(is_separator).map(str::len).filter(|len| *len > 0).collect();
    let is_national = matches!(groups[..], [3, 3, 4] | [1, 3, 3, 4])
        || (text.contains('(') && text.contains(')'))
        || (text.starts_with('0') && groups.len() > 1 && (9..=12).contains(&digits));
    fits && (is_tel || is_international || is_national)
}

/// A number with a currency, with one or two decimals, or with its thousands grouped. Whole digits alone are an id; more
/// decimals are not money (Slack's message ids have six).
pub(super) fn is_amount(text: &str) -> bool {
    let (text, has_currency) = without_currency(text.trim_start_matches(['+', '-', '\u{2212}']));
    let is_digits_only = is_digits(text);
    (has_currency && is_digits_only) || (!is_digits_only && is_decimal(text))
}

fn is_decimal(text: &str) -> bool {
    let is_mark = |c: char| matches!(c, '.' | ',' | '\'' | '\u{2019}') || c.is_whitespace();
    if !text.chars().all(|c| c.is_ascii_digit() || is_mark(c)) {
        return false;
    }
    let groups: Vec<&str> = text.split(is_mark).collect();
    let Some((last, before)) = groups.split_last() else { return false };
    let Some((first, middle)) = before.split_first() else { return false };
    let is_cents =
        matches!(last.len(), 1 | 2) && text.trim_end_matches(|c: char| c.is_ascii_digit()).ends_with(['.', ',']);
    let thousands = |group: &&str| group.len() == 3;
    match middle {
        [] => !first.is_empty() && (is_cents || (first.len() <= 3 && last.len() == 3)),
        middle => (1..=3).contains(&first.len()) && middle.iter().all(thousands) && (is_cents || last.len() == 3),
    }
}

/// Takes one currency sign or name from the front or the end. In front a name stands apart: `CAD17` is an id.
fn without_currency(text: &str) -> (&str, bool) {
    const NAMES: [&str; 43] = [
        "EUR",
        "USD",
        "GBP",
        "SEK",
        "NOK",
        "DKK",
        "ISK",
        "RUB",
        "IRR",
        "JPY",
        "CNY",
        "CHF",
        "CAD",
        "AUD",
        "NZD",
        "INR",
        "PLN",
        "CZK",
        "HUF",
        "RON",
        "BGN",
        "BRL",
        "MXN",
        "TRY",
        "UAH",
        "KZT",
        "AED",
        "SAR",
        "ILS",
        "SGD",
        "HKD",
        "KRW",
        "ZAR",
        "THB",
        "TWD",
        "IDR",
        "PHP",
        "kr",
        "Kr",
        "zł",
        "руб",
        "руб.",
        "тенге",
    ];
    let is_sign = |c: char| c.general_category() == GeneralCategory::CurrencySymbol;
    let spaced = |rest: &&str| rest.starts_with(char::is_whitespace);
    let by_name =
        NAMES.iter().find_map(|name| text.strip_suffix(name).or_else(|| text.strip_prefix(name).filter(spaced)));
    match by_name.or_else(|| text.strip_prefix(is_sign)).or_else(|| text.strip_suffix(is_sign)) {
        Some(rest) => (rest.trim(), true),
        None => (text, false),
    }
}

pub(super) fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// A moment: ISO 8601 with a time of day, an HTTP date, or a Unix time from 2001 to 2106 in seconds, milliseconds or
/// microseconds. A date alone may be the name of a daily event.
pub(super) fn is_timestamp(text: &str) -> bool {
    let is_unix = |digits: usize| {
        text.len() == digits
            && is_digits(text)
            && (1_000_000_000..=4_294_967_295).contains(&text[..10].parse().unwrap_or(0_u64))
    };
    let is_iso = || text.parse::<Timestamp>().is_ok() || text.parse::<DateTime>().is_ok();
    [10, 13, 16].into_iter().any(is_unix)
        || (text.len() > 10 && !is_digits(text) && is_iso())
        || httpdate::parse_http_date(text).is_ok()
}

/// A hyphenated UUID of a version that is made anew each time (1, 2, 4, 6, 7), or the nil or max UUID. Versions 3, 5 and
/// 8 are made from a name and stay the same.
pub(super) fn is_fresh_uuid(text: &str) -> bool {
    let text = text.strip_prefix("urn:uuid:").unwrap_or(text);
    let text = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or(text);
    let is_hex = |group: &str| group.bytes().all(|byte| byte.is_ascii_hexdigit());
    let groups: Vec<&str> = text.split('-').collect();
    let is_uuid =
        groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12]) && groups.iter().all(|group| is_hex(group));
    is_uuid && !groups[2].starts_with(['3', '5', '8'])
}
