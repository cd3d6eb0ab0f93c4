//! The inbox, and the languages and zones of its readers.
#![allow(clippy::unwrap_used)]

mod pages_common;

use effectgate_store::{ProfileRow, ProfileSource};
use pages_common::{MAIL, Options, World};

#[tokio::test]
async fn a_line_says_what_will_be_sent_how_risky_it_is_and_how_much_time_is_left() {
    let world = World::new(&Options { quorum: 2, ..Options::default() });
    world.user("anna", &["support-lead"]).await;
    world.waiting("k-1", &[("refund", "ch_1", r#"{"amount":4200,"currency":"eur","note":"secret"}"#)]).await;
    world.clock.advance_ms(300_000);

    let page = world.signed_in("anna").await.get("/inbox").await.text;

    for wanted in [
        "k-1",
        "refund",
        "ch_1",
        "amount",
        "4200",
        "eur",
        "High impact",
        "0 of 2 approvals",
        "Waiting for 5 minutes",
        "Decide before",
        "4 hours left of 4 hours",
        "data-relative",
    ] {
        assert!(page.contains(wanted), "{wanted} is missing");
    }
    assert!(!page.contains("secret"), "a list is no place for the rest");
}

#[tokio::test]
async fn everybody_sees_their_own_tabs_and_operators_all() {
    let world = World::new(&Options {
        audience: vec!["role:support-lead".into(), "bert@house.test".into()],
        ..Options::default()
    });
    world.user("anna", &["support-lead"]).await;
    world.user("bert", &[]).await;
    world.user("otto", &["operator"]).await;
    world.user("vera", &["viewer"]).await;
    world.waiting("k-1", &[MAIL]).await;

    let mut otto = world.signed_in("otto").await;
    for (name, shown, all) in
        [("anna", true, false), ("bert", true, false), ("otto", true, true), ("vera", false, false)]
    {
        let page = world.signed_in(name).await.get("/inbox").await.text;
        assert_eq!((page.contains("k-1"), page.contains("view=all")), (shown, all), "{name}");
    }
    assert!(world.signed_in("vera").await.get("/inbox?view=all").await.text.contains("Nothing waits"));
    assert!(otto.get("/inbox?view=mine").await.text.contains("Nothing waits for you by name"));
}

#[tokio::test]
async fn pages_follow_one_another_without_gaps() {
    let world = World::new(&Options::default());
    world.user("anna", &["support-lead"]).await;
    for n in 0..55 {
        world.waiting(&format!("key-{n:02}"), &[MAIL]).await;
        world.clock.advance_ms(1_000);
    }
    let mut anna = world.signed_in("anna").await;

    let first = anna.get("/inbox?order=age").await.text;
    let next = first.split("rel=\"next\"").next().unwrap().rsplit("href=\"").next().unwrap().split('"').next().unwrap();
    let second = anna.get(&next.replace("&#38;", "&")).await.text;

    let keys = |page: &str| (0..55).filter(|n| page.contains(&format!("key-{n:02}"))).collect::<Vec<i32>>();
    assert_eq!((keys(&first), keys(&second)), ((0..50).collect(), (50..55).collect()));
    assert!(first.contains(">55<") && second.contains("First page"));
    assert_eq!(anna.get("/inbox?order=nonsense&view=x&flow=nope&cursor=%00").await.status.as_u16() / 100, 4);
}

#[tokio::test]
async fn card_and_inbox_speak_the_readers_language_and_name_the_zone() {
    let world = World::new(&Options::default());
    world.user("anna", &["support-lead"]).await;
    let run = world.waiting("k-1", &[MAIL]).await;
    let path = format!("/approvals/{}", world.agg(run).await.approval().unwrap().id);
    let mut anna = world.signed_in("anna").await;

    for (asked, lang, dir, word) in [
        ("sv-FI,en;q=0.5", "sv", "ltr", "Godkänn och skicka"),
        ("de", "de", "ltr", "Freigeben und senden"),
        ("ru", "ru", "ltr", "Одобрить и отправить"),
        ("fa", "fa", "rtl", "تأیید و ارسال"),
        ("xx", "en", "ltr", "Approve and send"),
    ] {
        anna.language = Some(asked.to_owned());
        let page = anna.get(&path).await.text;
        assert!(page.contains(&format!("<html lang=\"{lang}\" dir=\"{dir}\">")), "{asked}");
        assert!(page.contains(word), "{asked}: {word} is missing");
        assert!(anna.get("/inbox").await.text.contains(&format!("lang=\"{lang}\"")));
    }
    let now = world.engine.now();
    let profile = ProfileRow {
        tenant: world.tenant(),
        subject: "user:anna".into(),
        source: ProfileSource::Local,
        name: "anna".into(),
        email: None,
        roles: vec![],
        language: Some("de".into()),
        zone: Some("Europe/Stockholm".into()),
        created_at: now,
        seen_at: now,
    };
    world.store.profile_put(profile).await.unwrap();
    let page = anna.get(&path).await.text;
    assert!(page.contains("lang=\"de\""), "a setting goes before what the browser says");
    assert!(page.contains("Europe/Stockholm (UTC+02:00)") && page.contains("datetime=\"2026-09-22T14:13"), "{page}");
}
