//! HC-31: one approves, the other rejects, at the same moment. The first commit is the decision; the other is shown
//! who and when.

use std::time::Duration;

use effectgate_testkit::browser::{Browser, Look};
use serde_json::json;

use crate::{
    ground::Backend,
    person::{Page, Person},
    world::{World, note},
};

const ROUNDS: usize = 200;
/// Every tenth round one of the two comes this much later.
const LATER: Duration = Duration::from_millis(100);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hc_31_approve_against_reject_two_hundred_times_is_one_decision_each_time() {
    raced(&World::new().await, ROUNDS).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hc_31_approve_against_reject_is_one_decision_on_postgresql() {
    let Some(world) = World::on(Backend::Postgres, "").await else { return };
    raced(&world, ROUNDS / 4).await;
}

/// Waits for a real clock: the order of two requests is what is tested.
async fn later(wait: bool) {
    if wait {
        tokio::time::sleep(LATER).await;
    }
}

async fn raced(world: &World, rounds: usize) {
    let anna = Person::new(world).signed_in("anna").await;
    let bert = Person::new(world).coming_from(2).signed_in("bert").await;
    let mut approved = 0;

    for round in 0..rounds {
        let key = format!("race:{round}");
        let run = world.waiting("ticket-reply", &key, &[note(&key, "hello")]);
        let path = format!("/approvals/{}", world.run(&run)["approval"]["id"].as_str().unwrap());
        let (mut anna, mut bert) = (anna.clone(), bert.clone());
        let (of_anna, of_bert) = (anna.get(&path).await, bert.get(&path).await);
        let (one, two) = tokio::join!(
            async {
                later(round % 10 == 3).await;
                anna.press(&of_anna, "approve", "").await
            },
            async {
                later(round % 10 == 7).await;
                bert.press(&of_bert, "reject", "not like this").await
            }
        );
        approved += usize::from(judged(world, &run, &one, &two));
    }

    let ledger = world.provider.requests(approved).await;
    assert_eq!(ledger.executions.len(), approved);
    assert!(approved > 0 && approved < rounds, "no race: {approved} of {rounds}");
}

/// True if it was approved. One was taken and one was told.
fn judged(world: &World, run: &str, approve: &Page, reject: &Page) -> bool {
    let run = world.run(run);
    let decisions = run["approval"]["decisions"].as_array().unwrap();
    assert_eq!(decisions.len(), 1, "{run}");
    let is_approved = decisions[0]["decision"] == "approve";
    let (winner, loser, name) =
        if is_approved { (approve, reject, "user:anna") } else { (reject, approve, "user:bert") };
    assert_eq!((winner.status, loser.status), (303, 409), "{}", loser.text);
    assert!(loser.text.contains(name), "who: {}", loser.text);
    assert!(loser.text.contains(&decisions[0]["at"].as_str().unwrap()[..16]), "when: {decisions:?} {}", loser.text);
    assert_eq!(run["effects"].as_array().unwrap().len(), usize::from(is_approved), "{run}");
    is_approved
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hc_31_in_two_browsers_the_loser_sees_who_was_first() {
    let Some(of_anna) = Browser::start(&Look::phone()).await else { return };
    let Some(of_bert) = Browser::start(&Look::desktop()).await else { return };
    let world = World::new().await;

    for round in 0..3 {
        let key = format!("browsers:{round}");
        let run = world.waiting("by-link", &key, &[note(&key, "hello")]);
        of_anna.open(&world.link("anna", &key).await).await;
        of_bert.open(&world.link("bert", &key).await).await;
        of_bert.type_into("#reason", "not like this").await;
        tokio::join!(of_anna.click("button[value=approve]"), of_bert.click("button[value=reject]"));
        for browser in [&of_anna, &of_bert] {
            browser.until("!document.querySelector('button[value=approve]')").await;
        }

        let run = world.run(&run);
        let decisions = run["approval"]["decisions"].as_array().unwrap();
        assert_eq!(decisions.len(), 1, "{run}");
        let is_approved = decisions[0]["decision"] == json!("approve");
        let (loser, name) = if is_approved { (&of_bert, "anna@house.test") } else { (&of_anna, "bert@house.test") };
        let told = loser.text().await;
        assert!(told.contains("Your decision was not taken") && told.contains(name), "{told}");
    }
}
