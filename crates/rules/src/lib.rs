//! effectgate-rules: what a machine may judge about a model's output.
//!
//! JSON Schema ([`schema`]), the one JSON value in a model's text ([`extract`], [`finish`]), rules in CEL with their
//! limits ([`cel`]), evaluation evidence ([`evidence`]) and sampling ([`sample`]). A leaf on purpose: these libraries are
//! dear to compile, so nothing else depends on them, and this crate imports core's words only. No clock, no file, no
//! network: bytes and the present moment come in as arguments. Whatever fails here means "a person decides".

pub mod cel;
pub mod evidence;
pub mod extract;
pub mod finish;
mod json;
pub mod sample;
pub mod schema;
mod text;
