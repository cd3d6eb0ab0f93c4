//! Connectors and channels against peers with a ledger: what leaves is what was decided, the same bytes every time, and
//! a lookup says only what is known.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::Arc;

use effectgate_core::{
    effect::{Effect, EffectState, Executor, provider_key},
    ids::{EffectId, EffectType, Fence, FlowName, ProviderName, RunId, Tenant},
    outcome::{Phase, Report},
    retry::Look,
    time::Timestamp,
};
use effectgate_engine::{
    clock::Clock,
    connect::{
        AlwaysOpen,
        http::HttpLimits,
        smtp::{SmtpLimits, SmtpServer, SmtpTls},
        tls::Tls,
    },
    connector::Connector,
    connectors::{
        Auth, Content, HttpConnector, HttpSettings, KeyPlace, LookupMethod, LookupSettings, MemberIs, RequestSettings,
        SettingError, SmtpConnector, SmtpSettings, WriteMethod,
    },
    notify::{
        Channel, Message,
        chat::{ChatChannel, ChatForm},
        mail::MailChannel,
    },
};
use effectgate_lang::Language;
use effectgate_testkit::{
    provider::{Lookup, ScriptedProvider, Step},
    smtp::{SmtpScript, SmtpStub},
};
use secrecy::SecretString;
use serde_json::json;

const PATIENT: HttpLimits =
    HttpLimits { connect_ms: 20_000, first_byte_ms: 20_000, total_ms: 20_000, answer_bytes_max: 4_096 };

fn tls() -> Tls {
    Tls::new(None).unwrap()
}

fn effect(kind: &str, target: &str, payload: &str) -> Effect {
    let run = RunId::derive(&Tenant::new("t"), &FlowName::new("f"), "k");
    let effect_type = EffectType::new(kind);
    let at = Timestamp::from_micros(1_790_000_000_123_456);
    Effect {
        id: EffectId { run, n: 1 },
        provider_key: provider_key(run, &effect_type, target),
        effect_type,
        target: target.to_owned(),
        provider: ProviderName::new("p"),
        executor: Executor::Dispatcher,
        state: EffectState::Sending,
        reason: None,
        payload: payload.to_owned(),
        decided: None,
        external_id: None,
        fence: Fence(1),
        attempts: 1,
        first_sent_at: None,
        unknown_since: None,
        charged: vec![],
        created_at: at,
        updated_at: at,
    }
}

fn request(path: &str) -> RequestSettings {
    RequestSettings {
        method: WriteMethod::Post,
        path: path.to_owned(),
        body: None,
        content: Content::Json,
        headers: Vec::new(),
        external_id: Some("/id".to_owned()),
        success: None,
    }
}

fn settings(url: &str, request: RequestSettings) -> HttpSettings {
    HttpSettings {
        url: url.parse().unwrap(),
        allow_private: true,
        auth: None,
        key: KeyPlace::default(),
        replayed: None,
        limits: PATIENT,
        effects: BTreeMap::from([(EffectType::new("note"), request)]),
        lookup: Some(LookupSettings {
            method: LookupMethod::Get,
            path: "/notes?ref={{ provider_key }}".to_owned(),
            found: Some("/items/0/id".to_owned()),
            list: None,
            in_progress: None,
        }),
        door: None,
    }
}

fn connector(settings: &HttpSettings) -> HttpConnector {
    HttpConnector::new(settings, tls()).unwrap()
}

fn status(report: &Report) -> Option<u16> {
    report.answer.as_ref().map(|answer| answer.status)
}

#[tokio::test]
async fn every_attempt_sends_the_same_bytes_under_the_same_key() {
    let provider = ScriptedProvider::start([]).await;
    let mut settings = settings(&provider.url(), request("/customers/{{ target }}/notes"));
    settings.auth = Some(Auth::Bearer(SecretString::from("s3cret")));
    let connector = connector(&settings);
    let payload = "{\"amount\": 1.10,  \"id\":9007199254740993}";
    let effect = effect("note", "a/b c", payload);

    let reports = [connector.attempt(&effect, &AlwaysOpen).await, connector.attempt(&effect, &AlwaysOpen).await];

    assert_eq!(reports.each_ref().map(status), [Some(201), Some(201)]);
    assert_eq!(reports[0].handle.as_deref(), Some(effect.provider_key.as_str()));
    let ledger = provider.ledger();
    for seen in &ledger.requests {
        assert_eq!((seen.method.as_str(), seen.path.as_str()), ("POST", "/customers/a%2Fb%20c/notes"));
        assert_eq!(seen.body, payload.as_bytes());
        assert_eq!(seen.header("Idempotency-Key"), Some(effect.provider_key.as_str()));
        assert_eq!(seen.header("Authorization"), Some("Bearer s3cret"));
        assert_eq!(seen.header("Content-Type"), Some("application/json"));
    }
}

#[tokio::test]
async fn a_key_field_goes_into_the_body_and_leaves_the_rest_alone() {
    let provider = ScriptedProvider::start([]).await;
    let mut settings = settings(&provider.url(), request("/notes"));
    settings.key = KeyPlace::Field("idempotence_key".to_owned());
    let connector = connector(&settings);
    let effect = effect("note", "c", "{ \"amount\": 1.10 }");

    connector.attempt(&effect, &AlwaysOpen).await;

    let seen = &provider.ledger().requests[0];
    let wanted = format!("{{\"idempotence_key\":\"{}\", \"amount\": 1.10 }}", effect.provider_key);
    assert_eq!(String::from_utf8_lossy(&seen.body), wanted);
    assert_eq!(seen.header("Idempotency-Key"), None);
    assert_eq!(connector.check(&effect.effect_type, "c", &json!({"idempotence_key": "x"})).len(), 1);
}

#[tokio::test]
async fn a_form_encodes_its_values() {
    let provider = ScriptedProvider::start([]).await;
    let form = RequestSettings {
        content: Content::Form,
        body: Some("amount={{ payload.amount }}&note={{ payload.note }}".to_owned()),
        headers: vec![("X-Account".to_owned(), "{{ target }}".to_owned())],
        ..request("/notes")
    };
    let connector = connector(&settings(&provider.url(), form));

    connector.attempt(&effect("note", "acct_1", r#"{"amount":1.10,"note":"a&b=c"}"#), &AlwaysOpen).await;

    let seen = &provider.ledger().requests[0];
    assert_eq!(seen.body, b"amount=1.10&note=a%26b%3Dc");
    assert_eq!(seen.header("Content-Type"), Some("application/x-www-form-urlencoded"));
    assert_eq!(seen.header("X-Account"), Some("acct_1"));
}

#[tokio::test]
async fn a_value_cannot_climb_out_of_its_place_in_the_path() {
    let provider = ScriptedProvider::start([]).await;
    let connector = connector(&settings(&provider.url(), request("/customers/{{ target }}")));
    for target in ["..", ".", ""] {
        let report = connector.attempt(&effect("note", target, "{}"), &AlwaysOpen).await;

        assert_eq!((report.phase, report.bytes_sent), (Phase::Resolve, 0), "{target:?}");
        assert_eq!(connector.check(&EffectType::new("note"), target, &json!({})).len(), 1, "{target:?}");
    }
    assert_eq!(provider.ledger().connections, 0);
}

#[tokio::test]
async fn what_a_template_needs_is_missed_before_approval() {
    let needs = RequestSettings { body: Some(r#"{"text":"{{ payload.note.text }}"}"#.to_owned()), ..request("/notes") };
    let connector = connector(&settings("http://127.0.0.1:1", needs));
    let check = |payload| connector.check(&EffectType::new("note"), "c", &payload);

    assert_eq!(check(json!({"note": {"text": "hi"}})), []);
    assert_eq!(check(json!({"note": {}}))[0].pointer, "/note/text");
    assert_eq!(connector.check(&EffectType::new("other"), "c", &json!({})).len(), 1);
}

#[tokio::test]
async fn a_lookup_says_what_the_provider_knows_and_never_writes() {
    let provider = ScriptedProvider::start([]).await;
    let connector = connector(&settings(&provider.url(), request("/notes")));
    let effect = effect("note", "c", "{}");

    assert_eq!(connector.look(&effect).await, Look::Absent);
    connector.attempt(&effect, &AlwaysOpen).await;
    assert_eq!(connector.look(&effect).await, Look::Found { external_id: Some("pred_1".to_owned()) });
    provider.set_lookup(Lookup::Matches { count: 2 });
    assert_eq!(connector.look(&effect).await, Look::FoundMany { count: 2 });
    provider.set_lookup(Lookup::Status { status: 503 });
    assert!(matches!(connector.look(&effect).await, Look::Nothing { .. }));
    provider.set_lookup(Lookup::Close);
    assert!(matches!(connector.look(&effect).await, Look::Nothing { .. }));

    let ledger = provider.ledger();
    assert_eq!((ledger.requests.len(), ledger.executions.len()), (1, 1));
    assert!(ledger.lookups.iter().all(|seen| seen.method == "GET" && seen.body.is_empty()));
}

/// Which members are refused.
fn faults(change: impl FnOnce(&mut HttpSettings)) -> Vec<String> {
    let mut settings = settings("https://api.example.com", request("/notes"));
    settings.allow_private = false;
    change(&mut settings);
    let refused = HttpConnector::new(&settings, tls()).err().unwrap_or_default();
    refused.into_iter().map(|SettingError { member, .. }| member).collect()
}

fn note(settings: &mut HttpSettings) -> &mut RequestSettings {
    settings.effects.get_mut("note").unwrap()
}

#[test]
fn settings_that_cannot_be_used_are_all_told_by_member() {
    let none: Vec<String> = Vec::new();
    assert_eq!(faults(|_| {}), none);
    assert_eq!(faults(|s| s.url = "http://10.0.0.1/".parse().unwrap()), ["url"]);
    assert_eq!(faults(|s| s.url = "https://localhost/".parse().unwrap()), ["url"]);
    assert_eq!(faults(|s| s.url = "https://a:b@api.example.com/".parse().unwrap()), ["url"]);
    assert_eq!(faults(|s| s.url = "https://api.example.com/?k=1".parse().unwrap()), ["url"]);
    assert_eq!(
        faults(|s| {
            s.url = "http://api.example.com/".parse().unwrap();
            s.auth = Some(Auth::Bearer(SecretString::from("x")));
        }),
        ["url"]
    );
    assert_eq!(faults(|s| s.auth = Some(Auth::Bearer(SecretString::from("a\nb")))), ["auth"]);
    assert_eq!(faults(|s| s.key = KeyPlace::Header("no header".into())), ["key_header"]);
    assert_eq!(faults(|s| s.key = KeyPlace::Field("a&b".into())), ["key_field"]);
    assert_eq!(faults(|s| note(s).path = "notes".into()), ["effects.note.path"]);
    assert_eq!(faults(|s| note(s).path = "/{{ nonsense }}".into()), ["effects.note.path"]);
    assert_eq!(faults(|s| note(s).body = Some("{".into())), ["effects.note.body"]);
    assert_eq!(faults(|s| note(s).content = Content::Form), ["effects.note.body"]);
    assert_eq!(faults(|s| note(s).external_id = Some("id".into())), ["effects.note.external_id"]);
    assert_eq!(
        faults(|s| note(s).success = Some(MemberIs { pointer: "ok".into(), equals: json!(true) })),
        ["effects.note.success.pointer"]
    );
    assert_eq!(
        faults(|s| note(s).headers = vec![("idempotency-key".into(), "x".into()), ("Host".into(), "x".into())]),
        ["effects.note.headers.idempotency-key", "effects.note.headers.Host"]
    );
    assert_eq!(faults(|s| s.lookup.as_mut().unwrap().found = None), ["lookup.found"]);
    assert_eq!(faults(|s| s.lookup.as_mut().unwrap().method = LookupMethod::Head), ["lookup.method"]);
    assert_eq!(
        faults(|s| {
            note(s).path = "x".into();
            s.lookup.as_mut().unwrap().path = "y".into();
        }),
        ["effects.note.path", "lookup.path"]
    );
}

fn mail_settings(address: SocketAddr) -> SmtpSettings {
    let server = SmtpServer {
        host: "127.0.0.1".to_owned(),
        port: address.port(),
        tls: SmtpTls::None,
        credentials: None,
        hello_name: "gate.example.test".to_owned(),
    };
    SmtpSettings {
        server,
        from: "The Gate <gate@example.test>".to_owned(),
        allow_private: true,
        limits: SmtpLimits { connect_ms: 20_000, total_ms: 20_000, final_reply_timeout_ms: 20_000 },
        effects: BTreeSet::from([EffectType::new("customer_mail")]),
    }
}

const MAIL: &str = r#"{"to":"anna@example.test","subject":"Refund","text":"Hello","html":"<p>Hello</p>"}"#;

#[tokio::test]
async fn every_attempt_of_a_mail_is_the_same_message() {
    let stub = SmtpStub::start(SmtpScript::default()).await;
    let connector = SmtpConnector::new(mail_settings(stub.address()), tls()).unwrap();
    let effect = effect("customer_mail", "anna@example.test", MAIL);

    let first = connector.attempt(&effect, &AlwaysOpen).await;
    connector.attempt(&effect, &AlwaysOpen).await;

    let wanted = format!("<{}@example.test>", effect.id);
    assert_eq!((status(&first), first.handle.as_deref()), (Some(250), Some(wanted.as_str())));
    assert_eq!(connector.handle(&effect), wanted);
    let ledger = stub.ledger();
    assert_eq!(ledger.messages.len(), 2);
    assert_eq!(ledger.messages[0], ledger.messages[1]);
    assert_eq!(ledger.messages[0].header("Message-ID"), [wanted]);
    assert_eq!(ledger.messages[0].header("Date"), ["Mon, 21 Sep 2026 14:13:20 +0000"]);
}

#[tokio::test]
async fn a_mail_goes_to_its_target_and_to_nobody_else() {
    let stub = SmtpStub::start(SmtpScript::default()).await;
    let connector = SmtpConnector::new(mail_settings(stub.address()), tls()).unwrap();
    let kind = EffectType::new("customer_mail");
    let mail = |to: serde_json::Value| json!({"to": to, "subject": "s", "text": "t"});
    let check = |to| connector.check(&kind, "anna@example.test", &mail(to));

    assert_eq!(check(json!("anna@example.test")), []);
    assert_eq!(check(json!(["anna@example.test"])), []);
    for other in [json!("eve@example.test"), json!(["anna@example.test", "eve@example.test"])] {
        assert_eq!(check(other.clone())[0].pointer, "/to");
        let effect = effect("customer_mail", "anna@example.test", &mail(other).to_string());
        assert_eq!(connector.attempt(&effect, &AlwaysOpen).await.phase, Phase::Resolve);
    }
    assert_eq!(check(json!("not an address"))[0].pointer, "/to");
    assert_eq!(connector.check(&kind, "customer 7", &mail(json!("anna@example.test"))).len(), 1);
    assert_eq!(connector.check(&EffectType::new("sms"), "x", &json!({})).len(), 1);
    assert_eq!(stub.ledger().connections, 0);
}

#[test]
fn mail_settings_that_cannot_be_used_are_told_by_member() {
    let faults = |change: fn(&mut SmtpSettings)| {
        let mut settings = mail_settings("127.0.0.1:25".parse().unwrap());
        change(&mut settings);
        let refused = SmtpConnector::new(settings, tls()).err().unwrap_or_default();
        refused.into_iter().map(|fault| fault.member).collect::<Vec<_>>()
    };

    assert_eq!(faults(|_| {}), Vec::<String>::new());
    assert_eq!(faults(|s| s.from = "gate".into()), ["from"]);
    assert_eq!(faults(|s| s.allow_private = false), ["host"]);
}

#[derive(Clone, Copy)]
struct Still;

impl Clock for Still {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(1_790_000_000_000_000)
    }
}

fn message() -> Message {
    Message {
        id: "run_1:7".into(),
        follows: Some("run_1:6".into()),
        language: Language::Fa,
        subject: "Please\r\ndecide".into(),
        text: "a & b".into(),
        html: "<p>a &amp; b</p>".into(),
        chat: "*Please decide*".into(),
        facts: json!({"kind": "alert"}),
    }
}

#[tokio::test]
async fn a_notice_goes_by_mail_as_one_line_and_one_message_id() {
    let stub = SmtpStub::start(SmtpScript::default()).await;
    let connector = SmtpConnector::new(mail_settings(stub.address()), tls()).unwrap();
    let channel = MailChannel::new(connector, Arc::new(Still));

    channel.deliver("lead@example.test", &message()).await.unwrap();
    assert!(channel.deliver("lead@example.test, eve@example.test", &message()).await.is_err());

    let ledger = stub.ledger();
    assert_eq!(ledger.messages.len(), 1);
    assert_eq!(ledger.messages[0].header("Subject"), ["Please  decide"]);
    assert_eq!(ledger.messages[0].header("Message-ID"), ["<run_1-7@example.test>"]);
    assert_eq!(ledger.messages[0].header("In-Reply-To"), ["<run_1-6@example.test>"]);
    assert_eq!(ledger.messages[0].header("Auto-Submitted"), ["auto-generated"]);
}

#[tokio::test]
async fn a_notice_to_chat_is_one_text_and_to_a_program_its_facts() {
    let provider =
        ScriptedProvider::start([Step::answer(200, "ok"), Step::answer(200, "ok"), Step::answer(500, "")]).await;
    let url = SecretString::from(format!("{}/services/T0/B0", provider.url()));
    let slack = ChatChannel::new(&url, ChatForm::Slack, true, tls(), Arc::new(Still)).unwrap();
    let generic = ChatChannel::new(&url, ChatForm::Generic(None), true, tls(), Arc::new(Still)).unwrap();

    slack.deliver("", &message()).await.unwrap();
    generic.deliver("", &message()).await.unwrap();
    let failed = slack.deliver("", &message()).await.unwrap_err();

    let ledger = provider.ledger();
    let bodies: Vec<serde_json::Value> =
        ledger.requests.iter().map(|seen| serde_json::from_slice(&seen.body).unwrap()).collect();
    assert_eq!(bodies[0], json!({"text": "*Please decide*"}));
    let expected = json!({
        "kind": "alert", "subject": "Please\r\ndecide", "text": "a & b", "id": "run_1:7", "follows": "run_1:6",
        "language": "fa",
    });
    assert_eq!(bodies[1], expected);
    assert!(failed.contains("500") && !failed.contains("T0"), "{failed}");
}

#[test]
fn a_chat_url_inside_the_own_network_is_refused_unless_allowed() {
    let url = SecretString::from("http://169.254.169.254/latest");

    assert!(ChatChannel::new(&url, ChatForm::Slack, false, tls(), Arc::new(Still)).is_err());
}
