//! A JSON number as the text it came in, and its one canonical text.
//!
//! The canonical text is the ECMAScript layout (RFC 8785 section 3.2.2.3) of the number's digits. Which digits:
//!
//! - those of the exact decimal value, without leading and trailing zeros. For a number that survives a double these are
//!   the shortest round-trip digits, so the text is RFC 8785's, digit for digit. For one that does not
//!   (9007199254740993) it is the exact value in the same layout. The text always has the value that it stands for, so
//!   equal decimals stay equal and no two different ones meet;
//! - with one exception, for RFC 8785's own vectors (333333333.33333329 becomes 333333333.3333333): a fraction of exactly
//!   17 significant digits is the way in which programs that do not know shortest digits print a double (`%.17g`), and
//!   RFC 7493 section 2.2 counts it among what a double provides. It is taken as its double. Whole numbers, and
//!   fractions of up to 16 or of 18 and more digits, are exact.

use std::borrow::Cow;

/// Exponents of more digits are refused. Nothing real comes near; it keeps the arithmetic below in 64 bits.
const EXPONENT_MAX: i64 = 1_000_000_000_000_000;
/// A double's largest value has 309 digits before the point.
const DOUBLE_POINT_MAX: i64 = 309;
/// Below 0.1e-330 every value is nearer to 0 than to the smallest double (4.9e-324).
const DOUBLE_POINT_MIN: i64 = -330;
/// ECMAScript writes whole numbers of up to 21 digits without an exponent.
const PLAIN_DIGITS_MAX: i64 = 21;
/// Digits that `%.17g` prints: enough for every double (IEEE 754: 53 bits).
const DOUBLE_DIGITS: usize = 17;

/// A number of RFC 8259's grammar inside the range of a double, as text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct NumberText(Box<str>);

impl NumberText {
    /// Takes a text that the reader has found to be a number; `None` if it is outside the range of a double.
    pub(super) fn from_scanned(text: &str) -> Option<Self> {
        in_range(text).then(|| NumberText(text.into()))
    }

    /// The text that came in.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The nearest double; finite.
    pub fn to_f64(&self) -> f64 {
        Decimal::of(&self.0).to_f64()
    }

    pub(super) fn to_number(&self) -> serde_json::Number {
        match self.whole() {
            Some(whole) => whole,
            None => serde_json::Number::from_f64(self.to_f64()).expect("a number in the range of a double is finite"),
        }
    }

    /// The exact integer, where `serde_json` has one. `-0` is a double: an integer would lose its sign.
    fn whole(&self) -> Option<serde_json::Number> {
        let text = Some(&*self.0).filter(|text| *text != "-0")?;
        text.parse::<i64>().map(Into::into).or_else(|_| text.parse::<u64>().map(Into::into)).ok()
    }

    /// Says whether the conversion to a `serde_json` number keeps the decimal value.
    pub(super) fn is_exact(&self) -> bool {
        let survives = |decimal: Decimal<'_>| decimal.is_zero() || Decimal::shortest(decimal.to_f64()) == decimal;
        self.whole().is_some() || survives(Decimal::of(&self.0))
    }

    /// Appends the canonical text; see the head of this module.
    pub(super) fn write_canonical(&self, out: &mut Vec<u8>) {
        let unsigned = self.0.strip_prefix('-').unwrap_or(&self.0);
        let plain = unsigned.len() <= PLAIN_DIGITS_MAX as usize && unsigned.bytes().all(|byte| byte.is_ascii_digit());
        match (plain, unsigned) {
            (true, "0") => out.push(b'0'),
            (true, _) => out.extend_from_slice(self.0.as_bytes()),
            (false, _) => Decimal::of(&self.0).identity().write(out),
        }
    }
}

impl From<&serde_json::Number> for NumberText {
    fn from(number: &serde_json::Number) -> Self {
        NumberText(number.to_string().into())
    }
}

impl From<i64> for NumberText {
    fn from(number: i64) -> Self {
        NumberText(number.to_string().into())
    }
}

impl From<u64> for NumberText {
    fn from(number: u64) -> Self {
        NumberText(number.to_string().into())
    }
}

fn in_range(text: &str) -> bool {
    if text.len() < DOUBLE_POINT_MAX as usize && !text.bytes().any(|byte| matches!(byte, b'e' | b'E')) {
        return true;
    }
    let decimal = Decimal::of(text);
    decimal.is_zero()
        || (decimal.point.abs() < EXPONENT_MAX && decimal.point <= DOUBLE_POINT_MAX && decimal.to_f64().is_finite())
}

/// The exact value of a number: 0.`digits` times ten to the `point`.
#[derive(Debug, PartialEq, Eq)]
struct Decimal<'a> {
    negative: bool,
    /// No leading and no trailing zeros; empty for zero.
    digits: Cow<'a, str>,
    point: i64,
}

impl<'a> Decimal<'a> {
    /// Reads a text of the number grammar.
    fn of(text: &'a str) -> Self {
        let (negative, unsigned) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, ""));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all: Cow<'a, str> = match (whole, fraction) {
            (whole, "") => Cow::Borrowed(whole),
            ("0", fraction) => Cow::Borrowed(fraction),
            (whole, fraction) => Cow::Owned([whole, fraction].concat()),
        };
        let point = if whole == "0" && !fraction.is_empty() { 0 } else { whole.len() as i64 };
        let zeros = all.len() - all.trim_start_matches('0').len();
        let digits = match all {
            Cow::Borrowed(all) => Cow::Borrowed(all.trim_matches('0')),
            Cow::Owned(all) => Cow::Owned(all.trim_matches('0').to_owned()),
        };
        Decimal { negative, digits, point: point - zeros as i64 + read_exponent(exponent) }
    }

    /// The shortest digits that read back as this finite double. Where two lie equally near (1424953923781206.25 is
    /// ...06.2 and ...06.3), ECMAScript's implementations take the even one and the standard library the other.
    fn shortest(double: f64) -> Decimal<'static> {
        let mut buffer = ryu_js::Buffer::new();
        let decimal = Decimal::of(buffer.format_finite(double));
        Decimal { digits: Cow::Owned(decimal.digits.into_owned()), ..decimal }
    }

    fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }

    fn is_whole(&self) -> bool {
        self.point >= self.digits.len() as i64
    }

    /// Infinite beyond the range. Rebuilt from the parts because the standard library's reader cuts long exponents,
    /// which is wrong where long runs of zeros make up for them.
    fn to_f64(&self) -> f64 {
        let size = match self.point {
            _ if self.is_zero() => 0.0,
            point if point < DOUBLE_POINT_MIN => 0.0,
            point if point > DOUBLE_POINT_MAX => f64::INFINITY,
            point => format!("0.{}e{point}", self.digits).parse().unwrap_or(f64::INFINITY),
        };
        if self.negative { -size } else { size }
    }

    /// The digits that stand for the number; see the head of this module.
    fn identity(self) -> Self {
        if self.digits.len() != DOUBLE_DIGITS || self.is_whole() {
            return self;
        }
        let double = self.to_f64();
        // Below the normal range a double has fewer digits than the text, down to none.
        if double.is_normal() { Decimal::shortest(double) } else { self }
    }

    /// ECMAScript's Number::toString, with `digits` and `point` for its k, s and n. Zero has no sign.
    fn write(&self, out: &mut Vec<u8>) {
        let (digits, count) = (self.digits.as_bytes(), self.digits.len() as i64);
        if self.is_zero() {
            return out.push(b'0');
        }
        if self.negative {
            out.push(b'-');
        }
        match self.point {
            point if point > PLAIN_DIGITS_MAX || point <= -6 => self.write_scientific(out),
            point if point <= 0 => {
                out.extend_from_slice(b"0.");
                out.resize(out.len() + point.unsigned_abs() as usize, b'0');
                out.extend_from_slice(digits);
            }
            point if point >= count => {
                out.extend_from_slice(digits);
                out.resize(out.len() + (point - count) as usize, b'0');
            }
            point => {
                let (whole, fraction) = digits.split_at(point as usize);
                out.extend_from_slice(whole);
                out.push(b'.');
                out.extend_from_slice(fraction);
            }
        }
    }

    fn write_scientific(&self, out: &mut Vec<u8>) {
        let (first, rest) = self.digits.as_bytes().split_at(1);
        out.extend_from_slice(first);
        if !rest.is_empty() {
            out.push(b'.');
            out.extend_from_slice(rest);
        }
        out.extend_from_slice(format!("e{:+}", self.point - 1).as_bytes());
    }
}

/// Reads an exponent, saturating far outside what [`in_range`] lets through.
fn read_exponent(text: &str) -> i64 {
    let digits = text.trim_start_matches(['+', '-']);
    let size = digits.bytes().fold(0_i64, |size, digit| (size * 10 + i64::from(digit - b'0')).min(10 * EXPONENT_MAX));
    if text.starts_with('-') { -size } else { size }
}
