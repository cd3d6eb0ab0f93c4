//! A relay between a caller and a provider that breaks one exchange at an exact place, over HTTP or SMTP.
//!
//! The window that doubles effects lies between "the provider did it" and "the caller saw the answer". The relay opens
//! that window on purpose: it forwards the whole request, reads the whole answer, so that the provider has surely
//! acted, and then closes without a byte. It knows nothing of the gate, its store or its config: a leaf that speaks the
//! two protocols. Nothing here retries, follows a redirect or keeps a connection to the provider for a second request.

mod address;
mod caller;
mod control;
mod counts;
mod fault;
mod http;
mod incoming;
mod limits;
mod log;
mod plan;
mod record;
mod relay;
mod rule;
mod settings;
mod smtp;

pub use counts::Counts;
pub use fault::{Fault, Mode, Phase, UnknownFault};
pub use log::{LogLine, Outcome};
pub use plan::By;
pub use relay::Relay;
pub use rule::{HeaderMatch, Match, Rule};
pub use settings::{RelayError, RelaySettings, Upstream};

/// The request header that asks for a fault, such as `Effectgate-Fault: forward-then-drop-response; times=1`.
pub const FAULT_HEADER: &str = "effectgate-fault";

/// The environment variable that names the mode of `effectgate relay`.
pub const MODE_VARIABLE: &str = "EFFECTGATE_RELAY_MODE";
