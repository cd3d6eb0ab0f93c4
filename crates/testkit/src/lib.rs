//! effectgate-testkit: real peers for tests: a private PostgreSQL, a provider with a ledger, an SMTP server that breaks
//! on purpose. Dev-only; knows nothing of the rooms it helps to test.

pub mod pg;
pub mod provider;
pub mod smtp;
