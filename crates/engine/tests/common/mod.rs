//! A small world for the engine's tests: a SQLite store and an engine on one clock that stands still until it is moved,
//! and a provider that does as it is told and counts what it executed. Ticks are called by hand.
#![allow(clippy::unwrap_used, dead_code, unreachable_pub)]

mod calls;
pub mod channel;
mod clock;
pub mod n8n;
mod options;
mod policy;
pub mod provider;
mod worker;
mod world;

#[allow(unused_imports, reason = "not every program needs everything")]
pub use self::{
    calls::{Held, PAYLOAD, asked, lead, olga, request},
    clock::TestClock,
    options::{HOUR, Options, enforcing},
    policy::policy,
    provider::{Answer, Scripted},
    worker::WorkerAt,
    world::World,
};

/// A handed input file, as text.
#[macro_export]
macro_rules! handed {
    ($name:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/handed/", $name))
    };
}
