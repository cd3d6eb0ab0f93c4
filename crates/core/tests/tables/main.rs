//! The rules as tables: state x command x time -> what the contract says, a line each. Tests compare with the SPEC, not
//! with the code; every transition on the way also passes `invariants::applied`.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod approval;
mod budget;
mod classify;
mod correct;
mod delivery;
mod edit;
mod effect_states;
mod ending;
mod given;
mod inline;
mod invariants;
mod look;
mod operate;
mod proposal;
mod reconcile;
mod replay;
mod reserve;
mod roll_up;
mod run_states;
mod sending;
mod simulation;
mod switch;
mod verdict;
mod withdraw;
