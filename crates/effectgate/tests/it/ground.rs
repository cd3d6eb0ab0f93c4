//! A house over either database, the calls of a worker and of a person, and waiting for what a server does in its own
//! time. A call gives `None` where no whole answer came, as when the server is killed under it.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    time::{Duration, Instant},
};

use effectgate_testkit::pg::test_database;
use serde_json::{Value, json};

use crate::support::{Gate, House, KEY, SQLITE, said};

#[derive(Debug, Clone, Copy)]
pub(crate) enum Backend {
    Sqlite,
    Postgres,
}

/// The same tests over both databases: a module each, so that a test's name says which.
macro_rules! on_both_backends {
    ($($name:ident;)+) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                super::$name(crate::ground::Backend::Sqlite).await;
            })+
        }
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                super::$name(crate::ground::Backend::Postgres).await;
            })+
        }
    };
}
pub(crate) use on_both_backends;

/// A house and its database.
pub(crate) struct Ground {
    pub(crate) house: House,
    url: String,
}

/// Longer than any machine's hiccup.
const PATIENCE: Duration = Duration::from_secs(90);
const PAUSE: Duration = Duration::from_millis(20);

impl Ground {
    /// A fresh database; none where PostgreSQL is asked for and there is none to test with. `config` says `DATABASE`
    /// where its address belongs.
    pub(crate) async fn new(backend: Backend, config: &str) -> Option<Self> {
        let url = match backend {
            Backend::Sqlite => SQLITE.to_owned(),
            Backend::Postgres => test_database().await?,
        };
        Some(Self::at(url, config))
    }

    pub(crate) fn at(url: String, config: &str) -> Self {
        Self { house: House::with(&config.replace("DATABASE", &url)), url }
    }

    pub(crate) fn serve(&self) -> Gate {
        self.house.serve(&[("EFFECTGATE_BOOTSTRAP_KEY", KEY)])
    }

    /// A server that does `action` when it comes to the failure point.
    pub(crate) fn serve_with(&self, point: &str, action: &str) -> Gate {
        let armed = format!("{point}={action}");
        self.house.serve(&[("EFFECTGATE_BOOTSTRAP_KEY", KEY), ("EFFECTGATE_FAILPOINT", &armed)])
    }

    /// Waits until a server has announced the failure point.
    pub(crate) fn until_at(&self, point: &str) {
        let line = format!("failpoint {point}");
        eventually(&line, || {
            let log = std::fs::read_to_string(self.house.path("server.log")).unwrap_or_default();
            log.lines().any(|l| l == line).then_some(())
        });
    }

    /// Runs a statement beside the server.
    pub(crate) async fn sql(&self, statement: &str) {
        if self.url == SQLITE {
            let file = rusqlite::Connection::open(self.house.path("gate.db")).unwrap();
            file.busy_timeout(PATIENCE).unwrap();
            return file.execute_batch(statement).unwrap();
        }
        let (client, connection) = tokio_postgres::connect(&self.url, tokio_postgres::NoTls).await.unwrap();
        let driver = tokio::spawn(connection);
        client.batch_execute(statement).await.unwrap();
        drop(client);
        driver.await.unwrap().unwrap();
    }

    /// A person with a local account.
    pub(crate) fn add_user(&self, name: &str, roles: &str) {
        let args = ["user", "add", name, "--roles", roles];
        let made = said(self.house.command(&args).env("EFFECTGATE_PASSWORD", PASSWORD));
        assert_eq!(made.code, 0, "{}", made.err);
    }

    /// `journal verify` as an auditor runs it, straight from the database.
    pub(crate) fn verify(&self) -> Value {
        self.house.run(&["journal", "verify", "--offline", "--json"]).json()
    }
}

const PASSWORD: &str = "long enough for us";

/// Asks again and again until there is something.
#[expect(clippy::disallowed_methods, reason = "another process gives no signal; bounded, and no test's time is in it")]
pub(crate) fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        assert!(began.elapsed() < PATIENCE, "never seen: {what}");
        std::thread::sleep(PAUSE);
    }
}

/// One whole answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    head: String,
    pub(crate) text: String,
    /// Null where it is no JSON.
    pub(crate) body: Value,
}

impl Answer {
    fn parse(bytes: &[u8]) -> Option<Self> {
        let end = bytes.windows(4).position(|w| w == b"\r\n\r\n")?;
        let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
        let body = &bytes[end + 4..];
        let mut answer = Self { status: head[9..12].parse().unwrap(), head, text: String::new(), body: Value::Null };
        let length: usize = answer.header("content-length").map_or(0, |text| text.parse().unwrap());
        if body.len() < length {
            return None;
        }
        answer.text = String::from_utf8(body.to_vec()).unwrap();
        answer.body = serde_json::from_str(&answer.text).unwrap_or_default();
        Some(answer)
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let fields = self.head.lines().filter_map(|line| line.split_once(": "));
        fields.into_iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    pub(crate) fn run_id(&self) -> String {
        self.body["run"]["id"].as_str().unwrap_or_else(|| panic!("no run: {self:?}")).to_owned()
    }

    pub(crate) fn fence(&self) -> i64 {
        self.body["lease"]["fence"].as_i64().unwrap_or_else(|| panic!("no lease: {self:?}"))
    }

    pub(crate) fn code(&self) -> &str {
        self.body["code"].as_str().unwrap_or_default()
    }
}

/// What a person needs to act: the cookie of a session.
pub(crate) struct Session(String);

/// The calls of a client, by a server's address.
pub(crate) trait Calls {
    fn address(&self) -> &str;

    /// One request as it stands.
    fn exchange(&self, method: &str, path: &str, fields: &[(&str, &str)], text: &str) -> Option<Answer> {
        let host = self.address().strip_prefix("http://").unwrap();
        let mut request = format!("{method} {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n");
        for (name, value) in fields {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        request.push_str(&format!("content-length: {}\r\n\r\n{text}", text.len()));
        let mut stream = TcpStream::connect(host).ok()?;
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(request.as_bytes()).ok()?;
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).ok()?;
        Answer::parse(&bytes)
    }

    fn ask(&self, method: &str, path: &str, fields: &[(&str, &str)], body: &Value) -> Option<Answer> {
        if body.is_null() {
            return self.exchange(method, path, fields, "");
        }
        let mut fields = fields.to_vec();
        fields.push(("content-type", "application/json"));
        self.exchange(method, path, &fields, &body.to_string())
    }

    /// A call with the API key.
    fn call(&self, method: &str, path: &str, body: &Value) -> Option<Answer> {
        self.ask(method, path, &[("authorization", &format!("Bearer {KEY}"))], body)
    }

    fn get(&self, path: &str) -> Value {
        let answer = self.call("GET", path, &Value::Null).unwrap_or_else(|| panic!("no answer: {path}"));
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        answer.body
    }

    fn reserve(&self, flow: &str, key: &str, owner: &str) -> Option<Answer> {
        let body = json!({ "flow": flow, "key": key, "payload": { "order": key }, "owner": owner });
        self.call("POST", "/v1/runs", &body)
    }

    fn under_lease(&self, verb: &str, run: &str, lease: (&str, i64), more: &Value) -> Option<Answer> {
        let mut body = json!({ "owner": lease.0, "fence": lease.1 });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.call("POST", &format!("/v1/runs/{run}/{verb}"), &body)
    }

    /// Proposes one effect whose target is the run itself.
    fn propose(&self, run: &str, lease: (&str, i64), payload: &Value) -> Option<Answer> {
        let effect = json!({ "type": "act", "target": "there", "payload": payload });
        self.under_lease("proposal", run, lease, &json!({ "output": {}, "effects": [effect] }))
    }

    fn sign_in(&self, user: &str) -> Session {
        let answer = self.ask("POST", "/v1/session", &[], &json!({ "user": user, "password": PASSWORD })).unwrap();
        assert_eq!(answer.status, 200, "{}", answer.body);
        Session(answer.header("set-cookie").unwrap().split(';').next().unwrap().to_owned())
    }

    fn decide(&self, session: &Session, approval: &Value, verdict: &str) -> Option<Answer> {
        let path = format!("/v1/approvals/{}/decide", approval["id"].as_str().unwrap());
        let body = json!({ "decision": verdict, "effects_hash": approval["effects_hash"], "reason": "a test" });
        self.ask("POST", &path, &[("cookie", &session.0), ("effectgate-csrf", "1")], &body)
    }

    /// Edits and approves.
    #[allow(dead_code, reason = "the tests of the pages share this file and need it")]
    fn edit(&self, session: &Session, approval: &Value, effects: &[Value]) -> Option<Answer> {
        let path = format!("/v1/approvals/{}/decide", approval["id"].as_str().unwrap());
        let body = json!({ "decision": "edit", "effects_hash": approval["effects_hash"], "effects": effects });
        self.ask("POST", &path, &[("cookie", &session.0), ("effectgate-csrf", "1")], &body)
    }

    fn explain(&self, run: &str) -> Value {
        self.get(&format!("/v1/runs/{run}/explain"))
    }

    /// Waits until the run's only effect is in one of the states, and gives the story.
    fn until_effect(&self, run: &str, states: &[&str]) -> Value {
        eventually(&format!("{run} {states:?}"), || {
            let story = self.explain(run);
            let state = story["effects"][0]["state"].as_str().unwrap_or_default();
            states.contains(&state).then_some(story)
        })
    }
}

impl Calls for Gate {
    fn address(&self) -> &str {
        &self.url
    }
}

/// The address alone, for clients that outlive a server.
impl Calls for String {
    fn address(&self) -> &str {
        self
    }
}

impl Gate {
    /// Waits until the process is gone.
    pub(crate) fn until_dead(&mut self) {
        eventually("the end of the server", || self.child.try_wait().unwrap());
    }
}
