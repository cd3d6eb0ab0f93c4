//! Drives the real binary as its users do: command lines, exit codes, signals, HTTP on loopback. What a command decides
//! inside is tested beside its code.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

mod auditor;
mod check;
mod config;
mod crash;
mod delivery;
mod demo;
mod ground;
mod inbound_door;
mod keys;
mod outage;
mod outbound;
mod postgres;
mod relay;
mod replay;
mod replicas;
mod review;
mod serve;
mod single_sign_on;
mod subscriptions;
mod support;
