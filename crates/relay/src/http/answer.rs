//! The few answers that are the relay's own. Each says so, so that nobody takes it for the provider's.

use serde_json::json;

/// A whole answer of the relay's own, as problem+json (RFC 9457). Its connection closes after it.
pub(super) fn own(status: u16, word: &str, detail: &str, method: &str) -> Vec<u8> {
    let reason = match status {
        400 => "Bad Request",
        413 => "Content Too Large",
        501 => "Not Implemented",
        _ => "Bad Gateway",
    };
    let body = json!({ "title": reason, "status": status, "code": word, "detail": detail }).to_string();
    let body = if method == "HEAD" { String::new() } else { body };
    let length = body.len();
    format!(
        "HTTP/1.1 {status} {reason}\r\nContent-Type: application/problem+json\r\nEffectgate-Relay: {word}\r\n\
         Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
    .into_bytes()
}
