//! The one place where this crate reads JSON text. Everything that comes from outside goes through here, so that one
//! reader decides what JSON is.

use serde_json::Value;

/// Reads the bytes as one JSON value, strictly.
pub(crate) fn parse(text: &[u8]) -> Result<Value, String> {
    serde_json::from_slice(text).map_err(|error| error.to_string())
}

/// Tells whether two values are the same JSON.
pub(crate) fn same(left: &Value, right: &Value) -> bool {
    left == right
}
