//! The card by a link: who sees what, and that looking changes nothing (HC-30, HC-34, G6).
#![allow(clippy::unwrap_used)]

mod pages_common;

use effectgate_core::digest::Digest;
use pages_common::{MAIL, Options, World, output};

fn by_link() -> Options {
    Options::by_link(&["anna@house.test"])
}

#[tokio::test]
async fn hc_30_scanners_and_previews_change_nothing_and_then_the_post_works_once() {
    let world = World::new(&by_link());
    let run = world.waiting("k", &[MAIL]).await;
    let link = world.mail.link("anna@house.test");
    let (before, entries) = (world.agg(run).await, world.kinds(run).await);

    for n in 0..100 {
        let mut scanner = world.browser();
        let agent = [("user-agent", "Slackbot-LinkExpanding 1.0"), ("sec-purpose", "prefetch")];
        for (method, path) in
            [("HEAD", link.clone()), ("GET", link.clone()), ("GET", format!("{link}?decision=approve&n={n}"))]
        {
            let answer = scanner.send(method, &path, &agent, String::new()).await;
            assert_eq!(answer.status, 200);
            assert_eq!(answer.header("cache-control"), "no-store");
            assert_eq!(answer.header("referrer-policy"), "no-referrer");
        }
        assert!(!scanner.cookies.keys().any(|name| name.contains("session")), "{:?}", scanner.cookies);
    }

    assert_eq!(world.agg(run).await, before);
    assert_eq!(world.kinds(run).await, entries);
    let decided = world.browser().decide(&link, "approve", "").await;
    assert_eq!((decided.status.as_u16(), decided.header("location")), (303, link.as_str()));
    assert_eq!(world.standing(run).await, ("approved", "approved", 1, 1));
}

#[tokio::test]
async fn every_page_forbids_foreign_scripts_frames_third_parties_and_caches() {
    let world = World::new(&by_link());
    world.waiting("k", &[MAIL]).await;
    let link = world.mail.link("anna@house.test");

    for path in [link.as_str(), "/a/nowhere", "/login", "/inbox"] {
        let answer = world.browser().get(path).await;
        let csp = answer.header("content-security-policy");
        for word in [
            "default-src 'none'",
            "form-action 'self'",
            "frame-ancestors 'none'",
            "base-uri 'none'",
            "script-src 'self';",
        ] {
            assert!(csp.contains(word), "{path}: {csp}");
        }
        assert!(!csp.contains("unsafe") && !csp.contains("http"), "{path}: {csp}");
        assert_eq!(answer.header("cache-control"), "no-store", "{path}");
        assert_eq!(answer.header("referrer-policy"), "no-referrer", "{path}");
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(answer.header("cross-origin-opener-policy"), "same-origin", "{path}");
        assert!(answer.header("permissions-policy").contains("camera=()"), "{path}");
        for bad in ["<script", "style=", "onclick", "src=\"http", "@import"] {
            assert!(!answer.text.contains(bad), "{path} has {bad}");
        }
    }
}

#[tokio::test]
async fn the_card_shows_what_will_be_sent_and_who_will_be_logged() {
    let world = World::new(&by_link());
    let mut more = output(r#"{"label":"question"}"#);
    more.model.name = Some("small-model".into());
    more.model.revision = Some("r7".into());
    world.waiting_by("ticket:42", &[MAIL], Some("user:otto"), more).await;

    let page = world.browser().get(&world.mail.link("anna@house.test")).await;

    for shown in [
        "ticket-reply",
        "ticket:42",
        "https://desk.example.test/t/42",
        "rel=\"noreferrer",
        "customer_mail",
        "anna@example.test",
        "Your order",
        "Dear Anna",
        "small-model",
        "r7",
        "mail:anna@house.test",
        "without a sign-in",
        "2026-09-22 14:13 UTC",
        "in 1 day",
        "user:otto",
        "4 hours left of 4 hours",
        "the clock stands still",
        "label",
        "never blindly",
    ] {
        assert!(page.text.contains(shown), "{shown} is missing");
    }
}

#[tokio::test]
async fn the_card_says_that_a_switch_holds_what_is_approved() {
    use effectgate_core::{actor::Actor, switch::Scope};
    let world = World::new(&by_link());
    world.waiting("k", &[MAIL]).await;
    let (link, said) = (world.mail.link("anna@house.test"), "Sending is switched off");
    assert!(!world.browser().get(&link).await.text.contains(said));

    for (scope, name) in [(Scope::Tenant, "another"), (Scope::Flow, "ticket-reply")] {
        let turn = effectgate_engine::switch::Turn { scope, name: name.into(), enabled: false, reason: "night".into() };
        world.engine.turn_switch(&world.tenant(), &Actor::System("test"), &turn).await.unwrap();
        assert_eq!(world.browser().get(&link).await.text.contains(said), name == "ticket-reply", "{name}");
    }
    assert_eq!(world.browser().decide(&link, "approve", "").await.status, 303);
    assert!(world.browser().get(&link).await.text.contains(said), "it waits in the outbox");
}

#[tokio::test]
async fn hc_34_model_text_is_inert_and_its_tricks_are_visible() {
    let world = World::new(&by_link());
    let draft: serde_json::Value = serde_json::from_str(include_str!("data/hc34-draft.json")).unwrap();
    let payload = serde_json::json!({
        "text": draft["body"], "subject": draft["subject"], "amount": 9999, "to": draft["to"],
    });
    let effects = [("refund", "anna@example.test", payload.to_string())];
    let effects = effects.each_ref().map(|(a, b, c)| (*a, *b, c.as_str()));
    world.waiting_by("k", &effects, None, output(&draft.to_string())).await;

    let page = world.browser().get(&world.mail.link("anna@house.test")).await.text;

    for bad in ["<img", "</pre><button", "<!--", "\u{202e}", "\u{200b}"] {
        assert!(!page.contains(bad), "{bad:?} is on the page as it came");
    }
    for mark in ["U+202E", "50 × U+200B", "blank lines", "amount: 9999.00", "characters", "&#60;img src=x"] {
        assert!(page.contains(mark), "{mark} is missing");
    }
    let (amount, text) = (page.find("<dt><bdi>amount").unwrap(), page.find("<dt><bdi>text").unwrap());
    assert!(amount < text, "who and how much come before what the model wrote");
    let longest = page.split(|c: char| c != '\n').map(str::len).max().unwrap();
    assert!(longest < 20, "{longest} line ends in a row");
}

#[tokio::test]
async fn unknown_and_mangled_links_say_what_to_do() {
    let world = World::new(&by_link());
    world.waiting("k", &[MAIL]).await;
    let link = world.mail.link("anna@house.test");

    for bad in [
        format!("{}A", &link[..link.len() - 1]),
        format!("{link}."),
        format!("{link}/x"),
        link[..20].to_owned(),
        link.to_lowercase(),
        "/a/%00%ff".into(),
        "/a/".into(),
    ] {
        let answer = world.browser().get(&bad).await;
        assert_eq!(answer.status, 404, "{bad}");
        assert!(answer.text.contains("Copy the whole link"), "{bad}");
    }
}

#[tokio::test]
async fn dead_links_are_bounded_by_address_and_live_ones_are_not() {
    let world = World::new(&by_link());
    world.waiting("k", &[MAIL]).await;
    let (link, mut browser) = (world.mail.link("anna@house.test"), world.browser());
    for _ in 0..100 {
        assert_eq!(browser.get(&link).await.status, 200);
    }
    for n in 0..60 {
        assert_eq!(browser.get(&format!("/a/{:043}", n)).await.status, 404);
    }

    let blocked = browser.get(&format!("/a/{:043}", 99)).await;

    assert_eq!(blocked.status, 429);
    assert!(blocked.header("retry-after").parse::<u64>().unwrap() <= 60);
    world.clock.advance_ms(60_000);
    assert_eq!(browser.get(&link).await.status, 200);
}

#[tokio::test]
async fn g6_only_the_hash_of_a_token_is_stored() {
    let world = World::new(&by_link());
    world.waiting("k", &[MAIL]).await;
    let link = world.mail.link("anna@house.test");
    let token = link.strip_prefix("/a/").unwrap();
    world.store.close().await;

    let bytes = world.bytes();

    let holds = |needle: &[u8]| bytes.windows(needle.len()).any(|window| window == needle);
    assert!(!holds(token.as_bytes()), "the token lies in the database");
    assert!(holds(&Digest::of(token.as_bytes()).as_bytes()[..]), "its hash does not");
}

#[tokio::test]
async fn an_expired_link_says_so_and_decides_nothing_swept_or_not() {
    let world = World::new(&by_link());
    let run = world.waiting("k", &[MAIL]).await;
    let link = world.mail.link("anna@house.test");
    let mut browser = world.browser();
    let page = browser.get(&link).await;
    world.clock.advance_ms(24 * pages_common::policy::HOUR);

    for swept in [false, true] {
        if swept {
            world.engine.sweep_tick().await.unwrap();
        }
        let shown = browser.get(&link).await;
        assert!(shown.text.contains("Expired") && !shown.has_form("approve"), "swept: {swept}");
        let late = browser.press(&page, &link, "approve", "").await;
        assert_eq!(late.status, 409, "swept: {swept}");
        assert!(late.text.contains("Nobody decided before 2026-09-22 14:13 UTC"), "{}", late.text);
    }
    assert_eq!(world.standing(run).await, ("failed_terminal", "expired", 0, 0));
}
