//! effectgate-web: the HTTP API, the pages and what guards them. axum lives here only.
//!
//! Handlers read a request strictly, call one verb of the engine, and say its answer in WIRE's words. No rule is decided
//! here, no SQL is named here. Whatever changes state runs in a task of its own: a caller that hangs up cancels nothing.

mod api;
pub mod app;
pub mod auth;
pub mod docs;
mod headers;
mod health;
mod inbound;
mod metrics;
mod outbound;
pub mod pages;
pub mod problem;
mod request;
mod router;
pub mod server;
mod tools;

pub use app::{App, WebSettings};
pub use router::router;
