//! An SMTP server that stores what it accepts and breaks on purpose, at any phase. Plain TCP only; what it stored is
//! the truth a test asks for, never the client's report.

mod mime;

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinHandle;

/// Longest wait in [`SmtpStub::until`]: far above any machine's hiccup, below a test runner's patience.
const UNTIL_S_MAX: u64 = 30;

/// Where in the dialogue a fault strikes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum At {
    Greeting,
    Ehlo,
    Auth,
    Mail,
    Rcpt,
    Data,
    /// While the message is being received: struck after its first line.
    Message,
    /// After the final dot. Everything but a reply of 4xx or 5xx has stored the message first.
    Dot,
}

/// What happens there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// This line instead of the usual one, such as `451 4.3.0 try again later`.
    Reply(String),
    /// Closes the connection (FIN).
    Close,
    /// Resets the connection.
    Reset,
    /// Says nothing; the socket stays open until the client leaves.
    Silence,
    /// Says the usual thing, but only after [`SmtpStub::release`].
    Hold,
}

/// How one stub behaves, for every connection.
#[derive(Debug, Clone, Default)]
pub struct SmtpScript {
    pub faults: HashMap<At, Fault>,
    /// Recipients refused, with the reply line.
    pub refused: HashMap<String, String>,
    /// The lines that AUTH wants, as sent: one for `AUTH PLAIN …`, three for `AUTH LOGIN`, user, password. The mechanism
    /// of the first line is offered.
    pub auth: Vec<String>,
    /// More lines for the answer to EHLO, such as `STARTTLS`.
    pub extensions: Vec<String>,
}

/// One stored message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredMail {
    pub mail_from: String,
    /// The addresses of RCPT TO, in order.
    pub rcpt_to: Vec<String>,
    /// The message as it came, dot-stuffing taken off, without the final dot.
    pub data: String,
}

/// Everything a stub saw.
#[derive(Debug, Clone, Default)]
pub struct SmtpLedger {
    pub connections: u64,
    /// Command lines, message lines left out.
    pub commands: Vec<String>,
    pub messages: Vec<StoredMail>,
}

/// A running stub on a free port of 127.0.0.1. Dropping it stops new connections.
pub struct SmtpStub {
    shared: Arc<Shared>,
    address: SocketAddr,
    task: JoinHandle<()>,
}

struct Shared {
    script: Mutex<SmtpScript>,
    ledger: Mutex<SmtpLedger>,
    changed: watch::Sender<u64>,
    releases: Semaphore,
}

impl SmtpScript {
    /// A script with one fault.
    #[must_use]
    pub fn failing(at: At, fault: Fault) -> Self {
        Self { faults: HashMap::from([(at, fault)]), ..Self::default() }
    }

    /// A script that answers one phase with this line.
    #[must_use]
    pub fn replying(at: At, line: &str) -> Self {
        Self::failing(at, Fault::Reply(line.to_owned()))
    }
}

impl StoredMail {
    /// The values of a header, unfolded, in order.
    #[must_use]
    pub fn header(&self, name: &str) -> Vec<String> {
        let head = self.data.split("\r\n\r\n").next().unwrap_or_default().replace("\r\n ", " ").replace("\r\n\t", " ");
        head.split("\r\n")
            .filter_map(|line| line.split_once(':'))
            .filter(|(n, _)| n.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.trim().to_owned())
            .collect()
    }
}

impl StoredMail {
    /// The texts of the message, decoded, with their content types; a message of one part has one.
    #[must_use]
    pub fn texts(&self) -> Vec<(String, String)> {
        mime::texts(&self.data)
    }
}

impl SmtpStub {
    /// Starts a stub.
    ///
    /// # Panics
    /// If no port can be had.
    pub async fn start(script: SmtpScript) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port on 127.0.0.1");
        let address = listener.local_addr().expect("a bound listener has an address");
        let shared = Arc::new(Shared {
            script: Mutex::new(script),
            ledger: Mutex::new(SmtpLedger::default()),
            changed: watch::Sender::new(0),
            releases: Semaphore::new(0),
        });
        let for_task = Arc::clone(&shared);
        let task = tokio::spawn(async move {
            while let Ok((io, _)) = listener.accept().await {
                tokio::spawn(Session::serve(io, Arc::clone(&for_task)));
            }
        });
        Self { shared, address, task }
    }

    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Changes the behaviour of connections accepted from now on.
    pub fn set_script(&self, script: SmtpScript) {
        *lock(&self.shared.script) = script;
    }

    /// Lets one held reply go.
    pub fn release(&self) {
        self.shared.releases.add_permits(1);
    }

    #[must_use]
    pub fn ledger(&self) -> SmtpLedger {
        lock(&self.shared.ledger).clone()
    }

    /// Waits until the ledger shows what the test needs; no polling.
    ///
    /// # Panics
    /// After 30 seconds, with the ledger as it is then.
    pub async fn until(&self, shows: impl Fn(&SmtpLedger) -> bool) -> SmtpLedger {
        let mut changes = self.shared.changed.subscribe();
        let waiting = async {
            while !shows(&self.ledger()) {
                if changes.changed().await.is_err() {
                    break;
                }
            }
        };
        let waited = tokio::time::timeout(Duration::from_secs(UNTIL_S_MAX), waiting).await;
        assert!(waited.is_ok(), "the ledger never showed it: {:#?}", self.ledger());
        self.ledger()
    }
}

impl Drop for SmtpStub {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Shared {
    fn note(&self, change: impl FnOnce(&mut SmtpLedger)) {
        change(&mut lock(&self.ledger));
        self.changed.send_modify(|n| *n += 1);
    }
}

/// The connection goes on, or is over.
type Goes = Option<()>;

struct Session {
    io: BufReader<TcpStream>,
    shared: Arc<Shared>,
    script: SmtpScript,
    mail_from: String,
    rcpt_to: Vec<String>,
}

impl Session {
    async fn serve(io: TcpStream, shared: Arc<Shared>) {
        let script = lock(&shared.script).clone();
        shared.note(|ledger| ledger.connections += 1);
        let mut session =
            Self { io: BufReader::new(io), shared, script, mail_from: String::new(), rcpt_to: Vec::new() };
        let _ = session.dialogue().await;
    }

    async fn dialogue(&mut self) -> Goes {
        self.answer(At::Greeting, "220 stub.example.test ESMTP").await?;
        loop {
            let line = self.line().await?;
            self.shared.note(|ledger| ledger.commands.push(line.clone()));
            let verb = line.split([' ', ':']).next().unwrap_or_default().to_ascii_uppercase();
            match verb.as_str() {
                "EHLO" | "HELO" => self.ehlo().await?,
                "AUTH" => self.auth(&line).await?,
                "MAIL" => self.mail(&line).await?,
                "RCPT" => self.rcpt(&line).await?,
                "DATA" => self.data().await?,
                "RSET" => {
                    self.rcpt_to.clear();
                    self.say("250 2.0.0 reset").await?;
                }
                "QUIT" => {
                    self.say("221 2.0.0 bye").await?;
                    return None;
                }
                _ => self.say("500 5.5.1 unknown command").await?,
            }
        }
    }

    async fn ehlo(&mut self) -> Goes {
        let mut lines = vec!["stub.example.test".to_owned(), "8BITMIME".to_owned()];
        lines.extend(self.script.auth.first().map(|line| line.split(' ').take(2).collect::<Vec<_>>().join(" ")));
        lines.extend(self.script.extensions.clone());
        let last = lines.pop().unwrap_or_default();
        let more: String = lines.iter().map(|line| format!("250-{line}\r\n")).collect();
        self.answer(At::Ehlo, &format!("{more}250 {last}")).await
    }

    async fn auth(&mut self, line: &str) -> Goes {
        let wanted = self.script.auth.clone();
        let mut said = line.to_owned();
        for (at, want) in wanted.iter().enumerate() {
            if said != *want {
                break;
            }
            if at + 1 == wanted.len() {
                return self.answer(At::Auth, "235 2.7.0 welcome").await;
            }
            self.say("334 ").await?;
            said = self.line().await?;
        }
        self.say("535 5.7.8 credentials refused").await
    }

    async fn mail(&mut self, line: &str) -> Goes {
        self.mail_from = address_in(line);
        self.rcpt_to.clear();
        self.answer(At::Mail, "250 2.1.0 sender ok").await
    }

    async fn rcpt(&mut self, line: &str) -> Goes {
        let address = address_in(line);
        if let Some(reply) = self.script.refused.get(&address).cloned() {
            return self.say(&reply).await;
        }
        self.rcpt_to.push(address);
        self.answer(At::Rcpt, "250 2.1.5 recipient ok").await
    }

    async fn data(&mut self) -> Goes {
        if self.is_refusing(At::Data) {
            return self.answer(At::Data, "").await;
        }
        self.answer(At::Data, "354 end with a dot").await?;
        let data = self.message().await?;
        if !self.is_refusing(At::Dot) {
            let mail = StoredMail { mail_from: self.mail_from.clone(), rcpt_to: self.rcpt_to.clone(), data };
            self.shared.note(|ledger| ledger.messages.push(mail));
        }
        self.answer(At::Dot, "250 2.0.0 queued as stub-1").await
    }

    async fn message(&mut self) -> Option<String> {
        let mut data = String::new();
        loop {
            let mut line = String::new();
            if self.io.read_line(&mut line).await.ok()? == 0 {
                return None;
            }
            if self.script.faults.contains_key(&At::Message) {
                self.answer(At::Message, "").await?;
            }
            if line == ".\r\n" {
                return Some(data);
            }
            data.push_str(line.strip_prefix('.').unwrap_or(&line));
        }
    }

    fn is_refusing(&self, at: At) -> bool {
        matches!(self.script.faults.get(&at), Some(Fault::Reply(line)) if line.starts_with(['4', '5']))
    }

    /// Says the usual line, or does what the script wants here instead.
    async fn answer(&mut self, at: At, usual: &str) -> Goes {
        match self.script.faults.get(&at).cloned() {
            None => self.say(usual).await,
            Some(Fault::Reply(line)) => self.say(&line).await,
            Some(Fault::Close) => None,
            Some(Fault::Reset) => {
                let _ = self.io.get_ref().set_zero_linger();
                None
            }
            Some(Fault::Silence) => {
                let mut sink = [0; 4096];
                while matches!(self.io.read(&mut sink).await, Ok(n) if n > 0) {}
                None
            }
            Some(Fault::Hold) => {
                if let Ok(permit) = self.shared.releases.acquire().await {
                    permit.forget();
                }
                self.say(usual).await
            }
        }
    }

    async fn say(&mut self, line: &str) -> Goes {
        self.io.write_all(format!("{line}\r\n").as_bytes()).await.ok()
    }

    async fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = self.io.read_line(&mut line).await.ok()?;
        (read > 0).then(|| line.trim_end().to_owned())
    }
}

fn address_in(line: &str) -> String {
    let inside = line.split_once('<').and_then(|(_, rest)| rest.split_once('>'));
    inside.map(|(address, _)| address.to_owned()).unwrap_or_default()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("no code under this lock panics")
}
