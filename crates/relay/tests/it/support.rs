//! A caller that says exact bytes and notes exactly how its connection ended.

use std::{io::ErrorKind, net::SocketAddr, time::Duration};

use effectgate_relay::{Mode, Relay, RelaySettings, Upstream};
use effectgate_testkit::provider::{ScriptedProvider, Step};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};

/// Far above any machine's hiccup.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// A provider and a relay to it.
pub(crate) async fn between(mode: Mode) -> (ScriptedProvider, Relay) {
    let provider = ScriptedProvider::start(Vec::<Step>::new()).await;
    let relay = relay_to(&provider, mode).await;
    (provider, relay)
}

pub(crate) async fn relay_to(provider: &ScriptedProvider, mode: Mode) -> Relay {
    let upstream = Upstream::http(&provider.url()).unwrap();
    Relay::start(RelaySettings { mode, ..RelaySettings::to(upstream) }).await.unwrap()
}

pub(crate) const POST: &str = "POST /refunds HTTP/1.1\r\nHost: relay.test\r\nContent-Type: application/json\r\nContent-Length: 7\r\n\r\n{\"a\":1}";

/// How a connection ended for the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    Closed,
    Reset,
    /// Still open, and nothing came for a while.
    Open,
}

pub(crate) struct Caller {
    io: TcpStream,
}

impl Caller {
    pub(crate) async fn at(address: SocketAddr) -> Self {
        Self { io: TcpStream::connect(address).await.unwrap() }
    }

    pub(crate) async fn say(&mut self, bytes: impl AsRef<[u8]>) {
        self.io.write_all(bytes.as_ref()).await.unwrap();
    }

    /// Says as much as the peer takes.
    pub(crate) async fn try_say(&mut self, bytes: Vec<u8>) -> bool {
        self.io.write_all(&bytes).await.is_ok()
    }

    /// Reads until the text is there.
    pub(crate) async fn until(&mut self, text: &str) -> String {
        let mut got = Vec::new();
        let reading = async {
            while !String::from_utf8_lossy(&got).contains(text) {
                assert!(self.io.read_buf(&mut got).await.unwrap() > 0, "it ended: {}", String::from_utf8_lossy(&got));
            }
        };
        timeout(PATIENCE, reading).await.unwrap_or_else(|_| panic!("{text:?} never came"));
        String::from_utf8(got).unwrap()
    }

    /// Everything until the connection ends, and how it ends.
    pub(crate) async fn rest(&mut self) -> (String, Ended) {
        let mut got = Vec::new();
        let ended = timeout(PATIENCE, async {
            loop {
                match self.io.read_buf(&mut got).await {
                    Ok(0) => return Ended::Closed,
                    Ok(_) => {}
                    Err(error) if error.kind() == ErrorKind::ConnectionReset => return Ended::Reset,
                    Err(error) => panic!("{error}"),
                }
            }
        });
        let ended = ended.await.expect("the connection ends");
        (String::from_utf8(got).unwrap(), ended)
    }

    /// What is there already, without waiting for more than the peer has surely said.
    pub(crate) async fn nothing_more(&mut self) -> Ended {
        let mut got = [0; 1];
        match timeout(Duration::from_millis(50), self.io.read(&mut got)).await {
            Err(_) => Ended::Open,
            Ok(Ok(0)) => Ended::Closed,
            Ok(Ok(_)) => panic!("a byte came"),
            Ok(Err(_)) => Ended::Reset,
        }
    }
}

/// One request on a connection of its own; what came back until the end.
pub(crate) async fn ask(relay: &Relay, request: &str) -> (String, Ended) {
    let mut caller = Caller::at(relay.addr()).await;
    caller.say(request).await;
    caller.rest().await
}

/// The same request, and the connection is to close after it.
pub(crate) fn closing(request: &str) -> String {
    request.replacen("\r\n", "\r\nConnection: close\r\n", 1)
}
