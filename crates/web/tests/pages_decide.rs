//! Deciding on the card: once, by the right person, from the card's own form (HC-31, HC-32, HC-33, G6, G7).
#![allow(clippy::unwrap_used)]

mod pages_common;

use pages_common::{MAIL, Options, World, browser::encoded};

fn two() -> Options {
    Options::by_link(&["anna@house.test", "bert@house.test"])
}

#[tokio::test(flavor = "multi_thread")]
async fn hc_31_approve_against_reject_two_hundred_rounds() {
    let world = World::new(&two());
    for round in 0..200 {
        let run = world.waiting(&format!("k-{round}"), &[MAIL]).await;
        let (anna, bert) = (world.mail.link("anna@house.test"), world.mail.link("bert@house.test"));
        let (mut a, mut b) = (world.browser(), world.browser());
        let (page_a, page_b) = (a.get(&anna).await, b.get(&bert).await);

        let approve = tokio::spawn(async move { a.press(&page_a, &anna, "approve", "").await });
        let reject = tokio::spawn(async move { b.press(&page_b, &bert, "reject", "no").await });
        let (approve, reject) = (approve.await.unwrap(), reject.await.unwrap());

        let (state, approval, decisions, rows) = world.standing(run).await;
        let won =
            if approve.status == 303 { ("approved", "approved", 1, 1) } else { ("failed_terminal", "rejected", 1, 0) };
        assert_eq!((state, approval, decisions, rows), won, "round {round}");
        let mut statuses = [approve.status.as_u16(), reject.status.as_u16()];
        statuses.sort_unstable();
        assert_eq!(statuses, [303, 409], "round {round}");
        let loser = if approve.status == 409 { &approve } else { &reject };
        let (winner, word) =
            if approve.status == 409 { ("mail:bert@", "Rejected") } else { ("mail:anna@", "Approved") };
        assert!(loser.text.contains(winner) && loser.text.contains(word), "round {round}: {}", loser.text);
        assert_eq!((world.count(run, "decided").await, world.count(run, "decision_refused").await), (1, 1));
    }
}

#[tokio::test]
async fn hc_31_a_reject_a_moment_later_undoes_nothing_either_way() {
    let world = World::new(&two());
    for (first, second, rows) in [("approve", "reject", 1), ("reject", "approve", 0)] {
        let run = world.waiting(first, &[MAIL]).await;
        let (anna, bert) = (world.mail.link("anna@house.test"), world.mail.link("bert@house.test"));
        let (mut a, mut b) = (world.browser(), world.browser());
        let page = b.get(&bert).await;
        assert_eq!(a.decide(&anna, first, "because").await.status, 303);
        world.clock.advance_ms(100);

        assert_eq!(b.press(&page, &bert, second, "no").await.status, 409);

        assert_eq!(world.agg(run).await.effects.len(), rows);
        assert!(!b.get(&bert).await.has_form("approve"));
    }
}

#[tokio::test]
async fn g6_single_use_one_link_twice_with_different_decisions_and_twice_with_the_same() {
    let world = World::new(&two());
    let run = world.waiting("k", &[MAIL]).await;
    let (anna, mut browser) = (world.mail.link("anna@house.test"), world.browser());
    let page = browser.get(&anna).await;

    let first = browser.press(&page, &anna, "approve", "").await;
    let again = browser.press(&page, &anna, "approve", "").await;
    let other = browser.press(&page, &anna, "reject", "changed my mind").await;

    assert_eq!((first.status, again.status, other.status.as_u16()), (again.status, first.status, 409));
    assert_eq!(first.header("location"), again.header("location"));
    assert!(other.text.contains("Approved") && other.text.contains("By mail:anna@house.test, 2026-09-21 14:13 UTC"));
    assert_eq!(world.standing(run).await, ("approved", "approved", 1, 1));
    let shown = browser.get(&anna).await.text;
    assert!(shown.contains("Completed: 0 of 1.") && shown.contains(">pending</span>"));
}

#[tokio::test]
async fn a_rejection_wants_a_reason_and_keeps_it() {
    let world = World::new(&two());
    let run = world.waiting("k", &[MAIL]).await;
    let (anna, mut browser) = (world.mail.link("anna@house.test"), world.browser());

    assert_eq!(browser.decide(&anna, "reject", " \r\n ").await.status, 400);
    let too_long = "x".repeat(2_001);
    let refused = browser.decide(&anna, "reject", &too_long).await;
    assert_eq!(refused.status, 400);
    assert!(refused.text.contains(&too_long), "what was typed is not lost");
    assert_eq!(browser.decide(&anna, "reject", "wrong <b>customer</b>").await.status, 303);

    assert_eq!(world.standing(run).await, ("failed_terminal", "rejected", 1, 0));
    assert!(browser.get(&anna).await.text.contains("wrong &#60;b&#62;customer"));
}

#[tokio::test]
async fn a_form_that_shows_other_effects_gets_409_and_what_is_there_now() {
    let world = World::new(&two());
    let run = world.waiting("k", &[MAIL]).await;
    let (anna, mut browser) = (world.mail.link("anna@house.test"), world.browser());
    let page = browser.get(&anna).await;
    let mut fields = page.hidden("approve");
    fields.iter_mut().filter(|(name, _)| name == "effects_hash").for_each(|(_, value)| *value = "0".repeat(64));
    fields.push(("decision".into(), "approve".into()));

    let answer = browser.post(&anna, &fields).await;

    assert_eq!(answer.status, 409);
    assert!(answer.text.contains("This is not what you saw") && answer.has_form("approve"));
    assert_eq!(world.standing(run).await, ("awaiting_human", "open", 0, 0));
}

#[tokio::test]
async fn hc_32_nobody_approves_an_own_request_however_it_is_spelled() {
    let world = World::new(&Options::default());
    world.user("otto", &["support-lead", "admin"]).await;
    world.user("tina", &["support-lead"]).await;
    for (n, requester) in ["user:otto", "OTTO", "mail:Otto@House.test", "otto@house.test"].into_iter().enumerate() {
        let small = ("refund", "c-1", r#"{"amount":0.01}"#);
        let run = world.waiting_by(&format!("k-{n}"), &[small], Some(requester), Default::default()).await;
        let mut otto = world.signed_in("otto").await;
        for link in [world.mail.link("otto@house.test"), world.mail.link("tina@house.test")] {
            let page = otto.get(&link).await;
            assert!(!page.has_form("approve") && page.text.contains("somebody else has to approve"), "{requester}");
            let mut fields = page.hidden("reject");
            fields.push(("decision".into(), "approve".into()));

            let answer = otto.post(&link, &fields).await;

            assert_eq!(answer.status, 403, "{requester}");
        }
        assert_eq!(world.standing(run).await, ("awaiting_human", "open", 0, 0), "{requester}");
        assert_eq!(world.count(run, "decision_refused").await, 2, "{requester}");
        let link = world.mail.link("otto@house.test");
        assert_eq!(otto.decide(&link, "reject", "a mistake of mine").await.status, 303, "denying is allowed");
    }
}

#[tokio::test]
async fn hc_33_no_foreign_form_decides() {
    let world = World::new(&Options::default());
    world.user("anna", &["support-lead"]).await;
    let run = world.waiting("k", &[MAIL]).await;
    let link = world.mail.link("anna@house.test");
    let mut anna = world.signed_in("anna").await;
    let page = anna.get(&link).await;
    let json = r#"{"decision":"approve","pad":"="}"#.to_owned();
    let mut fields = page.hidden("approve");
    fields.push(("decision".into(), "approve".into()));
    let (whole, bare) = (encoded(&fields), encoded(&fields[1..]));
    assert!(whole.contains("csrf=") && !bare.contains("csrf="));
    let form = ("content-type", "application/x-www-form-urlencoded");
    let own = ("sec-fetch-site", "same-origin");

    for (what, headers, body, status) in [
        ("text/plain", vec![("content-type", "text/plain")], json.clone(), 415),
        ("json", vec![("content-type", "application/json"), own], json.clone(), 415),
        ("no content type", vec![], json.clone(), 415),
        ("no content type, a whole form", vec![own], whole.clone(), 415),
        ("a form without a token", vec![form], bare.clone(), 400),
        ("a form without a token, our origin", vec![form, own], bare, 400),
        ("foreign origin", vec![form, ("origin", "https://attacker.test")], whole.clone(), 403),
        ("foreign site", vec![form, ("sec-fetch-site", "cross-site"), ("origin", "null")], whole.clone(), 403),
        ("sibling site", vec![form, ("sec-fetch-site", "same-site")], whole.clone(), 403),
    ] {
        let answer = anna.send("POST", &link, &headers, body).await;
        assert_eq!(answer.status.as_u16(), status, "{what}: {}", answer.text);
        assert_eq!(world.standing(run).await, ("awaiting_human", "open", 0, 0), "{what}");
    }
}

#[tokio::test]
async fn hc_33_a_token_of_another_visit_or_another_card_decides_nothing() {
    let world = World::new(&two());
    let run = world.waiting("k", &[MAIL]).await;
    let (anna, bert) = (world.mail.link("anna@house.test"), world.mail.link("bert@house.test"));
    let (mut a, mut b) = (world.browser(), world.browser());
    let (page_a, page_b) = (a.get(&anna).await, a.get(&bert).await);

    assert_eq!(b.press(&page_a, &anna, "approve", "").await.status, 403, "no cookie");
    b.get(&anna).await;
    assert_eq!(b.press(&page_a, &anna, "approve", "").await.status, 403, "another visit's cookie");
    assert_eq!(a.press(&page_b, &anna, "approve", "").await.status, 403, "another card's token");
    assert_eq!(world.standing(run).await, ("awaiting_human", "open", 0, 0));
}

#[tokio::test]
async fn hc_33_a_missing_origin_is_not_trusted_but_the_token_with_its_cookie_is() {
    let world = World::new(&two());
    world.waiting("k", &[MAIL]).await;
    let (anna, mut browser) = (world.mail.link("anna@house.test"), world.browser());
    let page = browser.get(&anna).await;
    let mut fields = page.hidden("approve");
    fields.push(("decision".into(), "approve".into()));
    let form = [("content-type", "application/x-www-form-urlencoded")];

    let stranger = world.browser().send("POST", &anna, &form, encoded(&fields)).await;
    let visitor = browser.send("POST", &anna, &form, encoded(&fields)).await;

    assert_eq!((stranger.status.as_u16(), visitor.status.as_u16()), (403, 303));
}

#[tokio::test]
async fn with_a_quorum_the_first_approval_waits_for_the_second() {
    let world = World::new(&Options { quorum: 2, ..two() });
    let run = world.waiting("k", &[MAIL]).await;
    let (anna, bert) = (world.mail.link("anna@house.test"), world.mail.link("bert@house.test"));
    let (mut a, mut b) = (world.browser(), world.browser());

    assert_eq!(a.decide(&anna, "approve", "fine").await.status, 303);
    assert_eq!(world.standing(run).await, ("awaiting_human", "open", 1, 0));
    let page = a.get(&anna).await;
    assert!(
        page.text.contains("1 of 2 approvals")
            && page.text.contains("You decided already")
            && !page.has_form("approve")
    );
    assert_eq!(b.decide(&bert, "approve", "").await.status, 303);

    assert_eq!(world.standing(run).await, ("approved", "approved", 2, 1));
}
