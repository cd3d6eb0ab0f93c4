//! Reading requests strictly: bounded bytes, strict JSON, known members only, and every refusal with the pointer to the
//! member at fault. What the members mean is the engine's business.

mod body;
mod decode;
mod given;
mod path;
mod query;

pub(crate) use body::{Body, read as read_body};
pub(crate) use decode::{Wire, decode};
pub(crate) use given::{Given, LeaseMs, Words, given, raw, text};
pub(crate) use path::Id;
pub(crate) use query::{Query, limit, moment};
