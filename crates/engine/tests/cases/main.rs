//! The handed failure cases (`hc_nn_…`, input files in `data/handed`) and the guarantees, through the engine on SQLite.
//! One program, so that it links once; a file per noun.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

#[path = "../common/mod.rs"]
mod common;

mod approvals;
mod attempts;
mod audit;
mod budgets;
mod correct;
mod delivery;
mod desk;
mod edits;
mod guarantees;
mod kill_switch;
mod model_output;
mod outbound;
mod outbox;
mod poisoned_key;
mod reconciliation;
mod replay;
mod reservation;
mod resume;
mod retention;
mod retry;
mod subscriptions;
mod weeks;
mod wire;
mod withdraw;
