//! effectgate-testkit: real peers for tests: a private PostgreSQL, a provider with a ledger, an OpenID Connect
//! issuer that lies on purpose, an SMTP server that breaks on purpose, a browser. Dev-only; knows nothing of the rooms
//! it helps to test.

pub mod browser;
pub mod oidc;
pub mod pg;
pub mod provider;
pub mod smtp;
