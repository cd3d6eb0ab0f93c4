//! Single sign-on through the pages: there, back, and every way in which somebody is not signed in.
#![allow(clippy::unwrap_used)]

mod pages_common;

use std::{collections::BTreeSet, sync::atomic::Ordering};

use effectgate_core::ids::Tenant;
use effectgate_engine::sign_on::TenantRule;
use effectgate_testkit::oidc::{Fault, Someone};
use effectgate_web::WebSettings;
use pages_common::{
    Browser, MAIL, Options, World,
    issuer::{Sso, settings},
    policy::HOUR,
};

const SESSION: &str = "effectgate-session";
const MINUTE: i64 = 60_000;

fn sso() -> Sso {
    let sso = Sso::new(World::new(&Options::default()));
    sso.issuer.sign_in(Someone::new("anna", &["leads", "staff"]));
    sso
}

fn underway(browser: &Browser) -> usize {
    browser.cookies.keys().filter(|name| name.starts_with("effectgate-signin-")).count()
}

#[tokio::test]
async fn the_way_leads_over_the_issuer_back_to_the_card_and_the_decision_names_the_person() {
    let sso = sso();
    let run = sso.world.waiting("k", &[MAIL]).await;
    let mut browser = sso.browser();
    let path = format!("/approvals/{}", sso.world.agg(run).await.approval().unwrap().id);

    let back = sso.sign_in(&mut browser, &path).await;

    assert_eq!((back.status.as_u16(), back.header("location")), (303, path.as_str()));
    assert_eq!(underway(&browser), 0, "the cookie of the sign-in is over");
    assert_eq!(browser.decide(&path, "approve", "").await.status, 303);
    let agg = sso.world.agg(run).await;
    let decision = &agg.approval().unwrap().decisions[0];
    assert_eq!(decision.subject.as_str(), "oidc:https://issuer.test#id-of-anna");
    // Colleagues read the address that they know; the record keeps the subject.
    let card = browser.get(&path).await.text;
    assert!(card.contains("mail:anna@house.test") && !card.contains("#id-of-anna"), "{card}");
}

#[tokio::test]
async fn the_sign_in_page_shows_both_ways_or_the_one_that_is_open() {
    let both = sso().browser().get("/login?next=%2Fapprovals%2Fx").await;
    assert!(both.text.contains("/auth/oidc/start?next=%2Fapprovals%2Fx") && both.text.contains("House ID"));
    assert!(both.text.contains("action=\"/login\""));

    let closed = WebSettings { local_accounts: false, ..settings() };
    let sso = Sso::with(World::new(&Options::default()), closed, TenantRule::Fixed(Tenant::new("default")));
    sso.world.user("anna", &["approver"]).await;
    let page = sso.browser().get("/login").await;
    assert!(page.text.contains("House ID") && !page.text.contains("action=\"/login\""));
    let json = [("content-type", "application/json")];
    let body = r#"{"user":"anna","password":"correct horse battery"}"#.to_owned();
    let refused = sso.browser().send("POST", "/v1/session", &json, body).await;
    assert_eq!(refused.status, 403);
    assert!(refused.text.contains("local_accounts_off"), "{}", refused.text);

    let none = World::new(&Options::default());
    assert!(!none.browser().get("/login").await.text.contains("/auth/oidc"));
    assert_eq!(none.browser().get("/auth/oidc/start").await.status, 404);
}

#[tokio::test]
async fn hc_33_the_cookie_of_a_sign_in_is_http_only_lax_short_and_of_this_host_alone() {
    let secure = WebSettings { cookie_secure: true, ..settings() };
    let sso = Sso::with(World::new(&Options::default()), secure, TenantRule::Fixed(Tenant::new("default")));
    let start = sso.browser().get("/auth/oidc/start").await;
    let set = start.header("set-cookie");

    assert!(set.starts_with("__Host-effectgate-signin-"), "{set}");
    assert!(set.ends_with("; Path=/; HttpOnly; SameSite=Lax; Secure; Max-Age=600"), "{set}");
    assert_eq!((start.header("cache-control"), start.header("referrer-policy")), ("no-store", "no-referrer"));
}

#[tokio::test]
async fn several_tabs_sign_in_at_once_and_the_sixth_forgets_the_first() {
    let sso = sso();
    let mut browser = sso.browser();
    let mut backs = Vec::new();
    for n in 0..6 {
        backs.push(sso.there(&mut browser, &format!("/inbox?tab={n}")).await);
        sso.world.clock.advance_ms(10);
    }
    assert_eq!(underway(&browser), 5);

    assert_eq!(browser.get(&backs[0]).await.status, 400);
    for (n, back) in backs.iter().enumerate().skip(1).rev() {
        let answer = browser.get(back).await;
        assert_eq!((answer.status.as_u16(), answer.header("location")), (303, format!("/inbox?tab={n}").as_str()));
    }
}

#[tokio::test]
async fn the_back_button_gives_a_friendly_page_and_no_session() {
    let sso = sso();
    let mut browser = sso.browser();
    let back = sso.there(&mut browser, "/inbox").await;
    browser.get(&back).await;
    let session = browser.cookies[SESSION].clone();

    let again = browser.get(&back).await;

    assert_eq!(again.status, 400);
    assert!(again.text.contains("This sign-in is over") && again.text.contains("still signed in as"));
    assert_eq!(browser.cookies[SESSION], session, "the session is the one there was");
    browser.cookies.clear();
    assert!(browser.get(&back).await.text.contains("Sign in again"));
    assert!(browser.cookies.is_empty());
}

#[tokio::test]
async fn an_answer_signs_nobody_in_in_another_browser_or_after_ten_minutes() {
    let sso = sso();
    let (mut mine, mut thief) = (sso.browser(), sso.browser());
    let back = sso.there(&mut mine, "/inbox").await;
    sso.there(&mut thief, "/inbox").await;

    assert_eq!(thief.get(&back).await.status, 400);
    assert!(!thief.cookies.contains_key(SESSION));

    sso.world.clock.advance_ms(10 * MINUTE);
    assert_eq!(mine.get(&back).await.status, 400);
    assert!(!mine.cookies.contains_key(SESSION));
}

#[tokio::test]
async fn a_code_of_one_browser_in_the_sign_in_of_another_is_refused() {
    let sso = sso();
    let (mut victim, mut attacker) = (sso.browser(), sso.browser());
    let stolen = sso.there(&mut victim, "/inbox").await;
    let own = sso.there(&mut attacker, "/inbox").await;
    let of = |path: &str, name: &str| {
        path.split(['?', '&']).find_map(|pair| pair.strip_prefix(name)).map(str::to_owned).unwrap()
    };
    let mixed = own.replace(&of(&own, "code="), &of(&stolen, "code="));

    let answer = attacker.get(&mixed).await;

    assert_eq!(answer.status, 403);
    assert!(!attacker.cookies.contains_key(SESSION));
}

#[tokio::test]
async fn each_lie_of_the_issuer_ends_on_a_page_that_names_the_reason_without_a_session() {
    for (fault, words) in [
        (Fault::WrongNonce, "belongs to another sign-in"),
        (Fault::WrongAudience, "another audience"),
        (Fault::WrongIssuer, "another issuer"),
        (Fault::Expired, "over, or from the future"),
        (Fault::AlgorithmNone, "not signed"),
        (Fault::WrongSignature, "signature does not fit"),
        (Fault::WrongIssParameter, "names another issuer"),
        (Fault::RefuseCode, "invalid_grant"),
        (Fault::AccessDenied, "was cancelled"),
    ] {
        let (sso, mut browser) = (sso(), sso().browser());
        browser.clone_from(&sso.browser());
        sso.issuer.lie(fault);

        let answer = sso.sign_in(&mut browser, "/inbox").await;

        assert_eq!(answer.status, 403, "{fault:?}");
        assert!(answer.text.contains(words), "{fault:?}: {}", answer.text);
        assert!(!browser.cookies.contains_key(SESSION) && underway(&browser) == 0, "{fault:?}");
    }
    let (sso, mut browser) = (sso(), sso().browser());
    browser.clone_from(&sso.browser());
    sso.issuer.lie(Fault::WrongState);
    assert_eq!(sso.sign_in(&mut browser, "/inbox").await.status, 400, "no sign-in of this browser has that state");
}

#[tokio::test]
async fn an_issuer_that_is_away_is_a_page_and_local_accounts_go_on() {
    let sso = sso();
    sso.world.user("berta", &["operator"]).await;
    sso.is_down.store(true, Ordering::SeqCst);
    let mut browser = sso.browser();

    let away = browser.get("/auth/oidc/start").await;

    assert_eq!((away.status.as_u16(), away.header("retry-after")), (503, "5"));
    assert!(away.text.contains("does not answer"));
    assert_eq!(browser.sign_in("berta", pages_common::PASSWORD).await.status, 303);
    sso.is_down.store(false, Ordering::SeqCst);
    sso.world.clock.advance_ms(5_000);
    sso.issuer.set_time(sso.world.engine.now().millis() / 1_000);
    assert_eq!(sso.sign_in(&mut browser, "/inbox").await.status, 303);
}

#[tokio::test]
async fn a_person_without_a_role_gets_a_page_and_no_session() {
    let sso = sso();
    sso.issuer.sign_in(Someone::new("nils", &["staff", "operator", "admin"]));
    let mut browser = sso.browser();

    let answer = sso.sign_in(&mut browser, "/inbox").await;

    assert_eq!(answer.status, 403);
    assert!(answer.text.contains("You have no role here"));
    assert!(!browser.cookies.contains_key(SESSION), "a group named like a role gives nothing");
    assert_eq!(sso.world.store.profile_list(&sso.world.tenant()).await.unwrap(), [], "and nothing is kept of them");
}

#[tokio::test]
async fn somebody_who_comes_back_without_the_role_loses_its_mail_too() {
    let sso = sso();
    sso.sign_in(&mut sso.browser(), "/inbox").await;
    sso.issuer.sign_in(Someone::new("anna", &[]));

    assert_eq!(sso.sign_in(&mut sso.browser(), "/inbox").await.status, 403);

    let profiles = sso.world.store.profile_list(&sso.world.tenant()).await.unwrap();
    assert_eq!((profiles.len(), profiles[0].roles.len()), (1, 0));
}

#[tokio::test]
async fn a_person_without_a_role_is_let_in_where_a_flow_asks_their_verified_address() {
    let options = Options { audience: vec!["Nils@House.test".into()], ..Options::default() };
    let sso = Sso::new(World::new(&options));
    let run = sso.world.waiting("k", &[MAIL]).await;
    let path = format!("/approvals/{}", sso.world.agg(run).await.approval().unwrap().id);
    let mut browser = sso.browser();
    let nils = Someone { email_verified: false, ..Someone::new("nils", &[]) };
    sso.issuer.sign_in(nils.clone());
    assert_eq!(sso.sign_in(&mut browser, &path).await.status, 403, "an address that nobody verified is anybody's");

    sso.issuer.sign_in(Someone { email_verified: true, ..nils });
    assert_eq!(sso.sign_in(&mut browser, &path).await.status, 303);

    assert_eq!(browser.decide(&path, "approve", "").await.status, 303);
    assert_eq!(browser.get("/v1/runs").await.status, 403, "and nothing else");
}

#[tokio::test]
async fn a_group_gives_its_roles_and_nothing_more() {
    let sso = sso();
    let mut browser = sso.browser();
    sso.sign_in(&mut browser, "/inbox").await;

    let who = browser.get("/v1/whoami").await.text;

    assert!(who.contains(r#""roles":["approver","support-lead"]"#), "{who}");
    assert!(who.contains(r#""scopes":["approver"]"#), "{who}");
}

#[tokio::test]
async fn the_session_is_new_at_each_sign_in_and_the_old_one_is_over() {
    let sso = sso();
    let mut browser = sso.browser();
    browser.cookies.insert(SESSION.into(), "x".repeat(43));
    sso.sign_in(&mut browser, "/inbox").await;
    let first = browser.cookies[SESSION].clone();
    assert_ne!(first, "x".repeat(43), "a session that was planted is not taken over");

    sso.sign_in(&mut browser, "/inbox").await;

    assert_ne!(browser.cookies[SESSION], first);
    let mut old = sso.browser();
    old.cookies.insert(SESSION.into(), first);
    assert_eq!(old.get("/inbox").await.status, 303, "to the sign-in");
}

#[tokio::test]
async fn a_session_of_single_sign_on_ends_after_a_day_whatever_happens() {
    let sso = sso();
    let mut browser = sso.browser();
    sso.sign_in(&mut browser, "/inbox").await;
    for _ in 0..7 {
        sso.world.clock.advance_ms(3 * HOUR);
        assert_eq!(browser.get("/inbox").await.status, 200);
    }

    sso.world.clock.advance_ms(3 * HOUR);

    assert_eq!(browser.get("/inbox").await.status, 303);
}

#[tokio::test]
async fn limits_of_sessions_come_from_the_settings() {
    let limits = effectgate_engine::sessions::SessionLimits { idle_ms: HOUR, absolute_ms: 2 * HOUR };
    let short = WebSettings { sessions: limits, ..settings() };
    let sso = Sso::with(World::new(&Options::default()), short, TenantRule::Fixed(Tenant::new("default")));
    sso.issuer.sign_in(Someone::new("anna", &["leads"]));
    let mut browser = sso.browser();
    sso.sign_in(&mut browser, "/inbox").await;

    sso.world.clock.advance_ms(HOUR - 1);
    assert_eq!(browser.get("/inbox").await.status, 200);
    sso.world.clock.advance_ms(HOUR);
    assert_eq!(browser.get("/inbox").await.status, 303);
}

#[tokio::test]
async fn a_tenant_by_claim_is_one_of_the_list() {
    let rule = TenantRule::Claimed(BTreeSet::from(["acme".to_owned()]));
    let sso = Sso::with(World::new(&Options::default()), settings(), rule);
    let of = |org: &str| {
        let mut anna = Someone::new("anna", &["leads"]);
        anna.more.insert("org".into(), org.into());
        anna
    };
    let mut browser = sso.browser();

    sso.issuer.sign_in(of("acme"));
    assert_eq!(sso.sign_in(&mut browser, "/inbox").await.status, 303);
    assert!(browser.get("/v1/whoami").await.text.contains(r#""tenant":"acme""#));
    sso.issuer.sign_in(of("globex"));
    assert_eq!(sso.sign_in(&mut sso.browser(), "/inbox").await.status, 403);
}

#[tokio::test]
async fn signing_out_tells_the_issuer_who_and_comes_back() {
    let sso = sso();
    let mut browser = sso.browser();
    sso.sign_in(&mut browser, "/inbox").await;
    let fields = browser.get("/inbox").await.hidden_of("action=\"/logout\"");

    let out = browser.post("/logout", &fields).await;

    assert_eq!(out.status, 200);
    let refresh = out.header("refresh").strip_prefix("0; url=").unwrap();
    assert_eq!(sso.over_there(refresh), "/login");
    assert_eq!(sso.issuer.asked().signed_out, [Some("id-of-anna".to_owned())]);
    assert!(!browser.cookies.contains_key(SESSION));
    assert_eq!(browser.get("/inbox").await.status, 303);
}

#[tokio::test]
async fn hc_30_a_scanner_that_only_looks_begins_and_ends_nothing() {
    let sso = sso();
    let mut browser = sso.browser();
    let head = async |browser: &mut Browser, path: &str| browser.send("HEAD", path, &[], String::new()).await;
    assert_eq!(head(&mut browser, "/auth/oidc/start").await.status, 204);
    assert!(browser.cookies.is_empty());
    let back = sso.there(&mut browser, "/inbox").await;

    assert_eq!(head(&mut browser, &back).await.status, 204);
    assert_eq!(sso.browser().get(&back).await.status, 400, "without the cookie it is nothing");

    assert_eq!(browser.get(&back).await.status, 303);
}

#[tokio::test]
async fn nobody_is_sent_to_another_site_after_single_sign_on() {
    let sso = sso();
    for bad in ["//attacker.test", "https://attacker.test", "/\\attacker.test", ""] {
        let answer = sso.sign_in(&mut sso.browser(), bad).await;
        assert_eq!(answer.header("location"), "/inbox", "{bad}");
    }
}

#[tokio::test]
async fn refused_sign_ons_of_one_address_are_bounded_and_good_ones_do_not_count() {
    let sso = sso();
    for _ in 0..120 {
        assert_eq!(sso.sign_in(&mut sso.browser(), "/inbox").await.status, 303);
    }
    sso.issuer.lie(Fault::WrongNonce);
    let mut statuses = Vec::new();
    for _ in 0..101 {
        statuses.push(sso.sign_in(&mut sso.browser(), "/inbox").await.status.as_u16());
    }
    assert_eq!((statuses[99], statuses[100]), (403, 429));
}
