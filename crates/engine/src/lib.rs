//! effectgate-engine: what the product does, a verb a file. Loads an aggregate, asks core what follows, commits the
//! transition, wakes the workers. No SQL, no HTTP server; the only room with a clock and with randomness.

pub mod audit;
pub mod call;
pub mod check;
mod claim;
pub mod clock;
pub mod connect;
pub mod connector;
pub mod connectors;
pub mod decide;
pub mod dispatch;
pub mod driver;
mod engine;
pub mod error;
pub mod explain;
mod gate;
mod hot;
mod house;
pub mod inline;
pub mod keys;
pub mod notify;
pub mod operate;
mod panics;
pub mod people;
pub mod policy;
pub mod probe;
pub mod propose;
pub mod pulse;
pub mod random;
pub mod reconcile;
mod renew;
pub mod reserve;
pub mod sessions;
pub mod settle_run;
pub mod sign_on;
pub mod sweep;
pub mod switch;
pub mod tally;
mod traffic;
pub mod view;
pub mod weeks;
mod words;

pub use engine::{Caller, Engine};
pub use error::{EngineError, Result};
