//! Mail through the relay: what was said, or not, after the final dot; and subjects in which a model wrote line breaks.
//! The mail server that stores what it takes is asked what really happened.

use effectgate_relay::{Fault, Phase, Relay, RelaySettings, Rule, Upstream};
use effectgate_testkit::smtp::{At, Fault as Broken, SmtpScript, SmtpStub};
use serde_json::{Value, json};

use crate::{
    config::ungated,
    ground::{Answer, Backend, Calls as _, Ground, eventually},
    support::Gate,
    world::BRISK,
};

/// Goes on after the port.
const POST: &str = r#"
tls = "none"
from = "gate@house.test"
allow_private = true
timeout_ms = 5_000
sending_margin_ms = 500
final_reply_timeout_ms = 1_000
backoff = { base_ms = 100, max_ms = 500 }
breaker = { failures = 100 }
[providers.post.effects.act]
"#;

const OWNER: &str = "worker-1";
const ANNA: &str = "anna@example.test";

/// A gate whose mail goes through a relay.
struct Post {
    ground: Ground,
    gate: Gate,
    relay: Relay,
    stub: SmtpStub,
}

impl Post {
    async fn new(script: SmtpScript) -> Self {
        let stub = SmtpStub::start(script).await;
        let (host, port) = ("127.0.0.1".to_owned(), stub.address().port());
        let relay = Relay::start(RelaySettings::to(Upstream::Smtp { host, port })).await.unwrap();
        let post =
            format!("[providers.post]\nkind = \"smtp\"\nhost = \"127.0.0.1\"\nport = {}{POST}", relay.addr().port());
        let config = BRISK.with(&[&post, &ungated("letters", "act", "post")]);
        let ground = Ground::new(Backend::Sqlite, &config).await.unwrap();
        let gate = ground.serve();
        Self { ground, gate, relay, stub }
    }

    /// A worker proposes one mail; the run, and what the gate said.
    fn proposed(&self, key: &str, target: &str, payload: &Value) -> (String, Answer) {
        let granted = self.gate.reserve("letters", key, OWNER).unwrap();
        let run = granted.run_id();
        let effect = json!({ "type": "act", "target": target, "payload": payload });
        let more = json!({ "output": {}, "effects": [effect] });
        let answer = self.gate.under_lease("proposal", &run, (OWNER, granted.fence()), &more).unwrap();
        (run, answer)
    }

    fn sent(&self, key: &str) -> String {
        let (run, answer) = self.proposed(key, ANNA, &json!({ "to": ANNA, "subject": "Hello", "text": "Dear Anna" }));
        assert_eq!(answer.status, 200, "{}", answer.body);
        run
    }

    /// Waits until the sweeper has looked three times more at what is due.
    fn three_sweeps(&self) {
        for _ in 0..3 {
            let ticks = || self.gate.get("/readyz")["workers"].clone();
            let before = ticks();
            let differ = |now: &Value| {
                let pairs = before.as_array().unwrap().iter().zip(now.as_array().unwrap());
                pairs.into_iter().all(|(before, now)| before["last_tick_at"] != now["last_tick_at"])
            };
            eventually("another tick of each worker", || differ(&ticks()).then_some(()));
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hc_28_silence_after_the_final_dot_is_unknown_and_the_mail_is_stored_once() {
    let post = Post::new(SmtpScript::default()).await;
    let faults = [
        Fault::Silence(Phase::AfterForward),
        Fault::Close(Phase::AfterForward),
        Fault::Reset(Phase::AfterForward),
        Fault::ForwardThenDropResponse,
    ];
    for (n, fault) in faults.into_iter().enumerate() {
        post.relay.add_rule(Rule::next(fault)).unwrap();
        let run = post.sent(&format!("mail:{n}"));

        let story = post.gate.until_effect(&run, &["review"]);
        post.three_sweeps();

        let messages = post.stub.ledger().messages;
        assert_eq!(messages.len(), n + 1, "{fault:?}: one mail each, and none a second time");
        let handle = story["effects"][0]["handle"].as_str().unwrap();
        assert_eq!(messages[n].header("Message-ID"), [handle], "what a person searches for is on the mail");
        assert_eq!(story["effects"][0]["attempts"].as_array().unwrap().len(), 1, "{fault:?}");
        let effect = story["effects"][0]["id"].as_str().unwrap();
        let look = post.gate.call("POST", &format!("/v1/effects/{effect}/look"), &json!({})).unwrap();
        assert!(look.body["text"].as_str().unwrap().contains("Search for the Message-ID"), "{}", look.body);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hc_28_a_250_after_the_client_gave_up_changes_nothing() {
    let post = Post::new(SmtpScript::failing(At::Dot, Broken::Hold)).await;
    let run = post.sent("mail:1");
    post.gate.until_effect(&run, &["review"]);

    post.stub.release();
    post.three_sweeps();

    let story = post.gate.until_effect(&run, &["review"]);
    assert_eq!((post.stub.ledger().messages.len(), &story["sent"]), (1, &json!("unknown")), "{story:#}");
    assert_eq!(post.ground.verify()["verified"], true);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hc_28_a_failure_before_the_message_is_a_plain_retry() {
    let post = Post::new(SmtpScript::default()).await;
    post.relay.add_rule(Rule::next(Fault::FailBeforeForward)).unwrap();

    let run = post.sent("mail:1");
    let story = post.gate.until_effect(&run, &["completed"]);

    let attempts = story["effects"][0]["attempts"].as_array().unwrap();
    let outcomes: Vec<_> = attempts.iter().map(|attempt| attempt["outcome"].as_str().unwrap()).collect();
    assert_eq!((outcomes, post.stub.ledger().messages.len()), (vec!["not_sent", "applied"], 1), "{story:#}");
}

/// The handed payload, in our words: its `body` is our `text`.
fn handed(file: &str) -> (String, Value) {
    let mut payload: Value = serde_json::from_str(file).unwrap();
    let text = payload.as_object_mut().unwrap().remove("body").unwrap();
    payload["text"] = text;
    (payload["to"].as_str().unwrap().to_owned(), payload)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hc_29_line_breaks_in_a_subject_and_a_second_address_are_refused_before_anything_leaves() {
    let post = Post::new(SmtpScript::default()).await;
    for file in [include_str!("../data/hc29-output.json"), include_str!("../data/hc29-to.json")] {
        let (to, payload) = handed(file);
        let (_, answer) =
            post.proposed(&format!("mail:{to}:{}", payload["subject"].as_str().unwrap().len()), &to, &payload);

        assert_eq!((answer.status, answer.code()), (422, "invalid_output"), "{}", answer.body);
        let pointers: Vec<_> = answer.body["errors"].as_array().unwrap().iter().map(|e| e["pointer"].clone()).collect();
        assert!(
            !pointers.is_empty() && pointers.iter().all(|p| p.as_str().unwrap().starts_with("/effects/0")),
            "{}",
            answer.body
        );
    }
    post.three_sweeps();
    assert_eq!(post.stub.ledger().connections, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hc_29_an_encoded_line_break_stays_text_and_adds_nobody() {
    let post = Post::new(SmtpScript::default()).await;
    let (to, payload) = handed(include_str!("../data/hc29-encoded.json"));
    let (run, answer) = post.proposed("mail:1", &to, &payload);
    assert_eq!(answer.status, 200, "{}", answer.body);

    post.gate.until_effect(&run, &["completed"]);

    let messages = post.stub.ledger().messages;
    assert_eq!((messages.len(), &messages[0].rcpt_to), (1, &vec![ANNA.to_owned()]));
    for header in ["Bcc", "X-Note", "Cc"] {
        assert!(messages[0].header(header).is_empty(), "{}", messages[0].data);
    }
    assert_eq!(messages[0].header("To").len(), 1);
}
