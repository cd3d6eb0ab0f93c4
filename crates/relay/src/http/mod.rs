//! HTTP/1.1 through the relay, byte by byte: heads are read to know where a message ends, bodies pass as they are on the
//! wire. Each exchange has a connection to the upstream of its own; the caller's connection may carry many.

mod answer;
mod body;
mod connection;
mod exchange;
mod forward;
mod head;
mod source;
mod twice;

pub(crate) use connection::serve;
