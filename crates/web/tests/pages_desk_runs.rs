//! The lists of runs and effects and the page of one run: who sees what, the search and its pages, what operators do.
#![allow(clippy::unwrap_used)]

mod desk_common;
mod pages_common;

use desk_common::{Desk, MINUTE, form, press};
use effectgate_core::ids::RunId;
use pages_common::MAIL;

fn links(text: &str) -> Vec<String> {
    let rows = text.split("<th role=\"rowheader\"").skip(1);
    rows.map(|row| row.split("href=\"").nth(1).unwrap().split('"').next().unwrap().to_owned()).collect()
}

fn path(run: RunId) -> String {
    format!("/runs/{run}")
}

#[tokio::test]
async fn the_operators_pages_ask_for_a_role_and_lead_to_the_sign_in() {
    let desk = Desk::new().await;
    desk.world.user("free", &["support-lead"]).await;
    let run = desk.noted("k").await;
    let pages = ["/runs".to_owned(), path(run), "/review".into(), "/effects".into()];
    for page in &pages {
        let visitor = desk.world.browser().get(page).await;
        assert_eq!(visitor.status.as_u16(), 303, "{page}");
        assert!(visitor.header("location").starts_with("/login?next="), "{page}");
        assert_eq!(desk.as_role("free").await.get(page).await.status.as_u16(), 403, "{page}");
        for role in ["viewer", "approver", "operator", "auditor", "switch_owner", "admin"] {
            assert_eq!(desk.as_role(role).await.get(page).await.status.as_u16(), 200, "{page} {role}");
        }
    }
}

#[tokio::test]
async fn a_key_is_found_whole_with_and_without_its_flow_and_by_its_runs_id() {
    let desk = Desk::new().await;
    let (run, _) = (desk.noted("order:42&1").await, desk.noted("order:421").await);
    let mut browser = desk.as_role("viewer").await;

    for query in ["key=order%3A42%261", "key=order%3A42%261&flow=ticket-reply"] {
        let page = browser.get(&format!("/runs?{query}")).await;
        assert_eq!(links(&page.text), [path(run)], "{query}");
        assert!(page.text.contains("value=\"order:42&#38;1\""), "the search stays in the form");
    }
    let page = browser.get(&format!("/runs?key={run}")).await;
    assert_eq!((page.status.as_u16(), page.header("location")), (303, path(run).as_str()));
    assert!(browser.get("/runs?key=order").await.text.contains("No run fits this search"));
}

#[tokio::test]
async fn pages_keep_the_filters_and_lead_to_the_end() {
    let desk = Desk::new().await;
    for n in 0..52 {
        desk.noted(&format!("k-{n}")).await;
    }
    desk.world.waiting("asked", &[MAIL]).await;
    let mut browser = desk.as_role("viewer").await;

    let first = browser.get("/runs?state=approved").await;
    let next =
        first.text.split("rel=\"next\"").next().unwrap().rsplit("href=\"").next().unwrap().split('"').next().unwrap();
    let second = browser.get(&next.replace("&#38;", "&")).await;

    assert_eq!((links(&first.text).len(), links(&second.text).len()), (50, 2));
    assert!(next.starts_with("/runs?state=approved") && !second.text.contains("rel=\"next\""), "{next}");
    assert!(
        second.text.contains("<a class=\"quiet\" href=\"/runs?state=approved\">Newest runs</a>"),
        "{}",
        second.text
    );
}

#[tokio::test]
async fn a_time_range_is_searched_and_a_bad_one_comes_back_as_it_was_typed() {
    let desk = Desk::new().await;
    let before = desk.noted("before").await;
    desk.world.clock.advance_ms(10 * MINUTE);
    let after = desk.noted("after").await;
    let mut browser = desk.as_role("viewer").await;

    // The clock of these tests begins at 14:13:20 UTC.
    assert_eq!(links(&browser.get("/runs?since=2026-09-21T14:20").await.text), [path(after)]);
    assert_eq!(links(&browser.get("/runs?until=2026-09-21T14:20").await.text), [path(before)]);
    for query in ["since=yesterday", "until=2026-13-01T00:00", "state=lost", "cursor=x", "key=a%00", "key=a&key=b"] {
        let page = browser.get(&format!("/runs?{query}")).await;
        assert_eq!(page.status.as_u16(), 400, "{query}");
    }
    assert!(browser.get("/runs?since=%3Cb%3E").await.text.contains("value=\"&#60;b&#62;\""));
}

#[tokio::test]
async fn a_run_says_why_it_stands_where_it_stands() {
    let desk = Desk::new().await;
    let id = desk.in_review("k").await;

    let page = desk.as_role("viewer").await.get(&path(id.run)).await.text;

    for shown in [
        "Whether note happened at crm is not known (not_found).",
        "effect_in_review",
        "the connection was reset",
        "345",
    ] {
        assert!(page.contains(shown), "{shown} in {page}");
    }
    assert!(page.contains(&format!("href=\"/review/{id}\"")));
    let entries = desk.world.store.journal_read(id.run, 0, 100).await.unwrap();
    assert!(entries.iter().all(|entry| page.contains(&entry.hash.to_string())), "each entry with its hash");
}

#[tokio::test]
async fn hc_34_content_is_text_and_only_for_those_who_may_read_it() {
    let desk = Desk::new().await;
    let output = r#"{"text":"<script>alert(1)</script>\u202e"}"#;
    let run = desk.world.waiting_by("k<i>", &[MAIL], None, pages_common::output(output)).await;
    for (role, sees) in [("viewer", false), ("approver", false), ("operator", true), ("auditor", true), ("admin", true)]
    {
        let page = desk.as_role(role).await.get(&path(run)).await.text;
        assert_eq!(page.contains("{&#34;ticket&#34;:42}"), sees, "{role}");
        assert_eq!(page.contains("&#60;script&#62;"), sees, "{role}");
        assert!(!page.contains("<script>alert") && !page.contains("k<i>") && !page.contains('\u{202e}'), "{role}");
        assert!(!page.contains("Dear Anna"), "what is to be sent stands on the card: {role}");
    }
}

#[tokio::test]
async fn an_effect_that_has_not_left_is_cancelled_once_with_a_reason() {
    let desk = Desk::new().await;
    let run = desk.noted("k").await;
    let mut browser = desk.as_role("operator").await;
    let empty = press(&mut browser, &path(run), "fields act-cancel", "", &[]).await;
    assert_eq!(empty.status.as_u16(), 400);
    assert!(empty.text.contains("<details class=\"action\" id=\"cancel-1\" open>"), "{}", empty.text);
    let page = browser.get(&path(run)).await;
    let (to, fields) = form(&page.text, "fields act-cancel", "the customer called", &[]);

    let (first, second) = (browser.post(&to, &fields).await, browser.post(&to, &fields).await);

    assert_eq!((first.status.as_u16(), second.status.as_u16()), (303, 303));
    assert_eq!((first.header("location"), desk.world.count(run, "effect_cancelled").await), (path(run).as_str(), 1));
    let shown = browser.get(&path(run)).await.text;
    assert!(shown.contains("the customer called") && !shown.contains("act-cancel"), "{shown}");
    let (_, other) = form(&page.text, "fields act-cancel", "another reason", &[]);
    let late = browser.post(&to, &other).await;
    assert!(late.status.as_u16() == 409 && late.text.contains("Nothing was done"));
}

#[tokio::test]
async fn only_operators_see_and_may_use_the_actions() {
    let desk = Desk::new().await;
    let run = desk.noted("k").await;
    let page = desk.as_role("operator").await.get(&path(run)).await;
    let (to, fields) = form(&page.text, "fields act-cancel", "why", &[]);
    for role in ["viewer", "approver", "auditor", "switch_owner"] {
        let mut browser = desk.as_role(role).await;
        assert!(!browser.get(&path(run)).await.text.contains("act-cancel"), "{role}");
        assert_eq!(browser.post(&to, &fields).await.status.as_u16(), 403, "{role}");
    }
    assert!(desk.as_role("admin").await.get(&path(run)).await.text.contains("act-cancel"));
    assert_eq!(desk.world.count(run, "effect_cancelled").await, 0);
}

#[tokio::test]
async fn effects_are_listed_by_state_and_provider_and_say_what_holds_them() {
    let desk = Desk::new().await;
    let unknown = desk.unknown("unknown").await;
    let waiting = desk.noted("pending").await;
    let mut browser = desk.as_role("viewer").await;

    assert_eq!(links(&browser.get("/effects?state=unknown").await.text), [format!("/review/{unknown}")]);
    assert_eq!(links(&browser.get("/effects?state=pending&provider=crm").await.text), [path(waiting)]);
    assert!(browser.get("/effects?provider=mail").await.text.contains("No effect fits this search"));
    for query in ["state=lost", "state=a&state=b", "provider=a%00", "cursor=x"] {
        assert_eq!(browser.get(&format!("/effects?{query}")).await.status.as_u16(), 400, "{query}");
    }
}

#[tokio::test]
async fn what_is_not_there_is_said_on_a_page() {
    let desk = Desk::new().await;
    let mut browser = desk.as_role("operator").await;
    let none = RunId::house(&desk.world.tenant());
    for page in [path(none), "/runs/x".into(), "/review/x".into(), format!("/review/eff_{}1", &none.to_string()[4..])] {
        let answer = browser.get(&page).await;
        assert_eq!(answer.status.as_u16(), 404, "{page}");
        assert!(answer.header("content-type").starts_with("text/html"), "{page}");
    }
}
