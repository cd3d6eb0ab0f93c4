//! The control routes of a provider in a process of its own: `GET /_ledger` and `POST /_mode`, on a port of their own
//! so that "accept, then reset" as the default mode does not lock the test out.

use std::sync::Arc;

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use super::ledger::Received;
use super::read::{Read, Reader};
use super::script::Mode;
use super::state::State;

/// Serves one control request and closes.
pub(crate) async fn connection(mut io: TcpStream, state: Arc<State>) {
    let mut reader = Reader::new();
    let mut head = Received::default();
    let mut body = Vec::new();
    if reader.head(&mut io, &mut head, || ()).await == Read::Gone {
        return;
    }
    if reader.body(&mut io, &head.clone(), usize::MAX, |piece| body.extend_from_slice(piece)).await != Read::Whole {
        return;
    }
    let (status, text) = answer(&head, &body, &state);
    let answer = format!(
        "HTTP/1.1 {status} -\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{text}",
        text.len()
    );
    let _ = io.write_all(answer.as_bytes()).await;
    let _ = io.shutdown().await;
}

fn answer(head: &Received, body: &[u8], state: &State) -> (u16, String) {
    match (head.method.as_str(), head.path.as_str()) {
        ("GET", "/_ledger") => (200, serde_json::to_string(&state.ledger()).unwrap_or_default()),
        ("POST", "/_mode") => match serde_json::from_slice::<Mode>(body) {
            Ok(mode) => {
                state.apply(mode);
                (200, "{}".to_owned())
            }
            Err(error) => (400, serde_json::json!({ "error": error.to_string() }).to_string()),
        },
        _ => (404, "{}".to_owned()),
    }
}
