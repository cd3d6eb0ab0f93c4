//! `Accept-Language` (RFC 9110 section 12.5.4): ranges with weights, matched by lookup (RFC 4647 section 3.4), so that
//! `sv-FI` finds `sv`. What cannot be read is passed over: a header of a stranger is no reason to fail.

use crate::Language;

/// Browsers send up to about ten; more is noise.
const RANGES_MAX: usize = 32;

/// The best of ours that the header asks for; the first of several with the same weight. `*` is English, unless the
/// header refuses it. `None` if it asks for none of ours.
pub(crate) fn best(header: &str) -> Option<Language> {
    let ranges: Vec<(&str, u16)> = header.split(',').take(RANGES_MAX).filter_map(range).collect();
    let refused =
        |language: Language| ranges.iter().any(|&(tag, q)| q == 0 && tag.eq_ignore_ascii_case(language.tag()));
    let mut best: Option<(Language, u16)> = None;
    for &(tag, q) in &ranges {
        let language = if tag == "*" { other(&refused) } else { Language::of_tag(tag) };
        let Some(language) = language.filter(|language| q > 0 && !refused(*language)) else { continue };
        if best.is_none_or(|(_, highest)| q > highest) {
            best = Some((language, q));
        }
    }
    best.map(|(language, _)| language)
}

/// "Any other": our first that is not refused.
fn other(refused: &dyn Fn(Language) -> bool) -> Option<Language> {
    Language::ALL.into_iter().find(|language| !refused(*language))
}

/// `sv-FI;q=0.8` as the tag and its weight in thousandths.
fn range(item: &str) -> Option<(&str, u16)> {
    let mut parts = item.split(';').map(str::trim);
    let tag = parts.next().filter(|tag| !tag.is_empty())?;
    let weight = match parts.next() {
        None => 1_000,
        Some(parameter) => {
            let (name, value) = parameter.split_once('=')?;
            (name.trim().eq_ignore_ascii_case("q")).then(|| thousandths(value.trim()))??
        }
    };
    Some((tag, weight))
}

/// A qvalue (RFC 9110 section 12.4.2): `0`, `0.5`, `1.000`; at most three decimals.
fn thousandths(q: &str) -> Option<u16> {
    let (whole, decimals) = q.split_once('.').unwrap_or((q, ""));
    let is_decimals = decimals.len() <= 3 && decimals.bytes().all(|b| b.is_ascii_digit());
    let part: u16 = format!("{decimals:0<3}").parse().ok().filter(|_| is_decimals)?;
    match whole {
        "0" => Some(part),
        "1" if part == 0 => Some(1_000),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_weight_of_ours_wins() {
        let cases = [
            ("sv-FI", Some(Language::Sv)),
            ("fi, sv;q=0.8, en;q=0.7", Some(Language::Sv)),
            ("en;q=0.5, de;q=0.9, ru;q=0.901", Some(Language::Ru)),
            ("de, en", Some(Language::De)),
            ("FA-ir", Some(Language::Fa)),
            ("sv ; q=0.2 , de ; Q=0.3", Some(Language::De)),
            ("zh-Hant-TW, ja", None),
            ("", None),
        ];
        for (header, expected) in cases {
            assert_eq!(best(header), expected, "{header}");
        }
    }

    #[test]
    fn a_weight_of_nought_is_a_refusal() {
        assert_eq!(best("en;q=0, *"), Some(Language::Sv));
        assert_eq!(best("en, en;q=0"), None);
        assert_eq!(best("*;q=0"), None);
        assert_eq!(best("*"), Some(Language::En));
    }

    #[test]
    fn what_is_no_range_is_passed_over() {
        let bad = ["de;q=2", "de;q=0.1234", "de;q=-1", "de;q=", "de;x=1", ";q=1", ",,,", "de;q=1.5", "q=1"];
        for header in bad {
            assert_eq!(best(header), None, "{header}");
            assert_eq!(best(&format!("{header}, sv;q=0.1")), Some(Language::Sv), "{header}");
        }
        assert_eq!(best(&"x,".repeat(100_000)), None);
    }
}
