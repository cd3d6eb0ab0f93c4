//! Hands that press twice, two tabs, the back button, and links that a mail program mangled.

use effectgate_testkit::browser::{Browser, Look};

use crate::{
    person::{Person, decision_form},
    world::{World, note},
};

const ROUNDS: usize = 100;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_clicks_at_once_are_one_decision_a_hundred_times_over() {
    let world = World::new().await;
    let anna = Person::new(&world).signed_in("anna").await;

    for round in 0..ROUNDS {
        let key = format!("double:{round}");
        let run = world.waiting("ticket-reply", &key, &[note(&key, "hello")]);
        let approval = world.run(&run)["approval"]["id"].as_str().unwrap().to_owned();
        let card = anna.clone().get(&format!("/approvals/{approval}")).await;
        let (action, fields) = decision_form(&card, "approve", "");
        let (mut first, mut second) = (anna.clone(), anna.clone());
        let (one, two) = tokio::join!(first.post(&action, &fields), second.post(&action, &fields));

        assert_eq!((one.status, two.status), (303, 303), "the same answer twice: {} {}", one.text, two.text);
        assert_eq!(one.header("location"), two.header("location"));
        let decisions = world.run(&run)["approval"]["decisions"].as_array().unwrap().len();
        assert_eq!((decisions, world.standing(&run).1), (1, 1));
    }

    let ledger = world.provider.requests(ROUNDS).await;
    assert_eq!(ledger.executions.len(), ROUNDS);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_tab_and_the_back_button_show_the_end_and_decide_nothing_more() {
    let Some(browser) = Browser::start(&Look::desktop()).await else { return };
    let world = World::new().await;
    let run = world.waiting("by-link", "tabs:1", &[note("c-1", "hello")]);
    let link = world.link("anna", "tabs:1").await;

    browser.open(&link).await;
    let first = browser.window().await;
    let second = browser.new_window().await;
    browser.open(&link).await;
    browser.turn_to(&first).await;
    browser.click("button[value=approve]").await;
    browser.until("!document.querySelector('button[value=approve]')").await;
    world.until_state(&run, "completed");

    // The other tab still shows the buttons: pressing reject there comes too late, and says what was decided by whom.
    browser.turn_to(&second).await;
    if browser.count("button[value=reject]").await > 0 {
        browser.type_into("#reason", "too late").await;
        browser.click("button[value=reject]").await;
        browser.until("!document.querySelector('button[value=reject]')").await;
    }
    let told = browser.text().await;
    assert!(told.contains("anna@house.test"), "{told}");

    // Back to the page with the button, and once more.
    browser.turn_to(&first).await;
    browser.back().await;
    if browser.count("button[value=approve]").await > 0 {
        browser.click("button[value=approve]").await;
        browser.until("!document.querySelector('button[value=approve]')").await;
    }
    let run = world.run(&run);
    let decisions = run["approval"]["decisions"].as_array().unwrap();
    assert_eq!((decisions.len(), &decisions[0]["decision"]), (1, &serde_json::json!("approve")));
    assert_eq!(world.provider.ledger().executions.len(), 1);
}

/// What mail programs and hands make of a link.
fn mangled(path: &str) -> Vec<(&'static str, String)> {
    let token = path.strip_prefix("/a/").unwrap();
    let swapped = if token.chars().any(char::is_lowercase) { token.to_uppercase() } else { token.to_lowercase() };
    vec![
        ("cut", path[..path.len() - 4].to_owned()),
        ("cut to nothing", "/a/".to_owned()),
        ("upper-cased", format!("/a/{swapped}")),
        ("a letter more", format!("{path}A")),
        ("a space in it", format!("/a/{}%20{}", &token[..20], &token[20..])),
    ]
}

/// What follows a link in a sentence and gets into it. Taken off again, or led nowhere: nothing else.
fn with_a_tail(path: &str) -> Vec<String> {
    [".", ")", ";", "%3E", "%2E", "/", "?utm_source=mail"].iter().map(|tail| format!("{path}{tail}")).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_mangled_link_leads_nowhere_or_to_the_card_and_decides_nothing() {
    let world = World::new().await;
    let run = world.waiting("by-link", "mangled:1", &[note("c-1", "hello")]);
    let path = world.path("anna", "mangled:1").await;
    let mut anna = Person::new(&world);

    for (how, path) in mangled(&path) {
        let page = anna.get(&path).await;
        assert_eq!(page.status, 404, "{how}: {path}");
        assert!(page.text.contains("leads nowhere"), "{how}: {}", page.text);
    }
    for path in with_a_tail(&path) {
        let page = anna.get(&path).await;
        assert!([200, 404].contains(&page.status), "{path}: {}", page.status);
    }
    let first = path.chars().nth(3).unwrap();
    let encoded = path.replacen(first, &format!("%{:02X}", u32::from(first)), 1);
    assert_eq!(anna.get(&encoded).await.status, 200, "percent-encoding says the same: {encoded}");

    assert_eq!(world.standing(&run), ("awaiting_human".to_owned(), 0));
}
