//! The review desk: what is shown of an effect in doubt, asking the provider, and settling it once.
#![allow(clippy::unwrap_used)]

mod desk_common;
mod pages_common;

use desk_common::{Desk, MINUTE, form, press};
use effectgate_core::{
    provider::{Class, Declared, Facts, Provider},
    retry::Look,
};

#[tokio::test]
async fn the_desk_shows_the_oldest_first_against_the_flows_clock() {
    let desk = Desk::new().await;
    let old = desk.in_review("old").await;
    desk.world.clock.advance_ms(90 * MINUTE);
    let young = desk.in_review("young").await;

    let page = desk.as_role("viewer").await.get("/review").await;

    let at = |id: String| page.text.find(&id).unwrap();
    assert!(at(format!("/review/{old}")) < at(format!("/review/{young}")), "{}", page.text);
    assert!(
        page.text.contains("over by 33 min (1 h allowed)") && page.text.contains("1 h left of 1 h"),
        "{}",
        page.text
    );
}

#[tokio::test]
async fn an_unknown_effect_stands_under_those_the_server_still_looks_at() {
    let desk = Desk::new().await;
    let id = desk.unknown("k").await;

    let page = desk.as_role("operator").await.get("/review").await;

    let looking = page.text.find("still finding out").unwrap();
    assert!(page.text.find(&format!("/review/{id}")).unwrap() > looking);
    assert!(page.text.contains("Nothing waits on the desk"));
}

#[tokio::test]
async fn hc_34_an_operator_sees_the_exact_bytes_how_far_they_got_and_what_to_search_for() {
    let desk = Desk::new().await;
    let id = desk.in_review("k").await;

    let page = desk.as_role("operator").await.get(&format!("/review/{id}")).await;

    let provider_key = desk.world.agg(id.run).await.effects[0].provider_key.clone();
    for shown in [
        "{&#34;text&#34;:&#34;called &#60;b&#62;twice&#60;/b&#62;&#34;}",
        "customer-42",
        &provider_key,
        "345",
        "the request was on its way",
    ] {
        assert!(page.text.contains(shown), "{shown} in {}", page.text);
    }
    assert!(!page.text.contains("<b>twice"));
}

#[tokio::test]
async fn who_may_not_read_content_sees_no_payload_and_no_action() {
    let desk = Desk::new().await;
    let id = desk.in_review("k").await;
    for role in ["viewer", "switch_owner"] {
        let page = desk.as_role(role).await.get(&format!("/review/{id}")).await;
        assert_eq!(page.status, 200);
        assert!(
            !page.text.contains("twice")
                && !page.text.contains("act-happened")
                && !page.text.contains("Ask the provider"),
            "{role}"
        );
    }
    let page = desk.as_role("auditor").await.get(&format!("/review/{id}")).await;
    assert!(page.text.contains("twice") && !page.text.contains("act-happened"));
}

#[tokio::test]
async fn it_happened_completes_the_effect_and_the_page_says_who_said_so() {
    let desk = Desk::new().await;
    let id = desk.in_review("k").await;
    let mut browser = desk.as_role("operator").await;
    let page = format!("/review/{id}");

    let answer =
        press(&mut browser, &page, "fields act-happened", "it is in their list", &[("external_id", "N-7")]).await;

    assert_eq!((answer.status.as_u16(), answer.header("location")), (303, page.as_str()));
    let agg = desk.world.agg(id.run).await;
    assert_eq!((agg.run.state.as_str(), agg.effects[0].external_id.as_deref()), ("completed", Some("N-7")));
    let shown = browser.get(&page).await.text;
    assert!(
        shown.contains("It happened.") && shown.contains("user:operator") && shown.contains("it is in their list"),
        "{shown}"
    );
    assert_eq!(desk.crm.attempts(), 1);
}

#[tokio::test]
async fn send_again_is_one_more_attempt_however_often_the_form_is_sent() {
    let desk = Desk::new().await;
    let id = desk.in_review("k").await;
    let mut browser = desk.as_role("operator").await;
    let page = browser.get(&format!("/review/{id}")).await;
    let (path, fields) = form(&page.text, "fields act-send_again", "not in their list", &[]);

    let first = browser.post(&path, &fields).await;
    let second = browser.post(&path, &fields).await;
    desk.dispatch().await;
    let third = browser.post(&path, &fields).await;

    assert_eq!([first.status, second.status, third.status].map(|s| s.as_u16()), [303; 3], "{}", third.text);
    assert_eq!((desk.crm.attempts(), desk.world.count(id.run, "effect_resolved").await), (2, 1));
}

#[tokio::test]
async fn an_old_page_sends_nothing_a_second_time() {
    let desk = Desk::new().await;
    let id = desk.in_review("k").await;
    let mut browser = desk.as_role("operator").await;
    let old = browser.get(&format!("/review/{id}")).await;
    let (path, fields) = form(&old.text, "fields act-send_again", "first", &[]);
    browser.post(&path, &fields).await;
    desk.dispatch().await;
    desk.world.clock.advance_ms(3 * MINUTE);
    desk.world.engine.reconcile_tick().await.unwrap();
    assert_eq!(desk.state(id).await, "review");

    let (path, other) = form(&old.text, "fields act-send_again", "second thoughts", &[]);
    let answer = browser.post(&path, &other).await;

    assert_eq!(answer.status.as_u16(), 409);
    assert!(answer.text.contains("Nothing was done"));
    assert_eq!((desk.state(id).await, desk.crm.attempts()), ("review", 2));
}

#[tokio::test]
async fn a_form_without_a_reason_comes_back_with_what_was_typed() {
    let desk = Desk::new().await;
    let id = desk.in_review("k").await;
    let mut browser = desk.as_role("operator").await;

    let answer =
        press(&mut browser, &format!("/review/{id}"), "fields act-happened", " ", &[("external_id", "N-<7>")]).await;

    assert_eq!(answer.status.as_u16(), 400);
    assert!(
        answer.text.contains("Write the reason") && answer.text.contains("value=\"N-&#60;7&#62;\""),
        "{}",
        answer.text
    );
    assert_eq!(desk.state(id).await, "review");
}

#[tokio::test]
async fn asking_is_recorded_and_changes_nothing_else() {
    let desk = Desk::new().await;
    let id = desk.in_review("k").await;
    desk.crm.will_say(Look::Found { external_id: Some("N-9".into()) });
    let mut browser = desk.as_role("operator").await;
    let page = format!("/review/{id}");

    let answer = press(&mut browser, &page, "ask", "", &[]).await;
    let again = press(&mut browser, &page, "ask", "", &[]).await;

    assert_eq!((answer.status.as_u16(), again.status.as_u16()), (303, 303));
    assert_eq!((desk.crm.asked(), desk.state(id).await), (2, "review"), "one look by the server, one by the person");
    let shown = browser.get(&page).await.text;
    assert!(shown.contains("it is there, known as N-9") && shown.contains("value=\"N-9\""), "{shown}");
    assert!(shown.contains("user:operator") && shown.contains("system:reconciler"));
}

#[tokio::test]
async fn a_provider_without_a_lookup_is_said_to_have_none() {
    let desk = Desk::new().await;
    let run = desk.world.waiting("k", &[pages_common::MAIL]).await;
    let mut lead = desk.as_role("support-lead").await;
    let card = format!("/approvals/{}", desk.world.agg(run).await.approval().unwrap().id);
    assert_eq!(lead.decide(&card, "approve", "").await.status, 303);
    desk.dispatch().await;

    let page =
        desk.as_role("operator").await.get(&format!("/review/{}", effectgate_core::ids::EffectId { run, n: 1 })).await;

    assert!(
        page.text.contains("A mail server cannot be asked") && !page.text.contains("Ask the provider now"),
        "{}",
        page.text
    );
}

/// Where the form is held, and what it holds.
fn held(page: &str) -> (String, Vec<(String, String)>) {
    let from = page.find("<form method=\"post\" action=\"/review").unwrap_or_else(|| panic!("no form on {page}"));
    let as_our_forms = page[from..].replacen("<form ", "<form class=\"held\" ", 1);
    let (path, mut fields) = form(&as_our_forms, "held", "", &[]);
    fields.pop();
    (path, fields)
}

#[tokio::test]
async fn a_reason_typed_on_the_desk_outlives_its_session_and_settles_nothing_until_it_is_sent_again() {
    let desk = Desk::new().await;
    let id = desk.in_review("k").await;
    let mut browser = desk.as_role("operator").await;
    let opened = browser.get(&format!("/review/{id}")).await;
    let (path, fields) = form(&opened.text, "fields act-cancel", "not in their list", &[]);
    browser.cookies.clear();

    let late = browser.post(&path, &fields).await;
    let too_early = browser.post(&path, &held(&late.text).1).await;
    browser.cookies = desk.as_role("operator").await.cookies;
    let back = browser.post(&path, &held(&too_early.text).1).await;
    let before = desk.state(id).await;
    let (again, whole) = held(&back.text);
    let done = browser.post(&again, &whole).await;

    for page in [&late, &too_early] {
        assert!(page.status == 403 && page.text.contains("Your session ended while you were writing"), "{}", page.text);
        assert!(page.text.contains("not in their list") && !page.text.contains("customer-42"), "{}", page.text);
        assert!(held(&page.text).1.contains(&("csrf".to_owned(), String::new())), "no token without a session");
    }
    assert!(back.status == 403 && back.text.contains("What you typed is still here"), "{}", back.text);
    assert!(back.text.contains("<dd>cancel</dd>") && back.text.contains("<dd>not in their list</dd>"));
    assert_eq!((before, done.status.as_u16(), desk.state(id).await), ("review", 303, "cancelled"), "{}", done.text);
}

#[tokio::test]
async fn hc_33_words_from_another_site_come_back_on_no_page_of_the_desk() {
    let desk = Desk::new().await;
    let id = desk.in_review("k").await;
    let (mut nobody, mut operator) = (desk.world.browser(), desk.as_role("operator").await);
    let path = format!("/review/{id}/settle");
    let encoding = ("content-type", "application/x-www-form-urlencoded");
    for foreign in [("origin", "null"), ("sec-fetch-site", "cross-site")] {
        for browser in [&mut nobody, &mut operator] {
            let body = "csrf=x&verdict=cancel&shown=1&reason=words+of+a+stranger".to_owned();

            let answer = browser.send("POST", &path, &[encoding, foreign], body).await;

            assert!(matches!(answer.status.as_u16(), 303 | 403), "{}", answer.status);
            assert!(!answer.text.contains("stranger"), "{}", answer.text);
        }
    }
    assert_eq!(desk.state(id).await, "review");
}

#[tokio::test]
async fn hc_33_another_encoding_and_another_site_settle_nothing() {
    let desk = Desk::new().await;
    let id = desk.in_review("k").await;
    let mut browser = desk.as_role("operator").await;
    let page = browser.get(&format!("/review/{id}")).await;
    let (path, fields) = form(&page.text, "fields act-cancel", "because", &[]);
    let body = pages_common::browser::encoded(&fields);
    let form_type = ("content-type", "application/x-www-form-urlencoded");
    let cases: [(&[(&str, &str)], u16); 4] = [
        (&[("content-type", "text/plain"), ("sec-fetch-site", "same-origin")], 415),
        (&[("content-type", "application/json"), ("sec-fetch-site", "same-origin")], 415),
        (&[form_type, ("origin", "https://attacker.test")], 403),
        (&[form_type, ("sec-fetch-site", "cross-site")], 403),
    ];
    for (headers, status) in cases {
        assert_eq!(browser.send("POST", &path, headers, body.clone()).await.status.as_u16(), status);
    }
    let mut forged = fields.clone();
    forged[0].1 = "x".repeat(43);
    assert_eq!(browser.post(&path, &forged).await.status.as_u16(), 403);
    let mut auditor = desk.as_role("auditor").await;
    assert_eq!(auditor.post(&path, &fields).await.status.as_u16(), 403);
    assert_eq!(desk.state(id).await, "review");
}

#[tokio::test]
async fn a_finding_that_contradicts_what_was_settled_is_shown_and_told_and_changes_nothing() {
    let desk = Desk::new().await;
    let id = desk.in_review("k").await;
    let mut browser = desk.as_role("operator").await;
    let page = format!("/review/{id}");
    press(&mut browser, &page, "fields act-cancel", "not in their list", &[]).await;
    desk.crm.will_say(Look::Found { external_id: Some("N-9".into()) });

    // Settled, it cannot be asked by mistake twice: the button is still there, for exactly this.
    press(&mut browser, &page, "ask", "", &[]).await;

    let shown = browser.get(&page).await.text;
    assert!(shown.contains("advice contrary") && shown.contains("the provider has it"), "{shown}");
    assert_eq!(desk.state(id).await, "cancelled");
    assert_eq!(desk.world.count(id.run, "looked").await, 2);
}

#[tokio::test]
async fn what_the_provider_said_stands_on_the_ways_that_would_go_against_it() {
    let desk = Desk::new().await;
    let id = desk.in_review("k").await;
    desk.crm.will_say(Look::Found { external_id: Some("N-9".into()) });
    let mut browser = desk.as_role("operator").await;
    let page = format!("/review/{id}");
    press(&mut browser, &page, "ask", "", &[]).await;

    let shown = browser.get(&page).await.text;

    assert_eq!(shown.matches("The provider says that it is there.").count(), 2, "{shown}");
    assert!(shown.contains("Settle it as happened, with this id."));
}

#[tokio::test]
async fn the_api_asks_with_the_same_function_and_says_what_the_answer_means() {
    let desk = Desk::new().await;
    let id = desk.in_review("k").await;
    desk.crm.will_say(Look::Found { external_id: Some("N-9".into()) });
    let mut browser = desk.as_role("operator").await;
    let path = format!("/v1/effects/{id}/look");
    let program = [("content-type", "application/json"), ("effectgate-csrf", "1")];

    let first = browser.send("POST", &path, &program, "{}".into()).await;
    let again = browser.send("POST", &path, &program, String::new()).await;
    let other = browser.send("POST", &path.replace("eff_", "eff_0"), &program, String::new()).await;

    assert_eq!((first.status.as_u16(), again.status.as_u16()), (200, 200), "{}", first.text);
    let said: serde_json::Value = serde_json::from_str(&first.text).unwrap();
    assert_eq!((&said["answer"], &said["look"]["means"]), (&"looked".into(), &"happened".into()));
    assert_eq!((&said["look"]["external_id"], &said["effect"]["state"]), (&"N-9".into(), &"review".into()));
    assert!(said["text"].as_str().unwrap().contains("Settle it as happened"));
    let again: serde_json::Value = serde_json::from_str(&again.text).unwrap();
    assert_eq!((&again["answer"], &again["look"]), (&"just_now".into(), &said["look"]));
    assert_eq!((desk.crm.asked(), other.status.as_u16()), (2, 404));
    assert_eq!(desk.state(id).await, "review");
}

#[tokio::test]
async fn the_api_says_why_nobody_was_asked() {
    let desk = Desk::new().await;
    let run = desk.world.waiting("k", &[pages_common::MAIL]).await;
    let mut lead = desk.as_role("support-lead").await;
    let card = format!("/approvals/{}", desk.world.agg(run).await.approval().unwrap().id);
    assert_eq!(lead.decide(&card, "approve", "").await.status, 303);
    let path = format!("/v1/effects/{}/look", effectgate_core::ids::EffectId { run, n: 1 });
    let mut browser = desk.as_role("operator").await;
    let program = [("effectgate-csrf", "1")];

    let before = browser.send("POST", &path, &program, String::new()).await.text;
    desk.dispatch().await;
    let after = browser.send("POST", &path, &program, String::new()).await.text;

    assert!(before.contains("\"nothing_sent\"") && before.contains("nothing to look for"), "{before}");
    assert!(after.contains("\"no_lookup\"") && after.contains("Message-ID"), "{after}");
}

/// A CRM that honours keys for a day and keeps errors too.
fn keeps_errors(provider: &mut Provider) {
    provider.class = Class::Enforcing { key_window_ms: 24 * 60 * MINUTE, margin_ms: 60 * MINUTE };
    provider.lookup = None;
    let facts = Facts {
        preset: Some("stripe".into()),
        source: "https://docs.example.com/keys".into(),
        checked: "2026-11-30".into(),
    };
    provider.declared = Declared { replays_errors: true, facts: Some(facts), ..Declared::default() };
}

#[tokio::test]
async fn a_spent_key_offers_no_sending_again_and_says_the_way_on() {
    let desk = Desk::with(keeps_errors).await;
    (0..2).for_each(|_| desk.crm.will_answer(500));
    let id = desk.unknown("k").await;
    desk.world.clock.advance_ms(3 * MINUTE);
    desk.world.engine.reconcile_tick().await.unwrap();
    desk.dispatch().await;
    assert_eq!(desk.state(id).await, "review");

    let page = desk.as_role("operator").await.get(&format!("/review/{id}")).await;

    assert!(page.text.contains("make a correction") && page.text.contains("act-cancel"), "{}", page.text);
    assert!(!page.text.contains("act-send_again"), "{}", page.text);
    assert_eq!(desk.crm.attempts(), 2);
}

#[tokio::test]
async fn sending_again_says_whether_the_providers_key_still_protects() {
    let desk = Desk::with(keeps_errors).await;
    let id = desk.unknown("k").await;
    let mut browser = desk.as_role("operator").await;
    let page = format!("/review/{id}");
    assert!(browser.get(&page).await.text.contains("it does not happen twice"));

    desk.world.clock.advance_ms(23 * 60 * MINUTE);

    let page = desk.as_role("operator").await.get(&page).await;
    assert!(
        page.text.contains("may have forgotten the key") && page.text.contains("it happens twice"),
        "{}",
        page.text
    );
}

#[tokio::test]
async fn the_settings_show_a_providers_facts_and_their_day() {
    let desk = Desk::with(keeps_errors).await;

    let page = desk.as_role("admin").await.get("/settings").await;

    for shown in
        ["preset stripe, read on 2026-11-30 in https://docs.example.com/keys", "the same 5xx twice goes to a person"]
    {
        assert!(page.text.contains(shown), "{shown} in {}", page.text);
    }
}

#[tokio::test]
async fn a_spent_key_is_led_to_a_correction_and_never_sent_again() {
    let desk = Desk::with(keeps_errors).await;
    desk.crm.will_answer(500);
    desk.crm.will_answer(500);
    let id = desk.unknown("ticket:7:1").await;
    desk.world.clock.advance_ms(MINUTE);
    desk.world.engine.reconcile_tick().await.unwrap();
    desk.dispatch().await;
    assert_eq!(desk.world.agg(id.run).await.effects[0].reason.as_deref(), Some("key_poisoned"));
    let mut browser = desk.as_role("operator").await;
    let page = format!("/review/{id}");

    let shown = browser.get(&page).await.text;
    press(&mut browser, &page, "fields act-cancel", "not in their list", &[]).await;
    let settled = browser.get(&page).await.text;

    assert!(!shown.contains("act-send_again") && shown.contains("Sending again is no way"), "{shown}");
    assert!(shown.contains("Then make a correction from the run&#39;s page."), "{shown}");
    assert!(settled.contains(&format!("href=\"/runs/{}#correct\"", id.run)), "{settled}");
}
