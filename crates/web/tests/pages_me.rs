//! /me: one's own settings, sessions and password; and what an operator or a lockout does to sessions and sign-ins.
#![allow(clippy::unwrap_used)]

mod pages_common;

use effectgate_core::{actor::Actor, ids::RunId};
use effectgate_testkit::oidc::Someone;
use pages_common::{Browser, Options, PASSWORD, World, issuer::Sso, policy::HOUR};

const SESSION: &str = "effectgate-session";
const NEW: &str = "a few words of my own";

fn world() -> World {
    World::new(&Options::default())
}

fn fields(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// Fills in a form of /me.
async fn send(browser: &mut Browser, path: &str, more: &[(&str, &str)]) -> pages_common::browser::Answer {
    let mut form = browser.get("/me").await.hidden_of(&format!("action=\"{path}\""));
    form.extend(fields(more));
    browser.post(path, &form).await
}

#[tokio::test]
async fn the_page_says_who_somebody_is_and_marks_the_session_of_this_browser() {
    let world = world();
    world.user("anna", &["approver", "support-lead"]).await;
    let mut other = world.browser();
    let agent = [
        ("user-agent", "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko Firefox/130.0"),
        ("effectgate-csrf", "1"),
        ("content-type", "application/json"),
    ];
    let body = format!(r#"{{"user":"anna","password":"{PASSWORD}"}}"#);
    assert_eq!(other.send("POST", "/v1/session", &agent, body).await.status, 200);
    let mut browser = world.signed_in("anna").await;

    let page = browser.get("/me").await;

    assert_eq!(page.status, 200);
    for word in ["user:anna", "anna@house.test", "approver, support-lead", "Firefox, Linux", ">this one<", "UTC"] {
        assert!(page.text.contains(word), "{word}: {}", page.text);
    }
    assert_eq!(page.text.matches("Signed in 20").count(), 2);
    assert_eq!(page.text.matches(">this one<").count(), 1);
    assert_eq!(world.browser().get("/me").await.header("location"), "/login?next=%2Fme");
}

#[tokio::test]
async fn language_and_zone_are_kept_for_the_person_and_only_from_the_list() {
    let world = world();
    world.user("anna", &[]).await;
    let mut browser = world.signed_in("anna").await;

    let saved = send(&mut browser, "/me", &[("language", "fa"), ("zone", "Asia/Tehran")]).await;

    assert_eq!(saved.status, 200);
    assert!(saved.text.contains("dir=\"rtl\"") && saved.text.contains("ذخیره شد"), "{}", saved.text);

    let profile = world.store.profile_find(&world.tenant(), "user:anna").await.unwrap().unwrap();
    assert_eq!((profile.language.as_deref(), profile.zone.as_deref()), (Some("fa"), Some("Asia/Tehran")));
    assert!(browser.get("/me").await.text.contains("Asia/Tehran (UTC+03:30)"));
    for bad in [[("language", "xx"), ("zone", "UTC")], [("language", "sv"), ("zone", "Mars/Base")]] {
        assert_eq!(send(&mut browser, "/me", &bad).await.status, 400);
    }
    let kept = world.store.profile_find(&world.tenant(), "user:anna").await.unwrap().unwrap();
    assert_eq!(kept.language, profile.language, "nothing was changed");
}

#[tokio::test]
async fn a_sign_in_keeps_the_language_and_renews_what_the_issuer_says() {
    let sso = Sso::new(world());
    sso.issuer.sign_in(Someone::new("anna", &["leads"]));
    let mut browser = sso.browser();
    sso.sign_in(&mut browser, "/me").await;
    send(&mut browser, "/me", &[("language", "sv"), ("zone", "Europe/Stockholm")]).await;

    sso.issuer.sign_in(Someone::new("anna", &["ops"]));
    sso.sign_in(&mut browser, "/me").await;

    let subject = "oidc:https://issuer.test#id-of-anna";
    let profile = sso.world.store.profile_find(&sso.world.tenant(), subject).await.unwrap().unwrap();
    assert_eq!((profile.language.as_deref(), profile.roles), (Some("sv"), vec!["operator".to_owned()]));
    assert_eq!(profile.email.as_deref(), Some("anna@house.test"));
    let page = browser.get("/me").await.text;
    assert!(page.contains("House ID") && !page.contains("/me/password"), "no password of single sign-on here");
}

#[tokio::test]
async fn signing_out_everywhere_ends_every_browser_of_this_person_and_of_nobody_else() {
    let world = world();
    world.user("anna", &[]).await;
    world.user("berta", &[]).await;
    let (mut here, mut there) = (world.signed_in("anna").await, world.signed_in("anna").await);
    let mut other = world.signed_in("berta").await;

    let out = send(&mut here, "/me/sign-out", &[]).await;

    assert_eq!((out.status.as_u16(), out.header("location")), (303, "/login"));
    assert!(!here.cookies.contains_key(SESSION));
    assert_eq!(there.get("/inbox").await.status, 303);
    assert_eq!(other.get("/inbox").await.status, 200);
}

#[tokio::test]
async fn a_changed_password_asks_the_old_one_and_ends_the_other_sessions() {
    let world = world();
    world.user("anna", &[]).await;
    let (mut here, mut there) = (world.signed_in("anna").await, world.signed_in("anna").await);
    let before = here.cookies[SESSION].clone();
    for (old, new, words) in [
        ("not the old one", NEW, "present password"),
        (PASSWORD, "short", "at least 12"),
        (PASSWORD, "Password1234!", "guessed"),
        (PASSWORD, "anna.anna.anna", "guessed"),
    ] {
        let refused = send(&mut here, "/me/password", &[("old", old), ("new", new)]).await;
        assert_eq!(refused.status, 400, "{new}");
        assert!(refused.text.contains(words), "{new}: {}", refused.text);
    }
    assert_eq!(there.get("/inbox").await.status, 200, "nothing was changed");

    assert_eq!(send(&mut here, "/me/password", &[("old", PASSWORD), ("new", NEW)]).await.status, 303);

    assert_ne!(here.cookies[SESSION], before, "a fresh session");
    assert_eq!(here.get("/me").await.status, 200);
    assert_eq!(there.get("/inbox").await.status, 303);
    assert_eq!(world.browser().sign_in("anna", PASSWORD).await.status, 403);
    assert_eq!(world.browser().sign_in("anna", NEW).await.status, 303);
    let house = world.kinds(RunId::house(&world.tenant())).await;
    assert_eq!(house.iter().filter(|kind| *kind == "user_changed").count(), 1);
}

#[tokio::test]
async fn a_session_left_open_is_not_enough_to_guess_the_password() {
    let world = world();
    world.user("anna", &[]).await;
    let mut browser = world.signed_in("anna").await;
    let mut statuses = Vec::new();
    for _ in 0..11 {
        statuses.push(send(&mut browser, "/me/password", &[("old", "a guess"), ("new", NEW)]).await.status.as_u16());
    }
    assert_eq!((statuses[9], statuses[10]), (400, 429));
}

#[tokio::test]
async fn hc_33_no_form_of_the_page_is_taken_from_another_site_or_in_another_encoding() {
    let world = world();
    world.user("anna", &[]).await;
    let mut browser = world.signed_in("anna").await;
    let session = browser.cookies[SESSION].clone();
    for path in ["/me", "/me/password", "/me/sign-out"] {
        let token = browser.get("/me").await.hidden_of(&format!("action=\"{path}\""))[0].1.clone();
        let body = format!(
            "csrf={token}&language=sv&zone=UTC&old={}&new={}",
            PASSWORD.replace(' ', "+"),
            NEW.replace(' ', "+")
        );
        let form = ("content-type", "application/x-www-form-urlencoded");
        for (headers, body, status) in [
            (vec![form, ("origin", "https://attacker.test")], body.clone(), 403),
            (vec![form, ("sec-fetch-site", "cross-site")], body.clone(), 403),
            (vec![("content-type", "text/plain"), ("sec-fetch-site", "same-origin")], body.clone(), 415),
            (vec![("content-type", "application/json"), ("sec-fetch-site", "same-origin")], "{}".into(), 415),
            (vec![("sec-fetch-site", "same-origin")], body.clone(), 415),
            (vec![form, ("sec-fetch-site", "same-origin")], body.replace(&token, "guessed"), 403),
        ] {
            let answer = browser.send("POST", path, &headers, body).await;
            assert_eq!(answer.status.as_u16(), status, "{path} {headers:?}");
        }
    }
    assert_eq!(browser.cookies[SESSION], session);
    assert_eq!(browser.get("/me").await.status, 200, "nobody was signed out");
    assert_eq!(world.store.profile_find(&world.tenant(), "user:anna").await.unwrap(), None);
    assert_eq!(world.browser().sign_in("anna", PASSWORD).await.status, 303);
}

#[tokio::test]
async fn an_operator_ends_the_sessions_of_everybody_that_a_name_means() {
    let sso = Sso::new(world());
    sso.world.user("anna", &[]).await;
    sso.issuer.sign_in(Someone::new("anna", &["leads"]));
    let actor = Actor::System("test");
    let subject = "oidc:https://issuer.test#id-of-anna";
    for (name, ended) in [("Anna@house.test", vec!["anna", subject]), (subject, vec![subject]), ("ANNA", vec!["anna"])]
    {
        let (mut by_issuer, mut by_password) = (sso.browser(), sso.browser());
        sso.sign_in(&mut by_issuer, "/inbox").await;
        by_password.sign_in("anna", PASSWORD).await;

        let told = sso.world.engine.user_sign_out(&sso.world.tenant(), &actor, name).await.unwrap();

        assert_eq!(told, ended, "{name}");
        let status = |user: &str| if ended.contains(&user) { 303 } else { 200 };
        assert_eq!(by_issuer.get("/inbox").await.status.as_u16(), status(subject), "{name}");
        assert_eq!(by_password.get("/inbox").await.status.as_u16(), status("anna"), "{name}");
        let profile = sso.world.store.profile_find(&sso.world.tenant(), subject).await.unwrap().unwrap();
        assert_eq!(profile.roles.is_empty(), ended.contains(&subject), "{name}: no mail to a role any more");
    }
    assert!(sso.world.engine.user_sign_out(&sso.world.tenant(), &actor, "nobody").await.is_err());
}

#[tokio::test]
async fn a_lockout_is_an_entry_and_an_alert_that_names_the_account_and_no_address() {
    let world = world();
    world.user("anna", &[]).await;
    for _ in 0..12 {
        world.browser().sign_in("anna", "a guess").await;
    }

    let due = world.store.notice_due(10).await.unwrap();

    let told = format!("{due:?}");
    assert_eq!(told.matches("Lockout").count(), 1, "{told}");
    assert!(told.contains("lockout:default:anna") && told.contains("of the account anna"), "{told}");
    assert!(!told.contains("0.0.0.0") && !told.contains("127.0.0.1"), "{told}");
    let house = world.kinds(RunId::house(&world.tenant())).await;
    assert_eq!(house.iter().filter(|kind| *kind == "sign_in_refused").count(), 1);
    world.clock.advance_ms(HOUR);
    assert_eq!(world.browser().sign_in("anna", PASSWORD).await.status, 303);
}
