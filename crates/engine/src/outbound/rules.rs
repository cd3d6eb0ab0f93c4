//! What may pass a provider's door: methods, paths below named beginnings, and which of the caller's headers go on. A
//! path is judged as the strictest reader over there could take it, because it is the last thing between a caller's key
//! and everything that our credentials open.

use http::{HeaderName, Method};
use percent_encoding::percent_decode_str;

/// What a section `out` allows.
#[derive(Debug, Clone)]
pub struct OutRules {
    pub methods: Vec<Method>,
    /// Beginnings, segment by segment: `/v1/refunds` allows itself and `/v1/refunds/…`, not `/v1/refunds-all`. `/` allows
    /// every path.
    pub paths: Vec<String>,
    /// Headers of the caller that are passed on and are part of the request's identity.
    pub headers: Vec<HeaderName>,
}

/// Why a request may not pass.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotAllowed {
    #[error("this door lets through {0}")]
    Method(String),
    #[error("this door lets through paths below {0}")]
    Path(String),
    #[error(
        "a path has no empty segment, no . or .. segment (;x behind it or not) and no backslash, however it is encoded"
    )]
    Climbs,
    #[error("a path has at most {PATH_CHARS_MAX} characters before the query")]
    TooLong,
}

/// The target of an effect is method and path, and stands on the card in one piece.
const PATH_CHARS_MAX: usize = 900;
/// Servers that decode twice exist; ones that decode more often than this would break their own links.
const DECODINGS_MAX: usize = 3;

impl OutRules {
    /// Judges a method and a path with its query.
    ///
    /// # Errors
    /// The first thing that is not allowed.
    pub fn judge(&self, method: &Method, path: &str) -> Result<(), NotAllowed> {
        if !self.methods.contains(method) {
            let known: Vec<&str> = self.methods.iter().map(Method::as_str).collect();
            return Err(NotAllowed::Method(known.join(", ")));
        }
        let path = path.split('?').next().unwrap_or_default();
        if path.chars().count() > PATH_CHARS_MAX {
            return Err(NotAllowed::TooLong);
        }
        if !is_plain(path) {
            return Err(NotAllowed::Climbs);
        }
        if self.paths.iter().any(|beginning| is_below(path, beginning)) {
            Ok(())
        } else {
            Err(NotAllowed::Path(self.paths.join(", ")))
        }
    }
}

fn is_below(path: &str, beginning: &str) -> bool {
    let beginning = beginning.trim_end_matches('/');
    path.strip_prefix(beginning).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// True if the path stays where it seems to lead, also for a server that decodes it before it looks for segments.
fn is_plain(path: &str) -> bool {
    let mut text = path.to_owned();
    for _ in 0..DECODINGS_MAX {
        if !is_plain_as_it_stands(&text) {
            return false;
        }
        let decoded = percent_decode_str(&text).decode_utf8_lossy().into_owned();
        if decoded == text {
            return true;
        }
        text = decoded;
    }
    false
}

fn is_plain_as_it_stands(path: &str) -> bool {
    let Some(rest) = path.strip_prefix('/') else { return false };
    if path.contains('\\') || path.chars().any(char::is_control) {
        return false;
    }
    let segments: Vec<&str> = rest.split('/').collect();
    let last = segments.len() - 1;
    // `/v1/refunds/` and `/` end with a slash, which makes an empty last segment.
    // Servlet containers take `;` and what follows off a segment before they look for dots.
    let name = |segment: &str| segment.split(';').next().unwrap_or_default().to_owned();
    segments.iter().enumerate().all(|(n, segment)| {
        let is_there = !name(segment).is_empty() || (segment.is_empty() && n == last);
        is_there && !matches!(name(segment).as_str(), "." | "..")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(paths: &[&str]) -> OutRules {
        let paths = paths.iter().map(|path| (*path).to_owned()).collect();
        OutRules { methods: vec![Method::POST], paths, headers: vec![] }
    }

    #[test]
    fn a_beginning_allows_what_lies_below_it_and_nothing_beside_it() {
        let rules = rules(&["/v1/refunds", "/v2/"]);
        let table = [
            ("/v1/refunds", true),
            ("/v1/refunds/", true),
            ("/v1/refunds/re_1/cancel?x=../..", true),
            ("/v1/refunds?limit=1", true),
            ("/v2/a%2Fb", true),
            ("/v2/a;version=1/b;c", true),
            ("/v2", true),
            ("/v1/refunds-all", false),
            ("/v1/charges", false),
            ("/v1", false),
            ("/", false),
            ("", false),
        ];
        for (path, allowed) in table {
            assert_eq!(rules.judge(&Method::POST, path).is_ok(), allowed, "{path}");
        }
        assert!(
            matches!(rules.judge(&Method::DELETE, "/v1/refunds"), Err(NotAllowed::Method(known)) if known == "POST")
        );
    }

    #[test]
    fn no_encoding_climbs_out_of_a_beginning() {
        for rules in [rules(&["/v1/refunds"]), rules(&["/"])] {
            for path in [
                "/v1/refunds/../charges",
                "/v1/refunds/%2e%2e/charges",
                "/v1/refunds/.%2E/charges",
                "/v1/refunds/..%2fcharges",
                "/v1/refunds/%252e%252e/charges",
                "/v1/refunds/%25252e%25252e/charges",
                "/v1/refunds/..\\charges",
                "/v1/refunds/%5c..%5ccharges",
                "/v1/refunds//charges",
                "/v1/refunds/./x",
                "/v1/refunds/%00",
                "/v1/refunds/..;/charges",
                "/v1/refunds/..;x=1/charges",
                "/v1/refunds/..%3b/charges",
                "/v1/refunds/%2e%2e%3Bx/charges",
                "/v1/refunds/.;/x",
                "/v1/refunds/;/charges",
                "/v1/refunds/;x",
                "//evil.example/v1/refunds",
            ] {
                assert_eq!(rules.judge(&Method::POST, path), Err(NotAllowed::Climbs), "{path}");
            }
        }
        assert_eq!(rules(&["/"]).judge(&Method::POST, &format!("/{}", "x".repeat(900))), Err(NotAllowed::TooLong));
        assert_eq!(rules(&["/"]).judge(&Method::POST, "/"), Ok(()));
    }
}
