//! `effectgate relay` as its users start it.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Child, ChildStdout, Stdio},
};

use effectgate_testkit::provider::ScriptedProvider;
use serde_json::{Value, json};

use crate::support::{effectgate, said};

/// A relay in a process of its own. Killed when dropped.
struct Running {
    child: Child,
    lines: BufReader<ChildStdout>,
    first: Value,
}

impl Running {
    fn start(args: &[&str], variables: &[(&str, &str)]) -> Self {
        let always = ["relay", "--listen", "127.0.0.1:0", "--control", "127.0.0.1:0", "--json", "--until-stdin-closes"];
        let mut command = effectgate(&[&always[..], args].concat());
        command.envs(variables.iter().copied()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        let mut running = Self { child, lines, first: Value::Null };
        running.first = running.line();
        running
    }

    fn line(&mut self) -> Value {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line:?}"))
    }

    /// Everything that comes back for a request to the address that the first line names so.
    fn ask(&self, of: &str, request: &str) -> String {
        let url = self.first[of].as_str().unwrap();
        let mut stream = TcpStream::connect(url.strip_prefix("http://").unwrap()).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    fn post(&self) -> String {
        self.ask("listening", "POST /refunds HTTP/1.1\r\nHost: r\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_relay_loses_the_first_answer_tells_each_exchange_and_counts_at_the_end() {
    let provider = ScriptedProvider::start([]).await;
    let args = ["--upstream", &provider.url(), "--mode", "forward-then-drop-response", "--times", "1"];
    let mut relay = Running::start(&args, &[]);
    assert_eq!((&relay.first["upstream"], &relay.first["mode"]), (&json!(provider.url()), &json!(args[3])));

    let (first, second) = (relay.post(), relay.post());

    assert!(first.is_empty() && second.ends_with(r#"{"id":"pred_2"}"#), "{first:?} {second:?}");
    let (dropped, answered) = (relay.line(), relay.line());
    assert_eq!(
        (&dropped["outcome"], &dropped["by"], &dropped["status"]),
        (&json!("dropped"), &json!("rule"), &json!(201))
    );
    assert_eq!((&answered["outcome"], &answered["by"]), (&json!("answered"), &json!("mode")));
    let counts = relay.ask("control", "GET /counts HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    assert!(counts.contains(r#""dropped":1"#), "{counts}");
    drop(relay.child.stdin.take());
    let last = relay.line();
    assert_eq!((&last["counts"]["seen"], &last["counts"]["forwarded"]), (&json!(2), &json!(2)));
    assert!(relay.child.wait().unwrap().success());
    assert_eq!(provider.ledger().executions.len(), 2, "a caller that tried again has made two");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_environment_names_the_mode_and_the_flag_beats_it() {
    let provider = ScriptedProvider::start([]).await;
    let variables = [("EFFECTGATE_RELAY_MODE", "duplicate")];

    let by_environment = Running::start(&["--upstream", &provider.url()], &variables);
    let by_flag = Running::start(&["--upstream", &provider.url(), "--mode", "close-mid-answer"], &variables);

    assert_eq!(
        (&by_environment.first["mode"], &by_flag.first["mode"]),
        (&json!("duplicate"), &json!("close-mid-answer"))
    );
}

#[test]
fn a_relay_that_must_not_or_cannot_start_says_why() {
    for (args, code, word) in [
        (&["--upstream", "http://192.0.2.1"][..], 4, "public_upstream"),
        (&["--upstream", "http://127.0.0.1:9", "--control", "0.0.0.0:0"], 4, "control_not_loopback"),
        (&["--upstream", "ftp://127.0.0.1"], 2, "usage"),
        (&["--smtp", "127.0.0.1"], 2, "usage"),
        (&["--upstream", "http://nowhere.invalid"], 5, "upstream_unresolved"),
        (&["--upstream", "http://127.0.0.1:9", "--listen", "192.0.2.1:1"], 5, "cannot_listen"),
    ] {
        let refused = said(&mut effectgate(&[&["relay", "--json"][..], args].concat()));

        let error: Value = serde_json::from_str(&refused.err).unwrap();
        assert_eq!((refused.code, &error["error"]["code"]), (code, &json!(word)), "{args:?}: {}", refused.err);
    }
}
