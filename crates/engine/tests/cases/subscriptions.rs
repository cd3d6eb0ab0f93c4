//! Subscriptions: each event told to whoever subscribed, at least once, signed with a key that comes from the API key;
//! and how a subscription ends.

use std::sync::Arc;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use effectgate_core::{
    approval::Verdict,
    gate::Gate,
    ids::{RunId, SourceName, SubscriptionId, Tenant},
    operate::{Asker, Resolution},
};
use effectgate_engine::{
    Engine, EngineError,
    connect::{http::HttpLimits, tls::Tls},
    inbound::Delivery,
    keys::{KeyScope, NewKey},
    n8n::{N8n, N8nSettings},
    subscriptions::{OF_ONE_KEY_MAX, Subscribed, Wish},
};
use effectgate_testkit::provider::{Received, ScriptedProvider, Step};
use http::HeaderMap;
use serde_json::{Value, json};

use crate::common::{Answer, HOUR, Held, Options, WorkerAt, World, lead, olga};

const MINUTE: i64 = 60_000;
const ALL: [&str; 10] = [
    "approval.requested",
    "approval.decided",
    "approval.expired",
    "approval.withdrawn",
    "run.completed",
    "run.failed",
    "run.quarantined",
    "effect.completed",
    "effect.failed",
    "effect.review",
];

/// A world with an n8n that answers 200, and an API key that a subscription may belong to.
struct House {
    world: World,
    n8n: ScriptedProvider,
    key: NewKey,
}

/// One at a time, so that what came is in the order in which it was sent.
fn n8n_at(url: &str) -> Arc<N8n> {
    let limits = HttpLimits { total_ms: 2_000, ..HttpLimits::default() };
    let settings = N8nSettings { url: url.into(), allow_urls: vec![], api_key: None, limits, concurrent: 1 };
    Arc::new(N8n::new(settings, Tls::new(None).unwrap()).unwrap())
}

impl House {
    async fn with(options: Options) -> Self {
        let n8n = ScriptedProvider::start([]).await;
        n8n.set_default(Step::answer(200, r#"{"message":"Workflow was started"}"#));
        let world = World::with(Options { n8n: Some(n8n_at(&n8n.url())), ..options });
        let key = key(&world, "n8n", &[]).await;
        Self { world, n8n, key }
    }

    async fn new() -> Self {
        Self::with(Options::default()).await
    }

    async fn subscribe(&self, events: &[&str]) -> SubscriptionId {
        self.subscribe_at("/webhook/a/webhook", events).await.subscription.id
    }

    async fn subscribe_at(&self, path: &str, events: &[&str]) -> Subscribed {
        self.try_subscribe(&format!("{}{path}", self.n8n.url()), events, None).await.unwrap()
    }

    async fn try_subscribe(
        &self,
        url: &str,
        events: &[&str],
        flow: Option<&str>,
    ) -> effectgate_engine::Result<Subscribed> {
        let events = events.iter().map(|event| (*event).to_owned()).collect();
        let wish = Wish { url: url.into(), events, flow: flow.map(str::to_owned) };
        self.world.engine.subscribe(&self.world.caller.tenant, &olga(), &self.key.row.public_id, &wish).await
    }

    /// Fans out and sends; what the other side got in all, as its kinds.
    async fn told(&self) -> Vec<String> {
        deliver(&self.world.engine).await;
        self.got().iter().map(kind_of).collect()
    }

    fn got(&self) -> Vec<Received> {
        self.n8n.ledger().requests
    }

    async fn house_facts(&self, kind: &str) -> Vec<Value> {
        self.world.facts(RunId::house(&self.world.caller.tenant), kind).await
    }

    /// Fails one run, which is one `run.failed`.
    async fn fail(&self, key: &str) -> Held {
        let held = self.world.grant(key, "w").await;
        self.fail_held(&held, "agent_limit").await;
        held
    }

    async fn fail_held(&self, held: &Held, class: &str) {
        let call = self.world.call(held, "fail", class);
        self.world.engine.fail(&call, class, None).await.unwrap();
    }
}

async fn key(world: &World, name: &str, flows: &[&str]) -> NewKey {
    let flows: Vec<String> = flows.iter().map(|flow| (*flow).to_owned()).collect();
    world.engine.key_create(&world.caller.tenant, &olga(), name, &[KeyScope::Worker], &flows, None).await.unwrap()
}

async fn deliver(engine: &Engine) {
    engine.notify_tick().await.unwrap();
    engine.messenger_tick().await.unwrap();
}

fn body_of(got: &Received) -> Value {
    serde_json::from_slice(&got.body).unwrap()
}

fn kind_of(got: &Received) -> String {
    body_of(got)["type"].as_str().unwrap().to_owned()
}

fn asks() -> Options {
    Options { gate: Gate::Approve, ..Options::default() }
}

async fn waiting(house: &House, key: &str) -> Held {
    let held = house.world.grant(key, "w").await;
    house.world.propose(&held, &[("note", "c-1", "{}")]).await;
    held
}

#[tokio::test]
async fn an_approval_is_told_when_it_is_asked_for_and_when_it_is_decided() {
    let house = House::with(asks()).await;
    house.subscribe(&ALL).await;
    let held = waiting(&house, "k").await;
    assert_eq!(house.told().await, ["approval.requested"]);

    house.world.decide(held.run.id, &lead("anna"), Verdict::Reject).await.unwrap();

    assert_eq!(house.told().await, ["approval.requested", "approval.decided", "run.failed"]);
    let decided = body_of(&house.got()[1]);
    let approval = house.world.agg(held.run.id).await.approvals[0].id;
    assert_eq!(decided["data"]["approval"]["id"], json!(approval));
    assert_eq!(decided["data"]["approval"]["outcome"], "rejected");
    assert_eq!(decided["data"]["run"]["id"], json!(held.run.id));
    assert_eq!(
        (&decided["data"]["run"]["state"], &decided["data"]["run"]["key"]),
        (&json!("failed_terminal"), &json!("k"))
    );
    assert!(decided["data"].get("effect").is_none());
}

#[tokio::test]
async fn a_vote_of_a_quorum_that_is_not_full_decides_nothing_and_is_told_to_nobody() {
    let house = House::with(Options { quorum: 2, ..asks() }).await;
    house.subscribe(&ALL).await;
    let held = waiting(&house, "k").await;

    house.world.decide(held.run.id, &lead("anna"), Verdict::Approve).await.unwrap();
    assert_eq!(house.told().await, ["approval.requested"]);

    house.world.decide(held.run.id, &lead("bo"), Verdict::Approve).await.unwrap();
    assert_eq!(house.told().await, ["approval.requested", "approval.decided"]);
}

#[tokio::test]
async fn an_approval_that_expires_or_is_taken_back_is_told_as_what_it_is() {
    let house = House::with(asks()).await;
    house.subscribe(&ALL).await;
    let (late, back) = (waiting(&house, "late").await, waiting(&house, "back").await);
    let id = house.world.agg(back.run.id).await.approvals[0].id;
    house.told().await;

    house.world.engine.withdraw(&house.world.caller.tenant, id, &Asker::operator(olga()), "by mistake").await.unwrap();
    assert_eq!(house.told().await[2..], ["approval.withdrawn", "run.failed"]);

    house.world.clock.advance_ms(100 * HOUR);
    house.world.engine.sweep_tick().await.unwrap();
    assert_eq!(house.told().await[4..], ["approval.expired", "run.failed"]);
    assert_eq!(body_of(&house.got()[4])["data"]["run"]["id"], json!(late.run.id));
}

#[tokio::test]
async fn an_effect_and_its_run_are_told_when_they_are_completed() {
    let house = House::new().await;
    house.subscribe(&ALL).await;
    let held = house.world.queued("k", "c-1").await;

    house.world.dispatch().await;

    assert_eq!(house.told().await, ["effect.completed", "run.completed"]);
    let (effect, run) = (body_of(&house.got()[0]), body_of(&house.got()[1]));
    let row = house.world.agg(held.run.id).await.effects[0].clone();
    assert_eq!(effect["data"]["effect"]["id"], json!(row.id));
    assert_eq!(effect["data"]["effect"]["type"], "note");
    assert_eq!(effect["data"]["effect"]["external_id"], json!(row.external_id));
    assert_eq!(run["data"]["run"]["state"], "completed");
    assert!(run["data"].get("effect").is_none());
    let text = String::from_utf8(house.got()[0].body.clone()).unwrap();
    assert!(!text.contains("hello") && !text.contains("c-1"), "no content: {text}");
}

#[tokio::test]
async fn an_effect_that_is_refused_and_one_that_nobody_knows_of_are_told() {
    let house = House::new().await;
    house.subscribe(&ALL).await;
    house.world.provider.push(Answer::Status(422, None));
    house.world.queued("refused", "c-1").await;
    house.world.dispatch().await;
    assert_eq!(house.told().await, ["effect.failed", "run.failed"]);

    house.world.provider.push(Answer::AcceptThenDrop);
    let held = house.world.queued("lost", "c-2").await;
    house.world.round().await;
    house.world.engine.reconcile_tick().await.unwrap();
    assert_eq!(house.world.effect_state(held.run.id).await, "review");
    assert_eq!(house.told().await[2..], ["effect.review"]);

    let effect = house.world.agg(held.run.id).await.effects[0].id;
    house.world.resolve(effect, Resolution::Cancel).await.unwrap();
    assert_eq!(house.told().await[3..], ["run.failed"]);
}

#[tokio::test]
async fn a_run_that_is_tried_again_has_not_failed_and_one_that_is_kept_for_a_look_is_quarantined() {
    let house = House::new().await;
    house.subscribe(&ALL).await;
    let again = house.world.grant("again", "w").await;
    house.fail_held(&again, "model_timeout").await;
    assert!(house.told().await.is_empty());

    let kept = house.world.grant("kept", "w").await;
    house.fail_held(&kept, "semantic").await;
    house.fail("ended").await;

    assert_eq!(house.told().await, ["run.quarantined", "run.failed"]);
}

#[tokio::test]
async fn a_delivery_is_signed_with_a_key_that_the_other_side_makes_of_the_api_key() {
    use hmac::{Hmac, KeyInit as _, Mac as _};
    use sha2::{Digest as _, Sha256};
    let house = House::new().await;
    house.subscribe(&["run.failed"]).await;
    let held = house.fail("k").await;
    house.told().await;
    let got = &house.got()[0];
    let hmac = |key: &[u8], message: &[u8]| {
        let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
        mac.update(message);
        mac.finalize().into_bytes()
    };

    let key = hmac(&Sha256::digest(house.key.token.as_bytes()), b"effectgate webhook signature v1");
    let (id, at) = (got.header("webhook-id").unwrap(), got.header("webhook-timestamp").unwrap());
    let message = [id.as_bytes(), b".", at.as_bytes(), b".", &got.body].concat();
    let wanted = format!("v1,{}", STANDARD.encode(hmac(&key, &message)));

    assert_eq!(got.header("webhook-signature"), Some(wanted.as_str()));
    assert_eq!(at.parse::<i64>().unwrap(), house.world.engine.now().millis() / 1_000);
    let seq = house.world.agg(held.run.id).await.run.head.seq;
    assert_eq!(id, format!("evt_{}{seq}-0", &held.run.id.to_string()[4..]));
    assert!(!id.contains('.'));
    assert_eq!((got.method.as_str(), got.header("content-type")), ("POST", Some("application/json")));
}

#[tokio::test]
async fn the_same_url_again_is_the_same_subscription_with_the_events_of_the_last_time() {
    let house = House::new().await;
    let first = house.subscribe_at("/webhook/a", &["run.failed"]).await;
    let same = house.subscribe_at("/webhook/a", &["run.failed", "run.failed"]).await;
    let other = house.subscribe_at("/webhook/a", &["approval.decided", "run.completed"]).await;

    assert_eq!((first.is_new, same.is_new, other.is_new), (true, false, false));
    assert_eq!((first.subscription.id, first.subscription.id), (same.subscription.id, other.subscription.id));
    assert_eq!(other.subscription.events, ["approval.decided", "run.completed"]);
    let listed =
        house.world.engine.subscriptions(&house.world.caller.tenant, Some(&house.key.row.public_id)).await.unwrap();
    assert_eq!(listed, [other.subscription]);
    let made = house.house_facts("subscription_created").await;
    assert_eq!((made.len(), house.house_facts("subscription_changed").await.len()), (1, 1));
    assert_eq!(made[0]["to"], house.n8n.url());
    assert!(!made[0].to_string().contains("/webhook/a"), "the address lets whoever knows it begin a workflow");
    house.world.verify_all().await;

    house.fail("k").await;
    assert!(house.told().await.is_empty(), "run.failed is not among its events any more");
}

#[tokio::test]
async fn a_url_that_the_config_does_not_name_an_unknown_event_and_an_unknown_flow_are_refused() {
    let house = House::new().await;
    let inside = format!("{}/webhook/a", house.n8n.url());
    let refused =
        async |url: &str, events: &[&str], flow: Option<&str>| match house.try_subscribe(url, events, flow).await {
            Err(EngineError::BadMember { pointer, .. }) => format!("bad_member {pointer}"),
            Err(error) => error.code().to_owned(),
            Ok(_) => "made".to_owned(),
        };

    assert_eq!(refused("http://169.254.169.254/latest", &["run.failed"], None).await, "url_not_allowed");
    assert_eq!(refused(&format!("{inside}/../b"), &["run.failed"], None).await, "url_not_allowed");
    assert_eq!(refused(&inside, &["run.failed", "run.exploded"], None).await, "bad_member /events/1");
    assert_eq!(refused(&inside, &[], None).await, "bad_member /events");
    assert_eq!(refused(&inside, &["run.failed"], Some("nowhere")).await, "unknown_flow");

    let mut world = house.world;
    world.restart_with(|options| options.n8n = None);
    let house = House { world, ..house };
    let none = house.try_subscribe(&inside, &["run.failed"], None).await;
    assert!(matches!(none, Err(EngineError::UrlNotAllowed { .. })), "{none:?}");
}

#[tokio::test]
async fn one_key_has_so_many_subscriptions_and_no_more() {
    let house = House::new().await;
    for n in 0..OF_ONE_KEY_MAX {
        house.subscribe_at(&format!("/webhook/{n}"), &["run.failed"]).await;
    }

    let one_more = house.try_subscribe(&format!("{}/webhook/more", house.n8n.url()), &["run.failed"], None).await;

    assert!(matches!(one_more, Err(EngineError::BadMember { .. })), "{one_more:?}");
    assert!(!house.subscribe_at("/webhook/0", &["run.completed"]).await.is_new, "those that are there may be changed");
}

#[tokio::test]
async fn a_subscription_to_one_flow_and_a_key_bound_to_flows_hear_of_no_other() {
    let house = House::new().await;
    let at = |path: &str| format!("{}{path}", house.n8n.url());
    house.try_subscribe(&at("/only-held-back"), &["run.failed"], Some("held_back")).await.unwrap();
    let bound = key(&house.world, "bound", &["held_back"]).await;
    let wish = Wish { url: at("/bound"), events: vec!["run.failed".into()], flow: None };
    house.world.engine.subscribe(&house.world.caller.tenant, &olga(), &bound.row.public_id, &wish).await.unwrap();
    house.subscribe_at("/all", &["run.failed"]).await;

    house.fail("k").await;
    house.told().await;
    assert_eq!(house.got().iter().map(|got| got.path.as_str()).collect::<Vec<_>>(), ["/all"]);

    let held = house.world.grant_in("held_back", "k").await;
    house.fail_held(&held, "agent_limit").await;
    house.told().await;
    let mut paths: Vec<String> = house.got()[1..].iter().map(|got| got.path.clone()).collect();
    paths.sort();
    assert_eq!(paths, ["/all", "/bound", "/only-held-back"]);
}

#[tokio::test]
async fn without_a_subscription_for_it_a_change_writes_no_notice() {
    let house = House::new().await;
    let notices = || {
        let raw = house.world.raw();
        raw.query_row("SELECT count(*) FROM notices", [], |row| row.get::<_, i64>(0)).unwrap()
    };
    house.world.queued("a", "c-1").await;
    house.world.dispatch().await;
    assert_eq!(notices(), 0);

    house.subscribe(&["approval.decided"]).await;
    house.world.queued("b", "c-2").await;
    house.world.dispatch().await;
    assert_eq!(notices(), 0, "nobody wants to hear of effects");

    house.subscribe(&["effect.completed"]).await;
    house.world.queued("c", "c-3").await;
    house.world.dispatch().await;
    assert_eq!((notices(), house.told().await), (1, vec!["effect.completed".to_owned()]));
}

#[tokio::test]
async fn another_keys_subscription_is_not_there_for_this_one() {
    let house = House::new().await;
    let id = house.subscribe(&["run.failed"]).await;
    let other = key(&house.world, "other", &[]).await.row.public_id;
    let (engine, tenant) = (&house.world.engine, &house.world.caller.tenant);

    assert!(engine.subscriptions(tenant, Some(&other)).await.unwrap().is_empty());
    assert!(!engine.unsubscribe(tenant, &olga(), Some(&other), id).await.unwrap());
    assert!(!engine.unsubscribe(&Tenant::new("elsewhere"), &olga(), None, id).await.unwrap());
    assert_eq!(engine.subscriptions(tenant, None).await.unwrap().len(), 1);

    let own = &house.key.row.public_id;
    assert!(engine.unsubscribe(tenant, &olga(), Some(own), id).await.unwrap());
    assert!(!engine.unsubscribe(tenant, &olga(), Some(own), id).await.unwrap(), "dropping twice is harmless");
    assert_eq!(house.house_facts("subscription_dropped").await.len(), 1);
    house.fail("k").await;
    assert!(house.told().await.is_empty());
}

#[tokio::test]
async fn the_subscriptions_of_a_revoked_key_end_with_it() {
    let house = House::new().await;
    house.subscribe(&["run.failed"]).await;
    house.fail("before").await;
    house.world.engine.notify_tick().await.unwrap();

    house.world.engine.key_revoke(&house.world.caller.tenant, &olga(), &house.key.row.public_id).await.unwrap();

    assert!(house.told().await.is_empty(), "what was on its way is not sent any more");
    assert!(house.world.engine.subscriptions(&house.world.caller.tenant, None).await.unwrap().is_empty());
    assert_eq!(house.house_facts("subscription_dropped").await[0]["reason"], "key_revoked");
}

#[tokio::test]
async fn a_subscription_that_a_revocation_left_behind_is_ended_by_who_would_send_to_it() {
    let house = House::new().await;
    house.subscribe(&["run.failed"]).await;
    house.fail("k").await;
    house.world.engine.notify_tick().await.unwrap();
    // The process died between the two transactions of a revocation.
    house.world.raw().execute("UPDATE api_keys SET revoked_at = 1", []).unwrap();

    assert!(house.told().await.is_empty());

    assert_eq!(house.house_facts("subscription_dropped").await[0]["reason"], "key_revoked");
    assert!(house.world.engine.subscriptions(&house.world.caller.tenant, None).await.unwrap().is_empty());
}

#[tokio::test]
async fn an_orphan_drops_itself_after_eight_times_404_in_ten_minutes_and_somebody_is_told() {
    let house = House::new().await;
    house.subscribe(&["run.failed"]).await;
    house.n8n.set_default(Step::answer(404, r#"{"message":"The requested webhook is not registered"}"#));
    house.fail("k").await;

    for minute in 0..9 {
        house.told().await;
        assert!(house.house_facts("subscription_dropped").await.is_empty(), "{minute}");
        house.world.clock.advance_ms(MINUTE);
    }
    let failing = house.world.engine.subscriptions(&house.world.caller.tenant, None).await.unwrap().remove(0);
    assert!(failing.failing_since.is_some() && failing.last_delivered_at.is_none());
    for _ in 0..20 {
        house.world.clock.advance_ms(MINUTE);
        house.told().await;
    }

    let dropped = house.house_facts("subscription_dropped").await;
    assert_eq!((dropped.len(), &dropped[0]["reason"]), (1, &json!("gone")));
    assert_eq!(house.got().len(), 8, "and nothing was sent after that");
    assert!(house.world.alerts().await.contains(&"undeliverable".to_owned()));
    assert!(house.world.engine.subscriptions(&house.world.caller.tenant, None).await.unwrap().is_empty());
    house.world.verify_all().await;
}

#[tokio::test]
async fn many_404s_in_a_short_time_or_with_another_answer_between_are_no_orphan() {
    let house = House::new().await;
    house.subscribe(&["run.failed"]).await;
    house.n8n.set_default(Step::answer(404, "{}"));
    for n in 0..10 {
        house.fail(&format!("k{n}")).await;
    }
    for _ in 0..9 {
        house.told().await;
        house.world.clock.advance_ms(MINUTE);
    }
    assert!(house.got().len() > 8);
    // n8n is being restarted: that is no word that nobody is there.
    house.n8n.push(Step::answer(503, "{}"));
    for _ in 0..9 {
        house.told().await;
        house.world.clock.advance_ms(MINUTE);
    }
    assert!(house.house_facts("subscription_dropped").await.is_empty());

    house.n8n.set_default(Step::answer(200, "{}"));
    for _ in 0..20 {
        house.world.clock.advance_ms(HOUR / 2);
        house.told().await;
    }

    let heard = house.world.engine.subscriptions(&house.world.caller.tenant, None).await.unwrap().remove(0);
    assert!(heard.failing_since.is_none() && heard.last_delivered_at.is_some());
}

#[tokio::test]
async fn what_is_not_taken_for_a_day_is_given_up_and_every_try_bears_the_same_id() {
    let house = House::new().await;
    house.subscribe(&["run.failed"]).await;
    house.n8n.set_default(Step::answer(500, "{}"));
    house.fail("k").await;
    for _ in 0..(26 * 4) {
        house.told().await;
        house.world.clock.advance_ms(HOUR / 4);
    }
    let tries = house.got();
    let ids: std::collections::BTreeSet<_> = tries.iter().map(|got| got.header("webhook-id").unwrap()).collect();
    let bodies: std::collections::BTreeSet<_> = tries.iter().map(|got| got.body.clone()).collect();
    assert_eq!((ids.len(), bodies.len()), (1, 1));
    assert!((20..60).contains(&tries.len()), "{}", tries.len());

    house.n8n.set_default(Step::answer(200, "{}"));
    house.told().await;
    assert_eq!(house.got().len(), tries.len(), "given up");
    house.fail("later").await;
    house.world.clock.advance_ms(HOUR);
    assert_eq!(house.told().await.len(), tries.len() + 1, "the subscription stands");
}

#[tokio::test]
async fn a_crash_between_fan_out_and_delivery_repeats_nothing_but_the_id_and_loses_nothing() {
    let house = House::new().await;
    house.subscribe(&["run.failed", "run.completed"]).await;
    house.fail("k").await;
    house.world.engine.notify_tick().await.unwrap();

    // The process dies after the fan-out; and one that had sent dies before it noted that.
    let before = house.world.killed();
    deliver(&before.engine).await;
    let first = house.got();
    let again = house.world.killed();
    deliver(&again.engine).await;

    let got = house.got();
    assert_eq!((first.len(), got.len()), (1, 2));
    assert_eq!(got[0].header("webhook-id"), got[1].header("webhook-id"));
    assert_eq!(got[0].body, got[1].body);
}

#[tokio::test]
async fn a_crash_before_the_fan_out_loses_no_event_and_a_fan_out_made_twice_sends_once() {
    let house = House::new().await;
    house.subscribe(&["run.failed"]).await;
    house.fail("k").await;
    // Fanned out, and the process died before the notice was noted as told: it is due again.
    house.told().await;
    house.world.raw().execute("UPDATE notices SET state = 'pending', due_at = 0", []).unwrap();

    house.told().await;

    assert_eq!(house.got().len(), 1);
    let killed = house.world.killed();
    killed.raw().execute("UPDATE notices SET state = 'pending', due_at = 0", []).unwrap();
    killed.raw().execute("DELETE FROM deliveries", []).unwrap();
    deliver(&killed.engine).await;
    assert_eq!(house.got().len(), 2, "what was committed with the change is told, whoever dies before");
}

#[tokio::test]
async fn a_tick_that_is_broken_off_keeps_no_place_of_a_subscription() {
    let house = House::new().await;
    house.subscribe(&["run.failed"]).await;
    house.fail("k").await;
    house.world.engine.notify_tick().await.unwrap();
    house.n8n.set_default(Step::answer(200, "{}").held());

    // As where the database goes away while a delivery is under way: the tick ends, and what it had begun with it.
    let engine = house.world.engine.clone();
    let tick = tokio::spawn(async move { engine.messenger_tick().await });
    while house.got().is_empty() {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    tick.abort();
    assert!(tick.await.unwrap_err().is_cancelled());

    house.n8n.set_default(Step::answer(200, "{}"));
    house.world.clock.advance_ms(HOUR);
    house.world.engine.messenger_tick().await.unwrap();
    assert_eq!(house.got().len(), 2, "it is sent again once its claim is over, and not held back until a restart");
}

#[tokio::test]
async fn one_receiver_that_is_away_holds_up_no_other() {
    let house = House::new().await;
    house.subscribe_at("/there", &["run.failed"]).await;
    let away = format!("http://127.0.0.1:{}/", ScriptedProvider::start([]).await.address().port());
    let settings = N8nSettings {
        url: house.n8n.url(),
        allow_urls: vec![away.clone()],
        api_key: None,
        limits: HttpLimits { total_ms: 500, ..HttpLimits::default() },
        concurrent: 4,
    };
    let mut world = house.world;
    world.restart_with(|options| options.n8n = Some(Arc::new(N8n::new(settings, Tls::new(None).unwrap()).unwrap())));
    let house = House { world, ..house };
    house.try_subscribe(&format!("{away}webhook"), &["run.failed"], None).await.unwrap();

    for n in 0..100 {
        house.fail(&format!("k{n}")).await;
    }
    house.told().await;

    assert_eq!(house.got().len(), 100);
    let raw = house.world.raw();
    let tries: i64 =
        raw.query_row("SELECT sum(attempts) FROM deliveries WHERE state = 'pending'", [], |r| r.get(0)).unwrap();
    assert!(tries <= 8, "a receiver that is away is probed, not asked a hundred times: {tries}");
}

#[tokio::test]
async fn two_processes_on_one_database_send_each_event_once() {
    let house = House::new().await;
    house.subscribe(&["run.failed"]).await;
    for n in 0..30 {
        house.fail(&format!("k{n}")).await;
    }
    let other = house.world.another_engine();

    let (engine, second) = (house.world.engine.clone(), other.clone());
    let (a, b) = tokio::join!(
        tokio::spawn(async move { deliver(&engine).await }),
        tokio::spawn(async move { deliver(&second).await })
    );
    a.unwrap();
    b.unwrap();
    deliver(&other).await;

    let ids: std::collections::BTreeSet<_> =
        house.got().iter().map(|got| got.header("webhook-id").unwrap().to_owned()).collect();
    assert_eq!((house.got().len(), ids.len()), (30, 30));
}

#[tokio::test]
async fn another_process_tells_of_what_it_commits_two_seconds_after_the_registration() {
    let house = House::new().await;
    let other = house.world.another_engine();
    // The other process has looked, and found nobody.
    let held = house.world.grant("early", "w").await;
    let call = house.world.call(&held, "fail", "x");
    other.fail(&call, "agent_limit", None).await.unwrap();
    house.subscribe(&["run.failed"]).await;

    house.world.clock.advance_ms(2_000);
    let held = house.world.grant("later", "w").await;
    let call = house.world.call(&held, "fail", "x");
    other.fail(&call, "agent_limit", None).await.unwrap();

    deliver(&other).await;
    assert_eq!(house.got().len(), 1);
    assert_eq!(body_of(&house.got()[0])["data"]["run"]["key"], "later");
}

#[tokio::test]
async fn without_n8n_in_the_config_nothing_is_sent_and_what_waits_goes_out_when_it_is_back() {
    let house = House::new().await;
    house.subscribe(&["run.failed"]).await;
    house.fail("k").await;
    house.world.engine.notify_tick().await.unwrap();
    let url = house.n8n.url();
    let mut world = house.world;

    world.restart_with(|options| options.n8n = None);
    deliver(&world.engine).await;
    assert!(house.n8n.ledger().requests.is_empty());

    world.restart_with(|options| options.n8n = Some(n8n_at(&url)));
    deliver(&world.engine).await;
    assert_eq!(house.n8n.ledger().requests.len(), 1);
}

#[tokio::test]
async fn what_only_adds_to_the_record_is_told_to_nobody() {
    let house = House::with(asks()).await;
    house.subscribe(&ALL).await;
    let held = waiting(&house, "k").await;
    house.told().await;

    house.world.clock.advance_ms(9 * HOUR);
    house.world.engine.sweep_tick().await.unwrap();
    assert!(house.world.kinds(held.run.id).await.contains(&"approval_reminded".to_owned()));
    assert_eq!(house.told().await, ["approval.requested"], "a reminder is no new question");

    house.world.decide(held.run.id, &lead("anna"), Verdict::Reject).await.unwrap();
    let late = house.world.decide(held.run.id, &lead("bo"), Verdict::Approve).await;
    assert!(late.is_err());
    assert_eq!(house.told().await[1..], ["approval.decided", "run.failed"], "a refused click is none");
}

#[tokio::test]
async fn an_event_that_is_kept_in_quarantine_at_the_door_is_told_also_where_the_process_died_before_it_told() {
    let schema = json!({"type": "object", "required": ["text"]});
    let worker = Some(WorkerAt::new("http://127.0.0.1:9"));
    let house = House::with(Options { payload_schema: Some(schema), worker, ..Options::default() }).await;
    house.subscribe(&["run.quarantined"]).await;
    let body = r#"{"id":"e-1"}"#;
    let comes = async |engine: &Engine| {
        let delivery =
            Delivery { tenant: house.world.caller.tenant.clone(), headers: HeaderMap::new(), body: body.into() };
        engine.accept(&SourceName::new("shop"), delivery).await.unwrap()
    };

    let first = comes(&house.world.engine).await;
    assert_eq!(first.as_str(), "quarantined");
    assert_eq!(house.told().await, ["run.quarantined"]);
    let again = comes(&house.world.engine).await;
    assert_eq!(again.as_str(), "duplicate");
    assert_eq!(house.told().await.len(), 1, "told once, however often it comes");

    let killed = house.world.killed();
    killed.raw().execute("DELETE FROM deliveries", []).unwrap();
    comes(&killed.engine).await;
    deliver(&killed.engine).await;
    assert_eq!(house.got().len(), 2);
    assert_eq!(house.got()[0].header("webhook-id"), house.got()[1].header("webhook-id"));
}
