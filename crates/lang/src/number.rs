//! Whole numbers as each language groups and writes them. Amounts of money are not for here: what goes out to a
//! provider is shown with exactly the digits that go out.

use crate::Language;

/// `1234567` as `1,234,567`, `1 234 567` (no-break spaces), `1.234.567` or `۱٬۲۳۴٬۵۶۷`.
#[must_use]
pub fn number(n: i64, language: Language) -> String {
    let digits = n.unsigned_abs().to_string();
    let mut text = String::with_capacity(digits.len() * 2 + 1);
    if n < 0 {
        text.push('\u{2212}');
    }
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(separator(language));
        }
        text.push(own(digit, language));
    }
    text
}

const fn separator(language: Language) -> char {
    match language {
        Language::En => ',',
        Language::De => '.',
        Language::Sv | Language::Ru => '\u{a0}',
        Language::Fa => '\u{66c}',
    }
}

/// Persian has digits of its own, U+06F0 to U+06F9.
fn own(digit: char, language: Language) -> char {
    match (language, digit.to_digit(10)) {
        (Language::Fa, Some(value)) => char::from_u32(0x6f0 + value).unwrap_or(digit),
        _ => digit,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_as_the_language_does() {
        let of = |n| Language::ALL.map(|language| number(n, language));
        assert_eq!(
            of(1_234_567),
            ["1,234,567", "1\u{a0}234\u{a0}567", "1.234.567", "1\u{a0}234\u{a0}567", "۱٬۲۳۴٬۵۶۷"]
        );
        assert_eq!(of(0), ["0", "0", "0", "0", "۰"]);
        assert_eq!(number(-1_000, Language::En), "\u{2212}1,000");
        assert_eq!(number(i64::MIN, Language::En), "\u{2212}9,223,372,036,854,775,808");
    }
}
