//! The languages and zones of the people who decide: messages (Fluent), numbers, spans and moments. A leaf: it imports
//! core's words and nothing else of the house.
//!
//! In languages are the card, its outcomes and errors, the login, the inbox, mail and chat. The operators' pages, the
//! journal, the API and the command line speak English: their words are the contract's.
//!
//! Nothing here reads a clock or a setting of the machine: `now`, zone and language come in. The zone database is
//! compiled in, so that an image without one gives the same times.

mod accept;
mod language;
mod mark;
mod msg;
mod number;
mod say;
mod span;
mod zone;

pub use language::Language;
pub use mark::mark;
pub use msg::Msg;
pub use number::number;
pub use say::{Value, say, say_around};
pub use span::{relative, span};
pub use zone::{Zone, when};
