//! SMTP through the relay, command by command. It stays between the two for the whole dialogue, so it offers neither
//! STARTTLS nor what would put several steps into one (PIPELINING, CHUNKING); everything else is the upstream's own.
//! A fault belongs to a message: it is chosen at DATA.

mod lines;
mod message;
mod session;

pub(crate) use session::serve;
