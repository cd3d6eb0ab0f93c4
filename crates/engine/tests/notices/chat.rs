//! What a chat and a program behind a webhook read.

use std::sync::Arc;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use effectgate_engine::{
    connect::tls::Tls,
    notify::{
        Channels,
        chat::{ChatChannel, ChatForm, ChatSecret},
    },
};
use effectgate_testkit::provider::{Received, ScriptedProvider, Step};
use hmac::{Hmac, KeyInit as _, Mac as _};
use secrecy::SecretString;
use serde_json::{Value, json};
use sha2::Sha256;

use crate::{
    common::{TestClock, World},
    people::{asking, waiting},
};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

async fn told(form: ChatForm, payload: &str) -> (World, Received) {
    let room = ScriptedProvider::start([Step::answer(200, "ok")]).await;
    let url = SecretString::from(format!("{}/hook", room.url()));
    let clock = TestClock::new();
    let chat = ChatChannel::new(&url, form, true, Tls::new(None).unwrap(), Arc::new(clock.clone())).unwrap();
    let world = World::on(asking(Channels { chat: Some(Arc::new(chat)), ..Channels::default() }), clock);
    waiting(&world, "k1", payload).await;
    world.engine.notify_tick().await.unwrap();
    let seen = room.ledger().requests[0].clone();
    (world, seen)
}

fn body(seen: &Received) -> Value {
    serde_json::from_slice(&seen.body).unwrap()
}

#[tokio::test]
async fn the_link_stands_alone_on_its_line_and_nobody_is_called() {
    let payload =
        r#"{"to":"anna@example.test","subject":"@channel <!here> ``` ![x](http://evil.test/i.png)","text":"@all"}"#;
    let (_, seen) = told(ChatForm::Slack, payload).await;

    let body = body(&seen);
    let text = body["text"].as_str().unwrap();
    assert_eq!(body.as_object().unwrap().len(), 1, "what Slack and Mattermost both read");
    assert!(text.starts_with("*Decision wanted: ticket*\n"), "{text}");
    assert_eq!(text.lines().filter(|line| line.starts_with("http://gate.test/a/")).count(), 1, "{text}");
    assert_eq!(text.matches("```").count(), 2, "{text}");
    let (before, block) = text.split_once("```").unwrap();
    assert!(!before.contains("evil") && block.split_once("```").unwrap().0.contains("evil"), "{text}");
    assert!(text.contains("anna@example.test") && !text.contains("@channel") && !text.contains("@all"), "{text}");
    assert!(!text.contains("<!"), "{text}");
}

#[tokio::test]
async fn a_program_reads_the_facts_as_members() {
    let (world, seen) = told(ChatForm::Generic(None), crate::people::MAIL).await;

    let approval = world.agg(world.id_of("k1")).await.approvals[0].clone();
    let body = body(&seen);
    let of = |name: &str| body[name].clone();
    assert_eq!(of("kind"), "approval_request");
    assert_eq!(of("urgency"), "first");
    assert_eq!(of("approval_id"), json!(approval.id));
    assert_eq!(of("run_id"), json!(world.id_of("k1")));
    assert_eq!((of("flow"), of("key")), (json!("ticket"), json!("k1")));
    assert_eq!(of("effects_hash"), json!(approval.effects_hash));
    assert_eq!(of("expires_at"), json!(approval.expires_at));
    assert_eq!(of("effects")[0]["target"], "anna@example.test");
    assert_eq!(of("effects")[0]["type"], "mail");
    assert!(of("link").as_str().unwrap().starts_with("http://gate.test/a/"));
    assert_eq!(of("language"), "en");
    assert!(of("subject").is_string() && of("text").as_str().unwrap().contains(of("link").as_str().unwrap()));
    assert!(!seen.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("webhook-signature")));
}

#[tokio::test]
async fn a_signed_notice_verifies_as_standard_webhooks_say() {
    let secret = ChatSecret::new(&SecretString::from(SECRET)).unwrap();
    let (_, seen) = told(ChatForm::Generic(Some(secret)), crate::people::MAIL).await;

    let header = |wanted: &str| {
        let mut found = seen.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case(wanted));
        found.next().map(|(_, value)| value.clone()).unwrap()
    };
    let (id, at) = (header("webhook-id"), header("webhook-timestamp"));
    assert_eq!(at, "1790000000");
    assert_eq!(json!(id), body(&seen)["id"], "the same on every try");
    let mut mac = Hmac::<Sha256>::new_from_slice(&STANDARD.decode(&SECRET[6..]).unwrap()).unwrap();
    mac.update(format!("{id}.{at}.").as_bytes());
    mac.update(&seen.body);
    assert_eq!(header("webhook-signature"), format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes())));
}

/// The vector of the Standard Webhooks libraries is a secret of 24 bytes; shorter ones can be guessed.
#[test]
fn a_secret_that_signs_nothing_well_is_refused() {
    for bad in ["", "whsec_", "whsec_c2hvcnQ=", "not base64 at all!"] {
        assert!(ChatSecret::new(&SecretString::from(bad)).is_err(), "{bad}");
    }
}
