//! Replays as pages: a dry run that stores nothing, a plan that is executed once, what was skipped and why; and the
//! correction of a run that has ended, with the links both ways.
#![allow(clippy::unwrap_used)]

mod desk_common;
mod pages_common;

use desk_common::{Desk, MINUTE, form, press};
use effectgate_core::{
    ids::{FlowName, ReplayId, RunId},
    run::Origin,
};
use effectgate_engine::{
    Caller,
    call::LeaseCall,
    replay::ReplayStanding,
    reserve::{KeyGiven, PayloadGiven, Request, Reserved},
};
use pages_common::browser::{Answer, Browser};

/// A run whose worker failed in this way.
async fn failed(desk: &Desk, key: &str, class: &str) -> RunId {
    let world = &desk.world;
    let request = Request {
        flow: FlowName::new("ticket-reply"),
        key: KeyGiven::Whole(key.into()),
        payload: PayloadGiven::Text(r#"{"ticket": 42}"#.into()),
        owner: Some("w".into()),
        lease_ms: None,
        origin: Origin::default(),
    };
    let caller = Caller { tenant: world.tenant(), api_key: "n8n".into() };
    let Reserved::Granted { run, lease, .. } = world.engine.reserve(&caller, request).await.unwrap() else {
        panic!("not granted")
    };
    let owner = effectgate_core::ids::Owner::new(lease.owner);
    let call = LeaseCall::new(world.tenant(), run.id, owner, effectgate_core::ids::Fence(lease.fence), "fail", b"x");
    world.engine.fail(&call, class, None).await.unwrap();
    run.id
}

/// Around the moment at which the tests' clock stands, in UTC.
const FILTER: [(&str, &str); 6] = [
    ("flow", "ticket-reply"),
    ("event_type", "*"),
    ("since", "2026-09-01T00:00"),
    ("until", "2026-10-30T00:00"),
    ("state", "any"),
    ("limit", "10"),
];

async fn dry_run(browser: &mut Browser, filter: &[(&str, &str)]) -> Answer {
    press(browser, "/replays", "fields plan", "the model was down", filter).await
}

/// Makes the plan that a dry run offers, and gives its address.
async fn planned(browser: &mut Browser) -> String {
    let report = dry_run(browser, &FILTER).await;
    assert_eq!(report.status, 200, "{}", report.text);
    let (path, fields) = form(&report.text, "fields make-plan", "", &[]);
    let fields: Vec<_> = fields.into_iter().filter(|(name, value)| name != "reason" || !value.is_empty()).collect();
    let made = browser.post(&path, &fields).await;
    assert_eq!(made.status, 303, "{}", made.text);
    made.header("location").to_owned()
}

/// Waits for the work that goes on in the background.
async fn until_done(desk: &Desk, path: &str) {
    let id: ReplayId = path.trim_start_matches("/replays/").parse().unwrap();
    let done = async {
        loop {
            let plan = desk.world.engine.replay_find(&desk.world.tenant(), id, false).await.unwrap();
            if plan.state == ReplayStanding::Done {
                return;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(60), done).await.unwrap();
}

#[tokio::test]
async fn a_dry_run_comes_first_and_stores_and_changes_nothing() {
    let desk = Desk::new().await;
    let (failed, held) = (failed(&desk, "k-1", "model_timeout").await, failed(&desk, "k-2", "semantic").await);
    let before = (desk.world.agg(failed).await, desk.world.agg(held).await);
    let mut browser = desk.as_role("operator").await;

    let empty = browser.get("/replays").await;
    let report = dry_run(&mut browser, &FILTER).await;

    assert!(empty.text.contains(">Dry run</button>") && !empty.text.contains("Make this plan"), "{}", empty.text);
    assert_eq!(report.status, 200);
    for shown in ["Dry run: 2 runs fit: 2 may be recovered, 0 are left alone.", "k-1", "k-2", "Make this plan"] {
        assert!(report.text.contains(shown), "{shown} in {}", report.text);
    }
    assert_eq!((desk.world.agg(failed).await, desk.world.agg(held).await), before);
    assert!(browser.get("/replays").await.text.contains("There is no plan."));
}

#[tokio::test]
async fn hc_39_a_form_that_does_not_say_dry_run_or_leaves_a_member_out_makes_no_plan() {
    let desk = Desk::new().await;
    failed(&desk, "k-1", "model_timeout").await;
    let mut browser = desk.as_role("operator").await;
    let page = browser.get("/replays").await;
    let (path, fields) = form(&page.text, "fields plan", "because", &FILTER);
    let changed = |name: &str, value: &str| -> Vec<(String, String)> {
        let other = |(n, v): &(String, String)| (n.clone(), if n == name { value.to_owned() } else { v.clone() });
        fields.iter().map(other).collect()
    };
    let wrong = [
        ("what", "dryrun"),
        ("what", ""),
        ("flow", ""),
        ("flow", "no-such-flow"),
        ("event_type", " "),
        ("since", ""),
        ("until", "tomorrow"),
        ("until", "2026-08-01T00:00"),
        ("state", ""),
        ("state", "completed"),
        ("limit", ""),
        ("limit", "0"),
        ("limit", "1001"),
        ("reason", " "),
    ];
    for (name, value) in wrong {
        let answer = browser.post(&path, &changed(name, value)).await;

        assert_eq!(answer.status, 400, "{name}={value}: {}", answer.text);
        assert!(answer.text.contains("class=\"error\"") && !answer.text.contains("Make this plan"), "{name}={value}");
        assert!(name == "limit" || answer.text.contains("value=\"10\""), "{name}={value}: what was typed is kept");
    }
    assert!(browser.get("/replays").await.text.contains("There is no plan."));
}

#[tokio::test]
async fn a_plan_is_executed_once_with_a_reason_and_shows_each_key_before_and_after() {
    let desk = Desk::new().await;
    let (one, two) = (failed(&desk, "k-1", "model_timeout").await, failed(&desk, "k-2", "semantic").await);
    let mut browser = desk.as_role("operator").await;
    let path = planned(&mut browser).await;
    let plan = browser.get(&path).await;
    assert!(plan.text.contains(">may be recovered</span>") && !plan.text.contains(">waits</span>"), "{}", plan.text);
    let (execute, fields) = form(&plan.text, "fields act-execute", "looked at with the lead", &[]);

    let without = browser.post(&execute, &form(&plan.text, "fields act-execute", " ", &[]).1).await;
    let first = browser.post(&execute, &fields).await;
    until_done(&desk, &path).await;
    let again = browser.post(&execute, &fields).await;

    assert_eq!((without.status.as_u16(), first.status.as_u16(), again.status.as_u16()), (400, 303, 303));
    assert!(without.text.contains("Write the reason"), "{}", without.text);
    let (one, two) = (desk.world.agg(one).await, desk.world.agg(two).await);
    assert_eq!((one.run.state.as_str(), two.run.state.as_str()), ("failed_retryable", "queued"));
    assert_eq!(desk.world.count(one.run.id, "replayed").await, 1);
    let shown = browser.get(&path).await.text;
    for part in [
        "2 runs fitted: 2 were to be recovered, 0 were left alone.",
        "2 of 2 recovered",
        "<progress",
        "quarantined; no effects",
        "queued; no effects",
        "It has ended.",
    ] {
        assert!(shown.contains(part), "{part} in {shown}");
    }
    assert!(!shown.contains("act-execute"));
    assert!(browser.get("/replays").await.text.contains(&path));
}

#[tokio::test]
async fn where_nothing_may_be_recovered_no_plan_is_offered_and_none_is_executed() {
    let desk = Desk::new().await;
    desk.in_review("k-1").await;
    let mut browser = desk.as_role("operator").await;

    let report = dry_run(&mut browser, &FILTER).await;
    let filter: Vec<_> = FILTER.into_iter().chain([("what", "plan")]).collect();
    let (path, fields) = form(&report.text, "fields plan", "over the wire", &filter);
    let fields: Vec<_> = fields.into_iter().filter(|(name, value)| name != "what" || value == "plan").collect();
    let made = browser.post(&path, &fields).await;
    let plan = browser.get(made.header("location")).await;

    assert!(report.text.contains("0 may be recovered") && !report.text.contains("Make this plan"), "{}", report.text);
    assert!(report.text.contains("nothing to make a plan of"), "{}", report.text);
    assert_eq!(made.status, 303, "{}", made.text);
    assert!(plan.text.contains("there is nothing to execute") && !plan.text.contains("act-execute"), "{}", plan.text);
    assert!(!plan.text.contains("It may be executed until"), "{}", plan.text);
}

#[tokio::test]
async fn what_changed_since_the_plan_is_skipped_and_what_is_refused_says_what_to_do_instead() {
    let desk = Desk::new().await;
    let moved = failed(&desk, "k-1", "semantic").await;
    let (doubt, _) = (desk.in_review("k-2").await, failed(&desk, "k-3", "agent_limit").await);
    let mut browser = desk.as_role("operator").await;
    let path = planned(&mut browser).await;
    let page = browser.get(&path).await.text;
    assert!(
        page.contains("settle the effect on the review desk") && page.contains("a correction: a new event"),
        "{page}"
    );
    let tenant = desk.world.tenant();
    let otto = effectgate_core::actor::Actor::System("test");
    desk.world.engine.close(&tenant, moved, &otto, "not wanted").await.unwrap();

    press(&mut browser, &path, "fields act-execute", "go", &[]).await;
    until_done(&desk, &path).await;

    let page = browser.get(&path).await.text;
    assert!(page.contains("it has changed since the plan was made"), "{page}");
    assert_eq!(desk.state(doubt).await, "review");
    assert_eq!(desk.world.agg(moved).await.run.state.as_str(), "failed_terminal");
}

#[tokio::test]
async fn a_plan_whose_time_is_over_offers_no_button_and_an_old_page_does_nothing() {
    let desk = Desk::new().await;
    let run = failed(&desk, "k-1", "semantic").await;
    let mut browser = desk.as_role("operator").await;
    let path = planned(&mut browser).await;
    let old = browser.get(&path).await;
    desk.world.clock.advance_ms(16 * MINUTE);
    let (execute, fields) = form(&old.text, "fields act-execute", "late", &[]);

    let late = browser.post(&execute, &fields).await;

    assert_eq!(late.status, 409, "{}", late.text);
    assert!(late.text.contains("Nothing was done") && !late.text.contains("act-execute"));
    assert_eq!(desk.world.agg(run).await.run.state.as_str(), "quarantined");
}

#[tokio::test]
async fn who_only_reads_sees_plans_and_makes_none() {
    let desk = Desk::new().await;
    failed(&desk, "k-1", "semantic").await;
    let path = planned(&mut desk.as_role("operator").await).await;
    let mut viewer = desk.as_role("viewer").await;

    let (list, plan) = (viewer.get("/replays").await, viewer.get(&path).await);
    let nothing = viewer.get("/replays/rpl_nothing").await;

    assert!(list.text.contains(&path) && !list.text.contains("<form class=\"fields plan\""));
    assert!(plan.text.contains("k-1") && !plan.text.contains("act-execute"));
    assert_eq!(nothing.status, 404);
}

const CORRECT: &str = "fields correct";

/// A run that was closed, and the page of its correction's form.
async fn ended(desk: &Desk) -> (RunId, String) {
    let run = failed(desk, "ticket:42:1", "semantic").await;
    let (tenant, actor) = (desk.world.tenant(), effectgate_core::actor::Actor::System("test"));
    desk.world.engine.close(&tenant, run, &actor, "wrong order").await.unwrap();
    (run, format!("/runs/{run}"))
}

#[tokio::test]
async fn hc_46_a_run_that_has_ended_is_corrected_by_a_new_event_with_links_both_ways() {
    let desk = Desk::new().await;
    let (run, page) = ended(&desk).await;
    let mut browser = desk.as_role("operator").await;
    let opened = browser.get(&page).await;
    assert!(opened.text.contains("{&#34;ticket&#34;: 42}</textarea>"), "prefilled from the original: {}", opened.text);
    let typed = [("key", "ticket:99:1"), ("payload", r#"{"ticket": 43}"#)];
    let (path, fields) = form(&opened.text, CORRECT, "the wrong ticket was meant", &typed);

    let first = browser.post(&path, &fields).await;
    let again = browser.post(&path, &fields).await;

    assert_eq!((first.status.as_u16(), again.status.as_u16()), (303, 303), "{}", first.text);
    assert_eq!(first.header("location"), again.header("location"), "twice is one correction");
    let new = browser.get(first.header("location")).await.text;
    assert!(new.contains("It corrects") && new.contains(&page) && new.contains("the wrong ticket was meant"), "{new}");
    let old = browser.get(&page).await.text;
    assert!(
        old.contains("It was corrected by") && old.contains("ticket:99:1") && old.contains("user:operator"),
        "{old}"
    );
    assert_eq!((desk.world.count(run, "corrected").await, desk.world.agg(run).await.run.state.is_final()), (1, true));
}

#[tokio::test]
async fn a_correction_that_cannot_be_comes_back_with_what_was_typed() {
    let desk = Desk::new().await;
    let (_, page) = ended(&desk).await;
    let mut browser = desk.as_role("operator").await;
    let payload = r#"{"ticket": 43}"#;
    let table = [
        ("ticket:42:1-2", payload, "because", 400, "a key of its own from upstream"),
        ("Ticket:42:1", payload, "because", 400, "a key of its own from upstream"),
        ("", payload, "because", 400, ""),
        ("ticket:99:1", "{\"ticket\": ", "because", 400, "no JSON that can be taken"),
        ("ticket:99:1", payload, " ", 400, "Write the reason"),
    ];
    for (key, payload, reason, status, said) in table {
        let answer = press(&mut browser, &page, CORRECT, reason, &[("key", key), ("payload", payload)]).await;

        assert_eq!(answer.status.as_u16(), status, "{key}: {}", answer.text);
        assert!(answer.text.contains(said) && answer.text.contains(&format!("name=\"key\" value=\"{key}\"")), "{key}");
        assert!(answer.text.contains("id=\"correct\" open"), "{key}");
    }
    assert!(!browser.get(&page).await.text.contains("It was corrected by"));
}

#[tokio::test]
async fn a_run_that_has_not_ended_and_who_only_reads_have_no_such_form() {
    let desk = Desk::new().await;
    let open = failed(&desk, "k-1", "model_timeout").await;
    let (_, page) = ended(&desk).await;

    let open = desk.as_role("operator").await.get(&format!("/runs/{open}")).await;
    let viewed = desk.as_role("viewer").await.get(&page).await;

    assert!(!open.text.contains(CORRECT) && !viewed.text.contains(CORRECT));
}
