//! effectgate-engine: what the product does, a verb a file. Loads an aggregate, asks core what follows, commits the
//! transition, wakes the workers. No SQL, no HTTP server; the only room with a clock and with randomness.

pub mod clock;
pub mod connect;
pub mod connector;
pub mod connectors;
pub mod error;
pub mod notify;
pub mod policy;
pub mod view;
