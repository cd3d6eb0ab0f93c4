//! One connection of a scripted provider: read, commit, then do to the wire what the script says.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::ledger::Received;
use super::read::{Read, Reader};
use super::script::{Act, Step};
use super::state::{Reply, State};

/// Serves one accepted connection until an act or the peer ends it.
pub(crate) async fn connection(mut io: TcpStream, state: Arc<State>) {
    let _ = io.set_nodelay(true);
    let (number, at_once) = state.accepted();
    match at_once {
        Some(Act::AcceptThenReset) => reset(io),
        Some(_) => drop(io),
        None => {
            let mut reader = Reader::new();
            while request(&mut io, &mut reader, &state, number).await {}
            drop(io);
        }
    }
    state.connection_ended();
}

/// Serves one request; false ends the connection.
async fn request(io: &mut TcpStream, reader: &mut Reader, state: &State, connection: u64) -> bool {
    let mut place = None;
    let mut head = Received { connection, ..Received::default() };
    if reader.head(io, &mut head, || place = Some(state.began(connection))).await == Read::Gone {
        return false;
    }
    let Some(place) = place else { return false };
    state.head_read(place, &head);
    if let Some(reference) = head.lookup_reference() {
        return look_up(io, state, place, &head, &reference).await;
    }
    let step = state.next_step();
    if let Some(goes_on) = before_body(io, reader, state, place, &head, &step).await {
        return goes_on;
    }
    if reader.body(io, &head, usize::MAX, |piece| state.body_read(place, piece)).await != Read::Whole {
        return false;
    }
    let request = state.completed(place);
    let reply = state.perform(place, &request, &step);
    wait(state, &step).await;
    state.answered(&request, &reply);
    act(io, &step.act, &reply).await
}

async fn look_up(io: &mut TcpStream, state: &State, place: usize, head: &Received, reference: &str) -> bool {
    let received = Received { complete: true, ..head.clone() };
    match state.looked_up(place, &received, reference) {
        Some(reply) => io.write_all(&bytes_of(&reply)).await.is_ok(),
        None => false,
    }
}

/// Plays the acts that never read the whole body; `None` for all others.
async fn before_body(
    io: &mut TcpStream,
    reader: &mut Reader,
    state: &State,
    place: usize,
    head: &Received,
    step: &Step,
) -> Option<bool> {
    match step.act {
        Act::ReadPartThenReset { bytes } => {
            reader.body(io, head, bytes, |piece| state.body_read(place, piece)).await;
            let _ = io.set_zero_linger();
            Some(false)
        }
        Act::ReadPartThenSilence { bytes } => {
            reader.body(io, head, bytes, |piece| state.body_read(place, piece)).await;
            until_left(io).await;
            Some(false)
        }
        Act::AnswerBeforeBody { .. } => {
            let reply = state.perform(place, head, step);
            let _ = io.write_all(&bytes_of(&reply)).await;
            until_left_unread(io).await;
            Some(false)
        }
        _ => None,
    }
}

async fn wait(state: &State, step: &Step) {
    if step.delay_ms > 0 {
        tokio::time::sleep(Duration::from_millis(step.delay_ms)).await;
    }
    if step.hold
        && let Ok(permit) = state.releases.acquire().await
    {
        permit.forget();
    }
}

/// Does to the wire what the act says; false ends the connection.
async fn act(io: &mut TcpStream, act: &Act, reply: &Reply) -> bool {
    let whole = bytes_of(reply);
    match act {
        Act::Answer { .. } => return io.write_all(&whole).await.is_ok(),
        Act::Raw { .. } => write_and_close(io, reply.body.as_bytes()).await,
        Act::ReadThenReset | Act::AcceptThenReset => {
            let _ = io.set_zero_linger();
        }
        Act::ReadThenSilence => {
            until_left(io).await;
        }
        Act::HalfHeadThenClose => write_and_close(io, b"HTTP/1.1 201 Created\r\nContent-Ty").await,
        Act::ContinueThenClose => write_and_close(io, b"HTTP/1.1 100 Continue\r\n\r\n").await,
        Act::CutBody => {
            let cut = whole.len() - reply.body.len() / 2;
            write_and_close(io, &whole[..cut]).await;
        }
        Act::ReadThenClose
        | Act::AcceptThenClose
        | Act::ReadPartThenReset { .. }
        | Act::ReadPartThenSilence { .. }
        | Act::AnswerBeforeBody { .. } => {}
    }
    false
}

async fn write_and_close(io: &mut TcpStream, bytes: &[u8]) {
    let _ = io.write_all(bytes).await;
    let _ = io.shutdown().await;
}

/// Reads and drops whatever comes until the peer closes or resets.
async fn until_left(io: &mut TcpStream) {
    let mut sink = [0; 4096];
    while matches!(io.read(&mut sink).await, Ok(n) if n > 0) {}
}

/// Waits for the peer's reset without reading: the kernel's buffers stay full, as with a peer that stopped reading.
async fn until_left_unread(io: &mut TcpStream) {
    let _ = io.ready(tokio::io::Interest::ERROR).await;
}

fn reset(io: TcpStream) {
    let _ = io.set_zero_linger();
    drop(io);
}

fn bytes_of(reply: &Reply) -> Vec<u8> {
    let reason = if reply.status < 400 { "OK" } else { "Error" };
    let mut text = format!("HTTP/1.1 {} {reason}\r\n", reply.status);
    for (name, value) in &reply.headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str(&format!("Content-Length: {}\r\n\r\n{}", reply.body.len(), reply.body));
    text.into_bytes()
}
