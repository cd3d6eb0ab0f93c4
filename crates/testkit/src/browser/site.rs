//! A web site of somebody else on another port of this machine, which is another origin: pages given by the test, and a
//! list of everything that anyone asked it for. Serves attacks from a foreign page, and catches what leaks to one.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};

type Pages = dyn Fn(&str) -> String + Send + Sync;

/// A running site. Dropping it stops new connections.
pub struct Site {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
    task: JoinHandle<()>,
}

impl Site {
    /// Starts a site that answers a path with the HTML that `pages` gives for it.
    ///
    /// # Panics
    /// If no port can be had.
    pub async fn start(pages: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port on 127.0.0.1");
        let address = listener.local_addr().expect("a bound listener has an address");
        let asked = Arc::<Mutex<Vec<String>>>::default();
        let (noted, pages): (_, Arc<Pages>) = (Arc::clone(&asked), Arc::new(pages));
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(answer(stream, Arc::clone(&noted), Arc::clone(&pages)));
            }
        });
        Self { address, asked, task }
    }

    /// `http://127.0.0.1:PORT`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The request lines so far, such as `GET /x HTTP/1.1`.
    #[must_use]
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// One request, one answer, and the connection ends. A body that came along is left unread.
async fn answer(stream: TcpStream, asked: Arc<Mutex<Vec<String>>>, pages: Arc<Pages>) -> Option<()> {
    let mut stream = BufReader::new(stream);
    let mut first = String::new();
    stream.read_line(&mut first).await.ok()?;
    let mut line = String::from("-");
    while !line.trim_end().is_empty() {
        line.clear();
        stream.read_line(&mut line).await.ok()?;
    }
    asked.lock().unwrap_or_else(PoisonError::into_inner).push(first.trim_end().to_owned());
    let page = pages(first.split(' ').nth(1).unwrap_or("/"));
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/html; charset=utf-8\r\nconnection: close\r\ncontent-length";
    stream.write_all(format!("{head}: {}\r\n\r\n{page}", page.len()).as_bytes()).await.ok()?;
    stream.shutdown().await.ok()
}
