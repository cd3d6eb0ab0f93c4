//! Cases that need real sockets: the HTTP and mail connectors through the engine, against peers with a ledger.

use std::{collections::BTreeMap, sync::Arc};

use effectgate_core::ids::EffectType;
use effectgate_engine::{
    connect::{
        http::HttpLimits,
        smtp::{SmtpLimits, SmtpServer, SmtpTls},
        tls::Tls,
    },
    connector::Connector,
    connectors::{
        Auth, Content, HttpConnector, HttpSettings, KeyPlace, RequestSettings, SmtpConnector, SmtpSettings, WriteMethod,
    },
    propose::Proposal,
};
use effectgate_testkit::{
    provider::{Act, ScriptedProvider, Step},
    smtp::{At, Fault, SmtpScript, SmtpStub},
};
use secrecy::SecretString;

use crate::{
    common::{Held, Options, World},
    handed,
};

/// Long enough for a busy machine; `first_byte_ms` is what a silent peer costs a test.
fn http(url: &str, first_byte_ms: u64) -> Arc<dyn Connector> {
    let note = RequestSettings {
        method: WriteMethod::Post,
        path: "/notes".to_owned(),
        body: None,
        content: Content::Json,
        headers: Vec::new(),
        external_id: Some("/id".to_owned()),
        success: None,
    };
    let settings = HttpSettings {
        url: url.parse().unwrap(),
        allow_private: true,
        auth: Some(Auth::Bearer(SecretString::from("s3cret"))),
        key: KeyPlace::default(),
        replayed: None,
        limits: HttpLimits { connect_ms: 20_000, first_byte_ms, total_ms: 20_000, answer_bytes_max: 4_096 },
        effects: BTreeMap::from([(EffectType::new("note"), note)]),
        lookup: None,
        door: None,
    };
    Arc::new(HttpConnector::new(&settings, Tls::new(None).unwrap()).unwrap())
}

async fn over_http(script: impl IntoIterator<Item = Step>) -> (ScriptedProvider, World) {
    let provider = ScriptedProvider::start(script).await;
    let connector = Some(http(&provider.url(), 20_000));
    (provider, World::with(Options { connector, attempts_max: 4, ..Options::default() }))
}

async fn sent(world: &World) -> Held {
    let held = world.queued("k", "c-1").await;
    world.round().await;
    held
}

#[tokio::test]
async fn hc_20_a_connection_that_ends_after_the_request_is_unknown_and_is_seen_once() {
    for act in [Act::ReadThenClose, Act::ReadThenReset, Act::HalfHeadThenClose, Act::ContinueThenClose] {
        let (provider, world) = over_http([Step::created(), act.clone().into()]).await;
        let first = sent(&world).await;
        let second = world.queued("k2", "c-1").await;
        world.round().await;
        assert_eq!(world.effect_state(second.run.id).await, "unknown", "{act:?}");
        world.pass(3, 60_000).await;

        let ledger = provider.ledger();
        assert_eq!((ledger.requests.len(), ledger.connections), (2, 2), "{act:?}: one fresh connection an attempt");
        assert_eq!(world.effect_state(first.run.id).await, "completed");
        assert_eq!(world.effect_state(second.run.id).await, "review", "{act:?}");
        let attempts = world.store.attempt_list(second.run.id).await.unwrap();
        let end = attempts[0].end.as_ref().unwrap();
        assert!(attempts.len() == 1 && end.bytes_sent > 0 && end.detail.is_some(), "{act:?}: {end:?}");
    }
}

#[tokio::test]
async fn hc_22_nothing_follows_a_redirect() {
    let elsewhere = ScriptedProvider::start([]).await;
    for status in ["302 Found", "301 Moved Permanently", "303 See Other", "307 Temporary Redirect"] {
        for location in [format!("{}/landing", elsewhere.url()), "/landing".to_owned()] {
            let text = handed!("hc22-provider-302.http")
                .replace("302 Found", status)
                .replace("https://other.example.test/landing", &location);
            let (provider, world) = over_http([Act::Raw { text }.into()]).await;

            let held = sent(&world).await;
            world.pass(5, 60_000).await;

            let effect = &world.agg(held.run.id).await.effects[0];
            assert_eq!((effect.state.as_str(), effect.reason.as_deref()), ("failed", Some("redirect")), "{status}");
            assert_eq!(provider.ledger().requests.len(), 1, "{status} to {location}");
        }
    }
    assert_eq!(elsewhere.ledger().connections, 0, "no key, body or credential went there");
}

#[tokio::test]
async fn hc_23_requests_at_the_stub_are_the_attempts_on_record() {
    let (provider, world) = over_http([]).await;
    provider.set_default(Step::answer_with(503, "Retry-After", "1"));
    let held = sent(&world).await;
    world.pass(30, 60_000).await;

    let attempts = world.store.attempt_list(held.run.id).await.unwrap();
    assert_eq!((provider.ledger().requests.len(), attempts.len()), (4, 4));
    assert_eq!(world.effect_state(held.run.id).await, "failed");
}

#[tokio::test]
async fn hc_23_a_silent_advisory_provider_is_written_to_once() {
    let provider = ScriptedProvider::start([Act::ReadThenSilence.into()]).await;
    let connector = Some(http(&provider.url(), 200));
    let world = World::with(Options { connector, ..Options::default() });

    let held = sent(&world).await;
    assert_eq!(world.effect_state(held.run.id).await, "unknown");
    world.pass(30, 60_000).await;

    assert_eq!(provider.ledger().requests.len(), 1);
    assert_eq!(world.store.attempt_list(held.run.id).await.unwrap().len(), 1);
}

#[tokio::test]
async fn hc_23_a_closed_port_is_tried_as_often_as_it_says_and_nothing_arrives() {
    let gone = ScriptedProvider::start([]).await.url();
    // The listener is gone with the provider; its port answers with a reset.
    let world = World::with(Options { connector: Some(http(&gone, 20_000)), attempts_max: 4, ..Options::default() });
    let held = sent(&world).await;
    world.pass(30, 60_000).await;

    assert_eq!(world.store.attempt_list(held.run.id).await.unwrap().len(), 4);
    let effect = &world.agg(held.run.id).await.effects[0];
    assert_eq!((effect.state.as_str(), effect.reason.as_deref()), ("failed", Some("attempts_exhausted")));
}

async fn over_smtp(script: SmtpScript, final_reply_timeout_ms: u64, total_ms: u64) -> (SmtpStub, World) {
    let stub = SmtpStub::start(script).await;
    let server = SmtpServer {
        host: "127.0.0.1".to_owned(),
        port: stub.address().port(),
        tls: SmtpTls::None,
        credentials: None,
        hello_name: "gate.example.test".to_owned(),
    };
    let settings = SmtpSettings {
        server,
        from: "gate@example.test".to_owned(),
        allow_private: true,
        limits: SmtpLimits { connect_ms: 20_000, total_ms, final_reply_timeout_ms },
        effects: [EffectType::new("note")].into(),
    };
    let connector: Arc<dyn Connector> = Arc::new(SmtpConnector::new(settings, Tls::new(None).unwrap()).unwrap());
    (stub, World::with(Options { connector: Some(connector), smtp: true, ..Options::default() }))
}

const MAIL: &str = r#"{"to":"anna@example.test","subject":"Refund","text":"Hello"}"#;

async fn mailed(world: &World) -> Held {
    let held = world.grant("k", "w").await;
    let queued = world.propose(&held, &[("note", "anna@example.test", MAIL)]).await;
    assert!(matches!(queued, Proposal::Queued { .. }), "{queued:?}");
    world.round().await;
    held
}

#[tokio::test]
async fn hc_28_silence_after_the_final_dot_is_unknown_and_the_mail_is_stored_once() {
    for fault in [Fault::Silence, Fault::Close, Fault::Reset, Fault::Hold] {
        let (stub, world) = over_smtp(SmtpScript::failing(At::Dot, fault.clone()), 200, 20_000).await;

        let held = mailed(&world).await;
        stub.release();
        assert_eq!(world.effect_state(held.run.id).await, "unknown", "{fault:?}");
        world.pass(3, 60_000).await;

        let messages = stub.ledger().messages;
        assert_eq!(messages.len(), 1, "{fault:?}");
        assert_eq!(world.effect_state(held.run.id).await, "review", "{fault:?}");
        let told = world.engine.explain(&world.caller.tenant, held.run.id).await.unwrap();
        assert_eq!(messages[0].header("Message-ID"), [told.effects[0].handle.clone().unwrap()], "what to search for");
    }
}

#[tokio::test]
async fn hc_28_silence_before_the_message_is_a_plain_retry() {
    for at in [At::Greeting, At::Mail, At::Rcpt, At::Data] {
        let (stub, world) = over_smtp(SmtpScript::failing(at, Fault::Silence), 20_000, 200).await;

        let held = mailed(&world).await;

        assert_eq!(world.effect_state(held.run.id).await, "pending", "{at:?}");
        assert!(stub.ledger().messages.is_empty());
    }
}

/// The run of a mail as a model wrote it: what became of it, and what the stub stored.
async fn written(payload: &str) -> (Proposal, SmtpStub) {
    let (stub, world) = over_smtp(SmtpScript::default(), 20_000, 20_000).await;
    let held = world.grant("k", "w").await;
    let answer = world.propose(&held, &[("note", "anna@example.test", payload)]).await;
    world.round().await;
    (answer, stub)
}

#[tokio::test]
async fn hc_29_a_line_break_in_a_subject_is_refused_before_anybody_approves_it() {
    let (answer, stub) = written(handed!("hc29-output.json")).await;

    let Proposal::Invalid { findings, .. } = answer else { panic!("{answer:?}") };
    assert_eq!(findings[0].pointer, "/effects/0/payload/subject");
    assert_eq!(stub.ledger().connections, 0);
}

#[tokio::test]
async fn hc_29_an_encoded_line_break_stays_text_and_adds_nobody() {
    let (answer, stub) = written(handed!("hc29-encoded.json")).await;

    assert!(matches!(answer, Proposal::Queued { .. }), "{answer:?}");
    let mail = &stub.ledger().messages[0];
    assert_eq!(mail.rcpt_to, ["anna@example.test"]);
    assert!(mail.header("Bcc").is_empty() && mail.header("X-Note").is_empty(), "{}", mail.data);
    assert!(!mail.data.contains("attacker"), "the word is encoded again, not passed on to be decoded");
}

#[tokio::test]
async fn hc_29_two_addresses_in_one_are_refused() {
    let (answer, stub) = written(handed!("hc29-to.json")).await;

    let Proposal::Invalid { findings, .. } = answer else { panic!("{answer:?}") };
    assert_eq!(findings[0].pointer, "/effects/0/payload/to");
    assert_eq!(stub.ledger().connections, 0);
}
