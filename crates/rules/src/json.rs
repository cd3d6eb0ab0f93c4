//! The one place where this crate reads JSON text: core's strict I-JSON reader, so that model outputs and evidence are
//! held to what payloads are held to (no duplicate members, no lone surrogates, finite numbers, bounded depth).

use effectgate_core::json::{self, Json};

/// Reads the bytes as one JSON value; the error is core's, in words and without the text itself.
pub(crate) fn parse(bytes: &[u8]) -> Result<Json, String> {
    json::parse(bytes).map_err(|error| error.to_string())
}

/// Tells whether two values are the same JSON: equal in canonical form, so `1.0` is `1` and the order of members does
/// not count.
pub(crate) fn same(left: &Json, right: &Json) -> bool {
    json::canonical(left) == json::canonical(right)
}
