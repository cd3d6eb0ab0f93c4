//! HTTP/1.1 through the relay, byte by byte: heads are read to know where a message ends, bodies pass as they are on the
//! wire. Each exchange has a connection to the upstream of its own; the caller's connection may carry many.

mod answer;
mod body;
mod exchange;
mod forward;
mod head;
mod source;
mod twice;

use tokio::net::TcpStream;

use crate::{
    caller::{Caller, Next},
    relay::Shared,
};

/// Serves a caller's connection to its end.
pub(crate) async fn serve(io: TcpStream, shared: &Shared) {
    let mut caller = Caller::new(io);
    let mut next = Next::Another;
    while next == Next::Another {
        next = exchange::one(&mut caller, shared).await;
    }
    caller.end(next).await;
}
