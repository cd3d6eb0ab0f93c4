//! effectgate-oidc: single sign-on by OpenID Connect, from the first redirect to a person whose every claim was
//! checked: discovery, authorization code with PKCE, state, nonce, issuer, signature, audience, times, groups.
//!
//! A leaf: it imports core's words only. It opens no connection by itself ([`Fetch`] is given to it), keeps nothing
//! (the web room keeps a sign-in under way in a cookie) and gives no rights: which group is which role is the engine's.

mod claims;
mod discovery;
mod error;
mod exchange;
mod fetch;
mod issuer;
mod provider;
mod settings;
mod verify;

pub use claims::Claimed;
pub use error::{Failed, Refusal};
pub use fetch::{Fetch, FetchFailed};
pub use issuer::Seen;
pub use provider::{Answer, Begun, Provider, Underway};
pub use settings::Settings;
