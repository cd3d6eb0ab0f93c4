//! Signing in, sessions, and the card behind a sign-in.
#![allow(clippy::unwrap_used)]

mod pages_common;

use effectgate_core::{actor::Actor, digest::Digest, ids::RunId};
use pages_common::{MAIL, Options, PASSWORD, World, policy::HOUR};

#[tokio::test]
async fn without_a_session_the_link_reveals_nothing_of_the_content() {
    let world = World::new(&Options::default());
    world.user("anna", &["support-lead"]).await;
    world.waiting("secret-key-7", &[MAIL]).await;
    let (link, mut browser) = (world.mail.link("anna@house.test"), world.browser());

    let page = browser.get(&link).await;

    assert_eq!(page.status, 200);
    for hidden in
        ["secret-key-7", "anna@example.test", "Dear Anna", "customer_mail", "support-lead", "desk.example.test"]
    {
        assert!(!page.text.contains(hidden), "{hidden} is shown");
    }
    assert!(page.text.contains("ticket-reply") && page.text.contains("/login?next=%2Fa%2F"));
    assert!(browser.cookies.is_empty(), "nothing is given out");
}

#[tokio::test]
async fn after_signing_in_the_way_leads_back_to_the_card_and_the_person_is_logged() {
    let world = World::new(&Options::default());
    world.user("anna", &["support-lead"]).await;
    let run = world.waiting("k", &[MAIL]).await;
    let (link, mut browser) = (world.mail.link("anna@house.test"), world.browser());
    let page = format!("/login?next={}", link.replace('/', "%2F"));

    let signed_in = browser.sign_in_at(&page, " Anna ", PASSWORD).await;

    assert_eq!((signed_in.status.as_u16(), signed_in.header("location")), (303, link.as_str()));
    assert_eq!(browser.decide(&link, "approve", "").await.status, 303);

    let agg = world.agg(run).await;
    assert_eq!(agg.approval().unwrap().decisions[0].subject.as_str(), "user:anna");
}

#[tokio::test]
async fn a_card_is_found_in_the_inbox_by_those_who_were_asked_and_only_by_them() {
    let world = World::new(&Options::default());
    world.user("anna", &["support-lead"]).await;
    world.user("carl", &["approver"]).await;
    let run = world.waiting("k-in-box", &[MAIL]).await;
    let (mut anna, mut carl) = (world.signed_in("anna").await, world.signed_in("carl").await);
    let path = format!("/approvals/{}", world.agg(run).await.approval().unwrap().id);

    assert!(anna.get("/inbox").await.text.contains("k-in-box"));
    assert!(carl.get("/inbox").await.text.contains("Nothing waits"));
    let refused = carl.get(&path).await;
    assert_eq!(refused.status, 403);
    assert!(!refused.text.contains("k-in-box"));
    assert_eq!(carl.get(&world.mail.link("anna@house.test")).await.status, 403, "the link is no key");
    assert_eq!(world.browser().get(&path).await.status, 303, "without a session to the sign-in");
    assert_eq!(anna.decide(&path, "approve", "").await.status, 303);
    assert!(anna.get("/inbox").await.text.contains("Nothing waits"));
    assert!(anna.get(&path).await.text.contains("By user:anna"));
}

#[tokio::test]
async fn a_session_is_new_at_each_sign_in_and_ends_at_sign_out() {
    let world = World::new(&Options::default());
    world.user("anna", &[]).await;
    let mut browser = world.signed_in("anna").await;
    let first = browser.cookies["effectgate-session"].clone();
    assert_eq!(browser.sign_in("anna", PASSWORD).await.status, 303);
    let second = browser.cookies["effectgate-session"].clone();

    assert_ne!(first, second);
    let mut old = world.browser();
    old.cookies.insert("effectgate-session".into(), first.clone());
    assert_eq!(old.get("/inbox").await.status, 303, "the session before is over");
    let page = browser.get("/inbox").await;
    assert_eq!(page.status, 200);
    let csrf = page.text.split("name=\"csrf\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    assert_eq!(browser.post("/logout", &[("csrf".into(), "x".into())]).await.status, 403);
    assert_eq!(browser.post("/logout", &[("csrf".into(), csrf)]).await.status, 303);
    let mut stolen = world.browser();
    stolen.cookies.insert("effectgate-session".into(), second.clone());
    assert_eq!(stolen.get("/inbox").await.status, 303);
    assert!(world.store.session_find(&Digest::of(second.as_bytes())).await.unwrap().is_none());
}

#[tokio::test]
async fn a_session_ends_after_idling_and_absolutely() {
    let world = World::new(&Options::default());
    world.user("anna", &[]).await;
    let (mut idle, mut busy) = (world.signed_in("anna").await, world.signed_in("anna").await);
    for _ in 0..7 {
        world.clock.advance_ms(3 * HOUR);
        assert_eq!(busy.get("/inbox").await.status, 200);
    }

    assert_eq!(idle.get("/inbox").await.status, 303, "eight hours idle");
    world.clock.advance_ms(3 * HOUR);
    assert_eq!(busy.get("/inbox").await.status, 303, "a day in all");
}

#[tokio::test]
async fn a_disabled_account_or_a_new_password_ends_every_session() {
    let world = World::new(&Options::default());
    world.user("anna", &[]).await;
    world.user("bert", &[]).await;
    let (mut anna, mut bert) = (world.signed_in("anna").await, world.signed_in("bert").await);
    let (tenant, actor) = (world.tenant(), Actor::System("test"));
    world.engine.user_disable(&tenant, &actor, "Anna").await.unwrap();
    let put = effectgate_engine::people::UserPut {
        name: "bert".into(),
        password_hash: Some(effectgate_web::auth::password::hash("another password").unwrap()),
        ..Default::default()
    };
    world.engine.user_put(&tenant, &actor, &put).await.unwrap();

    assert_eq!(anna.get("/inbox").await.status, 303);
    assert_eq!(bert.get("/inbox").await.status, 303);
    assert_eq!(world.browser().sign_in("anna", PASSWORD).await.status, 403);
}

#[tokio::test]
async fn wrong_names_and_wrong_passwords_sound_alike_and_too_many_wait() {
    let world = World::new(&Options::default());
    world.user("anna", &[]).await;
    let mut browser = world.browser();
    let wrong = browser.sign_in("anna", "not this one").await;
    let nobody = browser.sign_in("nobody", "not this one").await;
    assert_eq!((wrong.status.as_u16(), nobody.status.as_u16()), (403, 403));
    let alike = "User name or password is not right";
    assert!(wrong.text.contains(alike) && nobody.text.contains(alike));
    for _ in 0..9 {
        browser.sign_in("anna", "not this one").await;
    }

    let blocked = browser.sign_in("anna", PASSWORD).await;

    assert_eq!(blocked.status, 429);
    assert!(blocked.text.contains("15 minutes") && !blocked.header("retry-after").is_empty());
    let house = RunId::house(&world.tenant());
    let entries = world.store.journal_read(house, 0, 100).await.unwrap();
    let refused: Vec<_> = entries.iter().filter(|e| e.kind == "sign_in_refused").collect();
    assert_eq!(refused.len(), 1, "noted once");
    assert!(refused[0].text.contains("anna") && !refused[0].text.contains("not this one"));
    let head = world.store.house_head(&world.tenant()).await.unwrap();
    effectgate_core::journal::verify(house, &entries, head).unwrap();
    world.clock.advance_ms(15 * 60_000);
    assert_eq!(browser.sign_in("anna", PASSWORD).await.status, 303);
}

#[tokio::test]
async fn hc_33_over_https_cookies_are_host_only_secure_http_only_and_lax() {
    let world = World::new(&Options { cookie_secure: true, ..Options::default() });
    world.user("anna", &[]).await;
    let mut browser = world.browser();

    let answer = browser.sign_in("anna", PASSWORD).await;

    let set: Vec<_> = answer.headers.get_all("set-cookie").iter().map(|v| v.to_str().unwrap()).collect();
    let session = set.iter().find(|s| s.starts_with("__Host-effectgate-session=")).unwrap();
    assert!(session.ends_with("; Path=/; HttpOnly; SameSite=Lax; Secure"), "{session}");
}

#[tokio::test]
async fn hc_33_a_sign_in_from_a_foreign_page_is_refused() {
    let world = World::new(&Options::default());
    world.user("anna", &[]).await;
    let mut browser = world.browser();
    let form = ("content-type", "application/x-www-form-urlencoded");
    let body = format!("csrf=x&user=anna&password={}", PASSWORD.replace(' ', "+"));

    for headers in
        [&[form][..], &[form, ("origin", "https://attacker.test")], &[form, ("sec-fetch-site", "cross-site")]]
    {
        assert_eq!(browser.send("POST", "/login", headers, body.clone()).await.status, 403);
    }
    assert!(browser.cookies.is_empty());
}

#[tokio::test]
async fn programs_sign_in_and_out_with_json() {
    let world = World::new(&Options::default());
    world.user("anna", &["support-lead"]).await;
    let mut client = world.browser();
    let json = ("content-type", "application/json");
    let body = format!(r#"{{"user":"anna","password":"{PASSWORD}"}}"#);

    for (headers, status) in
        [(&[("content-type", "text/plain")][..], 415), (&[], 415), (&[json, ("origin", "https://attacker.test")], 403)]
    {
        assert_eq!(client.send("POST", "/v1/session", headers, body.clone()).await.status.as_u16(), status);
    }
    let wrong = client.send("POST", "/v1/session", &[json], body.replace("horse", "cow")).await;
    assert_eq!(wrong.status, 401);
    let opened = client.send("POST", "/v1/session", &[json], body).await;
    assert_eq!(opened.status, 200, "{}", opened.text);
    assert!(
        opened.text.contains(r#""subject":"user:anna""#)
            && !opened.text.contains(&client.cookies["effectgate-session"])
    );
    assert_eq!(client.get("/inbox").await.status, 200);
    assert_eq!(
        client.send("DELETE", "/v1/session", &[], String::new()).await.status,
        403,
        "no sign that it is no page"
    );
    assert_eq!(client.send("DELETE", "/v1/session", &[("effectgate-csrf", "1")], String::new()).await.status, 204);
    assert_eq!(client.get("/inbox").await.status, 303);
}

#[tokio::test]
async fn accounts_change_in_the_house_chain_and_their_passwords_do_not_enter_it() {
    let world = World::new(&Options::default());
    world.user("Anna", &["a", "b", "a"]).await;
    world.user("anna", &["c"]).await;
    let (tenant, actor) = (world.tenant(), Actor::System("test"));
    world.engine.user_disable(&tenant, &actor, "anna").await.unwrap();

    let house = RunId::house(&tenant);
    let entries = world.store.journal_read(house, 0, 100).await.unwrap();
    let kinds: Vec<_> = entries.iter().map(|e| e.kind.as_str()).collect();
    assert_eq!(kinds, ["user_created", "user_changed", "user_changed"]);
    assert!(entries.iter().all(|e| !e.text.contains("argon2")));
    effectgate_core::journal::verify(house, &entries, world.store.house_head(&tenant).await.unwrap()).unwrap();
    for bad in ["", "a b", "role:x", &"x".repeat(101)] {
        let put = effectgate_engine::people::UserPut { name: bad.into(), ..Default::default() };
        assert!(world.engine.user_put(&tenant, &actor, &put).await.is_err(), "{bad}");
    }
}

#[tokio::test]
async fn hc_33_json_with_a_session_decides_only_for_a_program_or_our_own_page() {
    let world = World::new(&Options::default());
    world.user("anna", &["support-lead"]).await;
    let run = world.waiting("k", &[MAIL]).await;
    let mut anna = world.signed_in("anna").await;
    let approval = world.agg(run).await.approval().unwrap().clone();
    let path = format!("/v1/approvals/{}/decide", approval.id);
    let body = format!(r#"{{"decision":"approve","effects_hash":"sha256:{}"}}"#, approval.effects_hash);
    let (json, program) = (("content-type", "application/json"), ("effectgate-csrf", "1"));

    for (what, headers) in [
        ("text/plain", vec![("content-type", "text/plain"), program]),
        ("form", vec![("content-type", "application/x-www-form-urlencoded"), program]),
        ("no content type", vec![program]),
        ("nothing that a foreign page could not send", vec![json]),
        ("foreign origin", vec![json, program, ("origin", "https://attacker.test")]),
        ("foreign site", vec![json, ("sec-fetch-site", "cross-site")]),
    ] {
        let answer = anna.send("POST", &path, &headers, body.clone()).await;
        assert!(answer.status == 403 || answer.status == 415, "{what}: {}", answer.status);
        assert_eq!(world.standing(run).await, ("awaiting_human", "open", 0, 0), "{what}");
    }
    let taken = anna.send("POST", &path, &[json, program], body).await;
    assert_eq!(taken.status, 200, "{}", taken.text);
    assert_eq!(world.standing(run).await, ("approved", "approved", 1, 1));
}

/// What Chromium, Firefox and Safari send for a page.
const BROWSER: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

#[tokio::test]
async fn a_path_that_leads_nowhere_is_a_page_for_a_browser_and_a_problem_for_a_program() {
    let world = World::new(&Options::default());
    world.user("anna", &["support-lead"]).await;
    let (mut anna, mut visitor) = (world.signed_in("anna").await, world.browser());

    let inside = anna.send("GET", "/inbix", &[("accept", BROWSER)], String::new()).await;
    let outside = visitor.send("GET", "/inbix", &[("accept", BROWSER), ("accept-language", "de")], String::new()).await;

    for page in [&inside, &outside] {
        assert_eq!((page.status.as_u16(), page.header("content-type")), (404, "text/html; charset=utf-8"));
        assert!(page.header("content-security-policy").starts_with("default-src 'none'"));
        assert!(page.text.contains("href=\"/inbox\""), "no dead end: {}", page.text);
    }
    assert!(inside.text.contains("There is no such page") && inside.text.contains("/logout"), "{}", inside.text);
    assert!(outside.text.contains("Diese Seite gibt es nicht"), "{}", outside.text);
    for accept in ["*/*", "application/json", "application/json, text/html", "application/problem+json,text/html"] {
        let answer = visitor.send("GET", "/inbix", &[("accept", accept)], String::new()).await;
        assert_eq!((answer.status.as_u16(), answer.header("content-type")), (404, "application/problem+json"));
        assert!(answer.text.contains("no_such_path"), "{accept}");
    }
}
