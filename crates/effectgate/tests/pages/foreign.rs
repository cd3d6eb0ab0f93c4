//! HC-33: a page of somebody else, opened in the browser of somebody who is signed in here, posts our forms. Nothing is
//! decided and nothing is turned. The other site is on another port of this machine, which is another origin and the
//! same site: the cookie goes along, and the origin and the form's token alone stand in the way.

use effectgate_testkit::browser::{Browser, Look, Site};

use effectgate_testkit::provider::Act;
use serde_json::{Value, json};

use crate::{
    eye::Visits,
    ground::{Calls as _, eventually},
    town::Place,
    world::{World, note},
};

const CASE: &str = include_str!("../data/hc33-form.html");

/// A page that sends these fields to this address at once.
fn sending(action: &str, encoding: &str, fields: &[(&str, &str)]) -> String {
    let inputs: String =
        fields.iter().map(|(name, value)| format!("<input type=hidden name='{name}' value='{value}'>")).collect();
    format!(
        "<!doctype html><form action=\"{action}\" method=\"POST\" enctype=\"{encoding}\">{inputs}</form>\
         <script>document.forms[0].submit()</script>"
    )
}

/// Opens the page in the signed-in browser and waits for what our server answers.
async fn attacked(browser: &Browser, world: &World, page: String, what: &str) {
    let site = Site::start(move |_| page.clone()).await;
    // By the name, the site is another site; by the number, it is the same site on another port.
    for host in ["127.0.0.1", "localhost"] {
        browser.open(&site.url().replace("127.0.0.1", host)).await;
        browser.until(&format!("location.origin === '{}' && document.readyState === 'complete'", world.gate.url)).await;
        let status = browser.script("return performance.getEntriesByType('navigation')[0].responseStatus", &[]).await;
        let status = status.as_u64().unwrap();
        assert!([403, 404, 405, 415].contains(&status), "{what} from {host}: {status} {}", browser.text().await);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hc_33_a_foreign_page_in_a_signed_in_browser_decides_nothing() {
    let Some(browser) = Browser::start(&Look::desktop()).await else { return };
    let world = World::new().await;
    let run = world.waiting("ticket-reply", "foreign:1", &[note("c-1", "hello")]);
    let approval = world.run(&run)["approval"].clone();
    let (id, hash) = (approval["id"].as_str().unwrap(), approval["effects_hash"].as_str().unwrap());
    let link = world.link("anna", "foreign:1").await;
    let card = format!("{}/approvals/{id}", world.gate.url);
    let api = format!("{}/v1/approvals/{id}/decide", world.gate.url);
    Visits::new(&world, &browser).to(&Place { name: "inbox", who: "anna", path: "/inbox".to_owned() }).await;

    let fields = [("decision", "approve"), ("effects_hash", hash), ("reason", ""), ("csrf", "guessed")];
    for action in [link.as_str(), &card, &api] {
        let case = CASE.replace("https://effectgate.test/approve/TOKEN", action);
        attacked(&browser, &world, case, &format!("the case's form to {action}")).await;
        for encoding in ENCODINGS {
            let page = sending(action, encoding, &fields);
            attacked(&browser, &world, page, &format!("{encoding} to {action}")).await;
        }
    }

    assert_eq!(world.standing(&run), ("awaiting_human".to_owned(), 0));
    assert!(world.run(&run)["approval"]["decisions"].as_array().unwrap().is_empty());
    // Still signed in: it was no lack of a session that stood in the way.
    browser.open(&card).await;
    browser.click("button[value=approve]").await;
    browser.until("!document.querySelector('button[value=approve]')").await;
    world.until_state(&run, "completed");
}

const ENCODINGS: [&str; 3] = ["application/x-www-form-urlencoded", "multipart/form-data", "text/plain"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hc_33_a_foreign_page_settles_withdraws_and_turns_nothing() {
    let Some(browser) = Browser::start(&Look::desktop()).await else { return };
    let world = World::new().await;
    let open = world.waiting("ticket-reply", "foreign:2", &[note("c-1", "hello")]);
    world.provider.push(Act::ReadThenClose);
    let doubt = world.proposed("crm-sync", "foreign:3", &[note("c-2", "hello")], &Value::Null)["run"]["id"].clone();
    let doubt = doubt.as_str().unwrap();
    eventually("a review", || (world.run(doubt)["effects"][0]["state"] == "review").then_some(()));
    let (approval, effect) = (world.run(&open)["approval"]["id"].clone(), world.run(doubt)["effects"][0]["id"].clone());
    let (approval, effect) = (approval.as_str().unwrap(), effect.as_str().unwrap());

    let more = ("reason", "because");
    /// Whose session, which path, which fields.
    type Attack = (&'static str, String, Vec<(&'static str, &'static str)>);
    let attacks: [Attack; 6] = [
        ("otto", format!("/approvals/{approval}"), vec![("decision", "withdraw"), more]),
        ("otto", format!("/v1/approvals/{approval}/withdraw"), vec![more]),
        ("otto", format!("/review/{effect}/settle"), vec![("verdict", "did_not_happen"), ("then", "send_again"), more]),
        ("otto", format!("/v1/effects/{effect}/resolve"), vec![("verdict", "happened"), ("external_id", "x"), more]),
        ("sven", "/switches".to_owned(), vec![("scope", "all"), ("enabled", "false"), more]),
        ("sven", "/v1/switches".to_owned(), vec![("scope", "all"), ("enabled", "false"), more]),
    ];
    let mut visits = Visits::new(&world, &browser);
    for (who, path, fields) in &attacks {
        visits.to(&Place { name: "inbox", who, path: "/inbox".to_owned() }).await;
        let fields = [fields.as_slice(), &[("csrf", "guessed")]].concat();
        for encoding in ENCODINGS {
            let page = sending(&format!("{}{path}", world.gate.url), encoding, &fields);
            attacked(&browser, &world, page, &format!("{encoding} to {path}")).await;
        }
    }

    assert_eq!(world.run(&open)["approval"]["state"], "open");
    assert_eq!(world.run(doubt)["effects"][0]["state"], "review");
    assert_eq!(world.provider.ledger().requests.len(), 1, "nothing was sent again");
    let switches = world.gate.get("/v1/switches");
    assert_eq!(switches["switches"], json!([]), "{switches}");
}
