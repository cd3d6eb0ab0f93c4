//! Settings to read, and the journal for auditors: searched, verified, exported.
#![allow(clippy::unwrap_used)]

mod desk_common;
mod pages_common;

use desk_common::{Desk, MINUTE};

#[tokio::test]
async fn settings_say_in_words_what_is_in_force() {
    let desk = Desk::new().await;

    let page = desk.as_role("viewer").await.get("/settings").await;

    assert_eq!(page.status.as_u16(), 200);
    for shown in [
        "ticket-reply",
        "sha256:test",
        "a person decides",
        "goes by itself",
        "role:support-lead",
        "content 30 days, keys and outcomes 90 days, the journal 730 days",
        "nothing over there stops it",
        "stopped by our key for 1 d from the first send",
        "every 1 min; “not there” counts after 2 min, and leads to a review",
        "sqlite, schema",
        "on: the switches decide",
        "set up",
    ] {
        assert!(page.text.contains(shown), "{shown} in {}", page.text);
    }
    assert!(!page.text.contains("<form class=\"fields"), "read only");
}

#[tokio::test]
async fn only_auditors_open_the_journal() {
    let desk = Desk::new().await;
    for role in ["viewer", "approver", "operator", "switch_owner"] {
        for page in ["/journal", "/journal/verify"] {
            assert_eq!(desk.as_role(role).await.get(page).await.status.as_u16(), 403, "{role} {page}");
        }
    }
    for role in ["auditor", "admin"] {
        let page = desk.as_role(role).await.get("/journal").await;
        assert!(page.status == 200 && page.text.contains("href=\"/v1/journal/export\""), "{role}");
    }
}

#[tokio::test]
async fn the_journal_is_searched_by_chain_kind_actor_and_time() {
    let desk = Desk::new().await;
    let run = desk.noted("first").await;
    desk.world.clock.advance_ms(10 * MINUTE);
    let other = desk.noted("second").await;
    let mut browser = desk.as_role("auditor").await;
    let chains = |text: &str| (text.contains(&format!("/runs/{run}\"")), text.contains(&format!("/runs/{other}\"")));

    let table = [
        (String::new(), (true, true)),
        (format!("run={run}"), (true, false)),
        ("run=second".into(), (false, true)),
        ("kind=effect_queued&since=2026-09-21T14:20".into(), (false, true)),
        ("until=2026-09-21T14:20&kind=reserved".into(), (true, false)),
        ("actor=worker%3Aworker-1".into(), (true, true)),
        ("actor=worker%3Anobody".into(), (false, false)),
        ("run=house".into(), (false, false)),
    ];
    for (query, wanted) in table {
        let page = browser.get(&format!("/journal?{query}")).await;
        assert_eq!((page.status.as_u16(), chains(&page.text)), (200, wanted), "{query}: {}", page.text);
    }
    assert!(browser.get("/journal?run=house").await.text.contains("user created"));
    for query in ["kind=nonsense", "since=then", "cursor=x", "run=no-such-key", "actor=%00", "kind=a&kind=b"] {
        assert_eq!(browser.get(&format!("/journal?{query}")).await.status.as_u16(), 400, "{query}");
    }
}

#[tokio::test]
async fn verifying_counts_every_chain_and_carries_its_sum_only_under_its_seal() {
    let desk = Desk::new().await;
    for n in 0..3 {
        desk.noted(&format!("k{n}")).await;
    }
    let mut browser = desk.as_role("auditor").await;

    let page = browser.get("/journal/verify").await;

    // Three runs and the house.
    assert!(
        page.text.contains("Every chain verifies") && page.text.contains("<dt>Chains</dt><dd>4</dd>"),
        "{}",
        page.text
    );
    let last = format!("run_{}", "z".repeat(32));
    let forged = browser.get(&format!("/journal/verify?after={last}&chains=1000000&seal=x")).await.text;
    assert!(forged.contains("<dt>Chains</dt><dd>4</dd>"), "what was not sealed is counted again: {forged}");
}
