//! Who was told and who was not: in the journal, on the approval, as an alert; and what is tried again.

use std::{sync::Arc, time::Duration};

use effectgate_core::{approval::Outcome, notice::Alert};
use effectgate_engine::{
    driver::Workers,
    notify::{Channel, Channels},
    policy::AlertRoute,
};
use serde_json::json;

use crate::{
    common::{HOUR, Options, World, channel::Kept},
    people::{MAIL, account, asking, waiting},
};

fn by(mail: &Kept, chat: &Kept) -> Channels {
    let some = |kept: &Kept| -> Option<Arc<dyn Channel>> { Some(Arc::new(kept.clone())) };
    Channels { mail: some(mail), chat: some(chat), ..Channels::default() }
}

fn to_mail_only(mail: &Kept, audience: &[&str]) -> Options {
    let channels = Channels { chat: None, ..by(mail, &Kept::default()) };
    Options { audience: audience.iter().map(|m| (*m).to_owned()).collect(), ..asking(channels) }
}

/// Ticks at once and then after every pause that a try may have, so many times.
async fn tries(world: &World, n: usize) {
    for _ in 0..n {
        world.engine.notify_tick().await.unwrap();
        world.clock.advance_ms(HOUR / 2);
    }
}

#[tokio::test]
async fn one_who_could_not_be_told_is_told_later_and_the_others_once() {
    let mail = Kept::default();
    let world = World::with(to_mail_only(&mail, &["anna@house.test", "bo@house.test"]));
    mail.refuse(&["bo@house.test"]);
    let run = waiting(&world, "k1", MAIL).await.run.id;

    world.engine.notify_tick().await.unwrap();
    mail.refuse(&[]);
    tries(&world, 3).await;

    assert_eq!((mail.to("anna@house.test").len(), mail.to("bo@house.test").len()), (1, 1));
    let told: Vec<_> = world.facts(run, "notice_delivered").await.iter().map(|f| f["told"].clone()).collect();
    assert_eq!(told, [json!(["anna@house.test"]), json!(["bo@house.test"])]);
    let failed = &world.facts(run, "notice_failed").await[0]["failed"];
    assert_eq!(*failed, json!([{"member": "bo@house.test", "why": "the other side answered 550"}]));
    assert!(!world.agg(run).await.approvals[0].terms.undeliverable);
    assert!(world.alerts().await.is_empty());
    world.verify(run).await;
}

#[tokio::test]
async fn one_who_is_never_reached_is_an_alert_but_the_approval_is_not_undeliverable() {
    let mail = Kept::default();
    let world = World::with(to_mail_only(&mail, &["anna@house.test", "bo@house.test"]));
    mail.refuse(&["bo@house.test"]);
    let run = waiting(&world, "k1", MAIL).await.run.id;

    tries(&world, 12).await;

    assert_eq!(mail.to("anna@house.test").len(), 1);
    assert!(world.alerts().await.contains(&"undeliverable".to_owned()));
    assert!(!world.agg(run).await.approvals[0].terms.undeliverable);
}

#[tokio::test]
async fn an_approval_that_nobody_could_be_told_of_says_so_and_a_reminder_takes_it_back() {
    let mail = Kept::default();
    let world = World::with(to_mail_only(&mail, &["anna@house.test"]));
    mail.refuse(&["*"]);
    let run = waiting(&world, "k1", MAIL).await.run.id;

    tries(&world, 2).await;
    assert!(!world.agg(run).await.approvals[0].terms.undeliverable, "it is tried for a minute first");
    tries(&world, 10).await;
    assert!(world.agg(run).await.approvals[0].terms.undeliverable);
    assert_eq!(world.alerts().await, ["undeliverable"], "once, however many tries");

    mail.refuse(&[]);
    world.clock.advance_ms(8 * HOUR);
    world.engine.sweep_tick().await.unwrap();
    world.engine.notify_tick().await.unwrap();

    assert_eq!(mail.to("anna@house.test").len(), 1);
    assert!(!world.agg(run).await.approvals[0].terms.undeliverable);
    world.verify(run).await;
}

#[tokio::test]
async fn nobody_behind_the_audience_is_said_at_once() {
    let world = World::with(to_mail_only(&Kept::default(), &["role:support-lead"]));
    let run = waiting(&world, "k1", MAIL).await.run.id;

    let report = world.engine.notify_tick().await.unwrap();

    assert_eq!((report.undeliverable, report.retried), (1, 0));
    assert!(world.agg(run).await.approvals[0].terms.undeliverable);
    assert_eq!(world.alerts().await, ["undeliverable"]);
}

#[tokio::test]
async fn an_end_that_nobody_heard_of_is_its_own_outcome() {
    let mail = Kept::default();
    mail.refuse(&["*"]);
    let world = World::with(Options { remind_ms: None, ..to_mail_only(&mail, &["anna@house.test"]) });
    let (lost, told) = (waiting(&world, "lost", MAIL).await.run.id, waiting(&world, "told", MAIL).await.run.id);
    tries(&world, 4).await;
    mail.refuse(&[]);
    tries(&world, 1).await;

    world.clock.advance_ms(24 * HOUR);
    world.engine.sweep_tick().await.unwrap();

    // Both were told in the end, so both expired; one that was never told is undeliverable.
    for run in [lost, told] {
        assert_eq!(world.agg(run).await.approvals[0].outcome(), Some(Outcome::Expired));
    }
    mail.refuse(&["*"]);
    let never = waiting(&world, "never", MAIL).await.run.id;
    tries(&world, 4).await;
    world.clock.advance_ms(24 * HOUR);
    world.engine.sweep_tick().await.unwrap();
    assert_eq!(world.agg(never).await.approvals[0].outcome(), Some(Outcome::Undeliverable));
}

#[tokio::test]
async fn a_mail_server_that_hangs_holds_up_no_chat() {
    let (mail, chat) = (Kept::held(), Kept::default());
    let world = World::with(asking(by(&mail, &chat)));
    account(&world, "anna", &["support-lead"], None).await;
    let (one, other) = (waiting(&world, "k1", MAIL).await, world.engine.clone());
    let ticking = tokio::spawn(async move { other.notify_tick().await.unwrap() });

    chat.until(1).await;
    // A notice that comes while the mail still hangs is told as well.
    waiting(&world, "k2", MAIL).await;
    chat.until(2).await;
    assert!(mail.got().is_empty() && !ticking.is_finished());

    mail.release();
    assert_eq!(ticking.await.unwrap().sent, 2);
    assert_eq!(mail.to("anna@house.test").len(), 2);
    world.verify(one.run.id).await;
}

#[tokio::test]
async fn a_message_that_hangs_holds_up_no_shutdown() {
    let mail = Kept::held();
    let world = World::with(to_mail_only(&mail, &["anna@house.test"]));
    let workers = Workers::start(&world.engine);
    waiting(&world, "k1", MAIL).await;
    mail.until_begun(1).await;

    let stopped = tokio::time::timeout(Duration::from_secs(30), workers.stop(Duration::from_secs(1))).await;

    assert!(stopped.is_ok(), "the message still hangs, the workers do not");
}

#[tokio::test]
async fn one_who_is_asked_in_several_ways_gets_one_mail() {
    let (mail, chat) = (Kept::default(), Kept::default());
    let audience = ["role:support-lead", "role:manager", "ANNA@house.test"].map(str::to_owned).to_vec();
    let world = World::with(Options { audience, ..asking(by(&mail, &chat)) });
    account(&world, "anna", &["support-lead", "manager"], None).await;
    let run = waiting(&world, "k1", MAIL).await.run.id;

    world.engine.notify_tick().await.unwrap();

    assert_eq!((mail.got().len(), chat.got().len()), (1, 1));
    assert_eq!(world.facts(run, "notice_delivered").await[0]["told"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn the_end_is_told_only_where_the_house_wants_it() {
    for (tell_expired, mails) in [(false, 0), (true, 1)] {
        let mail = Kept::default();
        let channels = Channels { tell_expired, chat: None, ..by(&mail, &mail) };
        let world = World::with(Options { remind_ms: None, ..asking(channels) });
        account(&world, "anna", &["support-lead"], Some(("de", "Europe/Berlin"))).await;
        waiting(&world, "k1", MAIL).await;
        world.engine.notify_tick().await.unwrap();

        world.clock.advance_ms(24 * HOUR);
        world.engine.sweep_tick().await.unwrap();
        world.engine.notify_tick().await.unwrap();

        let closing: Vec<_> = mail.to("anna@house.test").into_iter().skip(1).collect();
        assert_eq!(closing.len(), mails);
        for message in closing {
            assert!(message.text.contains("niemand entschieden") && !message.text.contains("/a/"), "{}", message.text);
            assert_eq!(message.facts["kind"], "approval_closed");
        }
    }
}

#[tokio::test]
async fn an_alert_goes_to_its_route_in_the_house_language() {
    let (mail, chat) = (Kept::default(), Kept::default());
    let channels = Channels { language: effectgate_lang::Language::Sv, ..by(&mail, &chat) };
    let alerts = vec![AlertRoute { on: vec![Alert::Undeliverable], to: "mail:ops@house.test".into(), dedupe_ms: HOUR }];
    let audience = vec!["nobody@house.test".to_owned()];
    let world = World::with(Options { alerts, audience, ..asking(channels) });
    mail.refuse(&["nobody@house.test"]);
    waiting(&world, "k1", MAIL).await;

    tries(&world, 4).await;

    let told = mail.to("ops@house.test");
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].subject, "Larm från Effectgate: undeliverable");
    assert!(told[0].text.contains("effectgate explain run_"), "{}", told[0].text);
}
