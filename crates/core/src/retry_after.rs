//! The `Retry-After` header: how long a provider asks us to wait, in both its forms.
//!
//! What is not understood is no wait at all (`None`: the caller's own backoff counts), never zero: a zero by accident is
//! a tight loop against a system that has just asked for mercy.

use std::time::UNIX_EPOCH;

/// Reads a `Retry-After` value as milliseconds from now.
///
/// Units: `now_unix_ms` and `max_ms` in milliseconds; the answer is between 0 and `max_ms`. A date in the past is 0, a
/// number of seconds too large for any integer is `max_ms`. `None` for a value that is neither whole seconds nor one of
/// the three HTTP dates.
///
/// Source: RFC 9110 section 10.2.3, dates in section 5.6.7.
pub fn parse(header: &str, now_unix_ms: i64, max_ms: i64) -> Option<u64> {
    let value = header.trim_matches([' ', '\t']);
    let wait_ms = seconds(value).map(|seconds| seconds.saturating_mul(1000)).or_else(|| until(value, now_unix_ms))?;
    Some(wait_ms.min(u64::try_from(max_ms).unwrap_or(0)))
}

/// Digits only: no sign, no fraction. Beyond the integer's range it is the range's end.
fn seconds(value: &str) -> Option<u64> {
    let is_number = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| value.parse().unwrap_or(u64::MAX))
}

fn until(value: &str, now_unix_ms: i64) -> Option<u64> {
    let date = httpdate::parse_http_date(value).ok()?;
    let at_ms = i64::try_from(date.duration_since(UNIX_EPOCH).ok()?.as_millis()).ok()?;
    Some(u64::try_from(at_ms.saturating_sub(now_unix_ms)).unwrap_or(0))
}
