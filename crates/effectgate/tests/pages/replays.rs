//! The replay journey and a correction as an operator's hands make them in Chromium, with JavaScript and without: a dry
//! run, the plan, its execution with a bar that fills, each key before and after; and the links both ways.

use effectgate_testkit::browser::{Browser, Look};
use serde_json::json;

use crate::{
    eye::Visits,
    ground::Calls as _,
    town::{Place, fills_in, gave_up},
    world::World,
};

async fn as_otto(world: &World, browser: &Browser, path: &str) {
    let place = Place { name: "replays", who: "otto", path: path.to_owned() };
    Visits::new(world, browser).to(&place).await;
}

/// Presses what leads to another page, and waits for that page.
async fn pressed(browser: &Browser, css: &str) {
    browser.script("document.body.dataset.left = '1'", &[]).await;
    browser.click(css).await;
    browser.until("document.body && !document.body.dataset.left && document.readyState === 'complete'").await;
}

async fn replayed(look: Look, is_live: bool) {
    let Some(browser) = Browser::start(&look).await else { return };
    let world = World::new().await;
    let runs: Vec<String> = (1..=3).map(|n| gave_up(&world, &format!("event:{n}:1"), "semantic")).collect();
    let before: Vec<_> = runs.iter().map(|run| world.run(run)).collect();

    as_otto(&world, &browser, "/replays").await;
    fills_in(&browser).await;
    pressed(&browser, "form.plan button").await;
    let report = browser.text().await;
    assert!(report.contains("Dry run: 3 runs fit: 3 may be recovered"), "{report}");
    assert_eq!(runs.iter().map(|run| world.run(run)).collect::<Vec<_>>(), before, "a dry run changes nothing");
    pressed(&browser, "form.make-plan button").await;
    let plan = browser.text().await;
    assert!(browser.at().await.contains("/replays/rpl_") && plan.contains("Nothing was done yet"), "{plan}");
    browser.click("#execute-1 summary").await;
    browser.fill("#execute-1-reason", "looked at with the lead").await;
    pressed(&browser, "#execute-1 button").await;
    if is_live {
        browser.until_text("3 of 3 recovered").await;
    } else {
        runs.iter().for_each(|run| world.until_state(run, "queued"));
        browser.reload().await;
    }

    runs.iter().for_each(|run| world.until_state(run, "queued"));
    let shown = browser.text().await;
    assert!(shown.contains("3 of 3 recovered") && shown.contains("quarantined; no effects"), "{shown}");
    assert_eq!(browser.script("return document.querySelector('progress').value", &[]).await, json!(3));
    assert!(runs.iter().all(|run| world.kinds(run).iter().filter(|kind| *kind == "replayed").count() == 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replay_from_the_dry_run_to_the_last_key() {
    replayed(Look::desktop(), true).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replay_works_on_a_phone_without_javascript() {
    replayed(Look::phone().without_javascript(), false).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hc_46_a_correction_is_made_from_the_run_that_ended_and_the_two_lead_to_each_other() {
    let Some(browser) = Browser::start(&Look::desktop()).await else { return };
    let world = World::new().await;
    let run = gave_up(&world, "event:1:1", "semantic");
    let closed = world.gate.call("POST", &format!("/v1/runs/{run}/close"), &json!({ "reason": "the wrong order" }));
    assert_eq!(closed.unwrap().status, 200);

    as_otto(&world, &browser, &format!("/runs/{run}")).await;
    browser.click("#correct summary").await;
    browser.fill("#correct-key", "event:1:1-again").await;
    browser.fill("#correct-reason", "meant the other one").await;
    pressed(&browser, "#correct button").await;
    let refused = browser.text().await;
    assert!(refused.contains("a key of its own from upstream"), "{refused}");
    browser.fill("#correct-key", "event:77:1").await;
    pressed(&browser, "#correct button").await;

    let new = browser.text().await;
    assert!(new.contains("It corrects event:1:1") && new.contains("meant the other one"), "{new}");
    pressed(&browser, &format!("a[href='/runs/{run}']")).await;
    let old = browser.text().await;
    assert!(old.contains("It was corrected by") && old.contains("event:77:1"), "{old}");
    assert_eq!(world.kinds(&run).iter().filter(|kind| *kind == "corrected").count(), 1);
}
