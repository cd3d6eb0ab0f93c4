//! The switch as a page: who may turn it, the receipt and the drill that stand in the journal, one form that acts once.
#![allow(clippy::unwrap_used)]

mod desk_common;
mod pages_common;

use desk_common::{Desk, form, press};
use effectgate_core::{ids::RunId, switch::Scope};

const OFF: [(&str, &str); 2] = [("what", "provider:crm"), ("turn", "off")];

async fn house(desk: &Desk, kind: &str) -> usize {
    let house = RunId::house(&desk.world.tenant());
    desk.world.store.journal_read(house, 0, 1_000).await.unwrap().iter().filter(|e| e.kind == kind).count()
}

#[tokio::test]
async fn everybody_who_looks_sees_how_it_stands_and_only_owners_get_the_forms() {
    let desk = Desk::new().await;
    for (role, turns) in
        [("viewer", false), ("operator", false), ("auditor", false), ("switch_owner", true), ("admin", true)]
    {
        let page = desk.as_role(role).await.get("/switches").await;
        assert_eq!(page.status.as_u16(), 200, "{role}");
        assert!(page.text.contains("Effects go out.") && page.text.contains("never turned"), "{role}");
        assert_eq!(page.text.contains("action=\"/switches\""), turns, "{role}");
    }
    let mut owner = desk.as_role("switch_owner").await;
    let (_, fields) = form(&owner.get("/switches").await.text, "fields turn", "x", &OFF);
    assert_eq!(desk.as_role("operator").await.post("/switches", &fields).await.status.as_u16(), 403);
    assert_eq!(house(&desk, "switch_turned").await, 0);
}

#[tokio::test]
async fn a_turn_leads_to_its_receipt_which_stays_and_holds_the_effects_back() {
    let desk = Desk::new().await;
    let run = desk.noted("k").await;
    let mut browser = desk.as_role("switch_owner").await;

    let answer = press(&mut browser, "/switches", "fields turn", "wrong <prices>", &OFF).await;
    desk.dispatch().await;

    assert_eq!(answer.status.as_u16(), 303, "{}", answer.text);
    let receipt = desk.as_role("viewer").await.get(answer.header("location")).await;
    assert!(
        receipt.text.contains("<b class=\"figure\">1</b> <span class=\"muted\">effects that were due to leave"),
        "{}",
        receipt.text
    );
    assert!(receipt.text.contains("user:switch_owner") && receipt.text.contains("wrong &#60;prices&#62;"));
    let page = browser.get("/switches").await.text;
    assert!(page.contains("Some effects are held back") && page.contains("turned provider crm off"), "{page}");
    assert_eq!((desk.crm.attempts(), desk.world.agg(run).await.effects[0].state.as_str()), (0, "pending"));
    let list = desk.as_role("viewer").await.get("/effects?state=pending").await.text;
    assert!(list.contains("switch off"), "{list}");
}

#[tokio::test]
async fn a_second_click_turns_nothing_again() {
    let desk = Desk::new().await;
    let mut browser = desk.as_role("switch_owner").await;
    let page = browser.get("/switches").await;
    let (path, fields) = form(&page.text, "fields turn", "drill", &OFF);

    let (first, second) = (browser.post(&path, &fields).await, browser.post(&path, &fields).await);

    assert_eq!((first.status.as_u16(), second.status.as_u16()), (303, 303));
    assert_eq!((second.header("location"), house(&desk, "switch_turned").await), ("/switches#turns", 1));
}

#[tokio::test]
async fn a_turn_that_is_not_whole_comes_back_with_what_was_typed() {
    let desk = Desk::new().await;
    let mut browser = desk.as_role("switch_owner").await;
    let cases: [(&[(&str, &str)], &str); 5] = [
        (&OFF, ""),
        (&[("what", "provider:crm")], "typed <it>"),
        (&[("what", "provider:nope"), ("turn", "off")], "typed <it>"),
        (&[("what", "planet:earth"), ("turn", "off")], "typed <it>"),
        (&[("what", "tenant:other"), ("turn", "off")], "typed <it>"),
    ];
    for (fields, reason) in cases {
        let answer = press(&mut browser, "/switches", "fields turn", reason, fields).await;
        assert_eq!(answer.status.as_u16(), 400, "{fields:?}");
        assert!(answer.text.contains("role=\"alert\""), "{}", answer.text);
        assert!(reason.is_empty() || answer.text.contains("typed &#60;it&#62;"), "{}", answer.text);
    }
    assert_eq!(house(&desk, "switch_turned").await, 0);
}

#[tokio::test]
async fn a_drill_counts_what_the_gate_would_hold_and_work_goes_on() {
    let desk = Desk::new().await;
    desk.unknown("doubt").await;
    desk.noted("waits").await;
    let mut browser = desk.as_role("switch_owner").await;

    let answer = press(&mut browser, "/switches", "fields drill", "", &[("what", "provider:crm")]).await;
    let other = press(&mut browser, "/switches", "fields drill", "", &[("what", "provider:mail")]).await;

    let shown = browser.get(answer.header("location")).await.text;
    let figure = |n: u32, text: &str| format!("<b class=\"figure\">{n}</b> <span class=\"muted\">{text}");
    assert!(shown.contains(&figure(1, "effects that this switch would hold back")), "{shown}");
    assert!(shown.contains(&figure(1, "unknown or in review")) && shown.contains("Nothing was turned"), "{shown}");
    let shown = browser.get(other.header("location")).await.text;
    assert!(
        shown.contains(&figure(0, "effects that this switch would hold back"))
            && shown.contains(&figure(2, "open effects outside"))
    );
    assert_eq!((house(&desk, "switch_drill").await, house(&desk, "switch_turned").await), (2, 0));
    desk.dispatch().await;
    assert_eq!(desk.crm.attempts(), 2, "the one that waited went out");
}

#[tokio::test]
async fn a_drill_and_the_turn_that_follows_agree() {
    let desk = Desk::new().await;
    for n in 0..3 {
        desk.noted(&format!("k{n}")).await;
    }
    let (tenant, olga) = (desk.world.tenant(), effectgate_core::actor::Actor::System("test"));
    for (scope, name) in
        [(Scope::All, ""), (Scope::Tenant, "default"), (Scope::Flow, "ticket-reply"), (Scope::EffectType, "note")]
    {
        let drill = desk.world.engine.drill(&tenant, &olga, scope, name).await.unwrap();
        assert_eq!((drill.would_hold, drill.examined, drill.is_complete), (3, 3, true), "{scope:?}");
        let turn =
            |enabled| effectgate_engine::switch::Turn { scope, name: name.into(), enabled, reason: "drill".into() };
        desk.world.engine.turn_switch(&tenant, &olga, &turn(false)).await.unwrap();
        desk.dispatch().await;
        assert_eq!(desk.crm.attempts(), 0, "{scope:?}");
        let held = desk.world.engine.drill(&tenant, &olga, scope, name).await.unwrap();
        assert_eq!((held.would_hold, held.held_already), (0, 3), "{scope:?}");
        desk.world.engine.turn_switch(&tenant, &olga, &turn(true)).await.unwrap();
    }
    desk.dispatch().await;
    assert_eq!(desk.crm.attempts(), 3);
}

#[tokio::test]
async fn hc_33_another_encoding_and_another_visit_turn_nothing() {
    let desk = Desk::new().await;
    let mut browser = desk.as_role("switch_owner").await;
    let page = browser.get("/switches").await;
    let (path, fields) = form(&page.text, "fields turn", "x", &OFF);
    let body = pages_common::browser::encoded(&fields);
    let form_type = ("content-type", "application/x-www-form-urlencoded");
    let cases: [(&[(&str, &str)], u16); 3] = [
        (&[("content-type", "text/plain"), ("sec-fetch-site", "same-origin")], 415),
        (&[form_type, ("origin", "https://attacker.test")], 403),
        (&[form_type, ("sec-fetch-site", "cross-site")], 403),
    ];
    for (headers, status) in cases {
        assert_eq!(browser.send("POST", &path, headers, body.clone()).await.status.as_u16(), status);
    }
    assert_eq!(
        desk.as_role("admin").await.post(&path, &fields).await.status.as_u16(),
        403,
        "the token of another visit"
    );
    assert_eq!(house(&desk, "switch_turned").await, 0);
}

#[tokio::test]
async fn a_record_that_is_not_there_is_a_page_that_says_so() {
    let desk = Desk::new().await;
    let mut browser = desk.as_role("viewer").await;
    for path in ["/switches/receipts/1", "/switches/receipts/x", "/switches/drills/999", "/switches/drills/-1"] {
        assert_eq!(browser.get(path).await.status.as_u16(), 404, "{path}");
    }
}
