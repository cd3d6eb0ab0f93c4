//! The pages in Chromium: nothing that a model wrote runs or fetches (HC-34), and pictures for the eye
//! (`just screenshots`). Without Chromium the test says that it was skipped.
#![allow(clippy::unwrap_used)]

mod pages_common;

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use axum::{
    extract::Request,
    middleware::{Next, from_fn},
};
use effectgate_core::flow::Login;
use pages_common::{MAIL, Options, World, output};
use tokio::process::Command;

/// Every request that reached the server.
type Requests = Arc<Mutex<Vec<String>>>;

/// Serves a world on a free port of this machine.
async fn serve(world: &World) -> (SocketAddr, Requests) {
    let requests = Requests::default();
    let noted = requests.clone();
    let note = from_fn(move |request: Request, next: Next| {
        noted.lock().unwrap().push(format!("{} {}", request.method(), request.uri().path()));
        next.run(request)
    });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let service = world.router.clone().layer(note).into_make_service_with_connect_info::<SocketAddr>();
    tokio::spawn(async move { axum::serve(listener, service).await });
    (address, requests)
}

fn chromium() -> Option<PathBuf> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let folders = std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect::<Vec<_>>());
    let found = folders?.into_iter().flat_map(|folder| names.map(|name| folder.join(name))).find(|path| path.exists());
    if found.is_none() {
        println!("skipped: no Chromium");
    }
    found
}

async fn run(chromium: &Path, more: &[&str]) -> String {
    let profile = tempfile::tempdir().unwrap();
    let data = format!("--user-data-dir={}", profile.path().display());
    let output = Command::new(chromium)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"])
        .args(["--disable-background-networking", "--no-first-run", "--disable-extensions", &data])
        .args(more)
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(std::time::Duration::from_secs(120), output).await.unwrap().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The draft of HC-34 as mail that waits for a decision.
async fn hostile(world: &World) {
    let draft: serde_json::Value = serde_json::from_str(include_str!("data/hc34-draft.json")).unwrap();
    let payload =
        serde_json::json!({"to": draft["to"], "subject": draft["subject"], "text": draft["body"]}).to_string();
    let effects = [("customer_mail", "anna@example.test", payload.as_str())];
    world.waiting_by("k<script>x</script>", &effects, None, output(&draft.to_string())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn hc_34_in_chromium_nothing_of_a_draft_runs_fetches_or_becomes_an_element() {
    let Some(chromium) = chromium() else { return };
    let world = World::new(&Options::by_link(&["anna@house.test"]));
    hostile(&world).await;
    let link = world.mail.link("anna@house.test");
    let (address, requests) = serve(&world).await;

    let dom = run(&chromium, &["--virtual-time-budget=3000", "--dump-dom", &format!("http://{address}{link}")]).await;

    assert!(dom.contains("U+202E") && dom.contains("amount: 9999.00"), "{dom}");
    assert!(!dom.contains("<img") && !dom.contains("<script"), "{dom}");
    assert_eq!(dom.matches("<button").count(), 2, "approve and reject, and no third");
    let mut requests = requests.lock().unwrap().clone();
    requests.sort();
    requests.dedup();
    let own = [format!("GET {link}"), "GET /static/effectgate.css".into(), "GET /static/icon.svg".into()];
    assert!(requests.iter().all(|request| own.contains(request)), "{requests:?}");
}

/// Pictures of the pages in light, dark and on a phone, into `EFFECTGATE_SCREENSHOTS`.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "makes pictures for people: just screenshots"]
async fn screenshots() {
    let Some(chromium) = chromium() else { return };
    let folder = std::env::var("EFFECTGATE_SCREENSHOTS").unwrap();
    let world =
        World::new(&Options { login: Login::Token, ..Options::by_link(&["anna@house.test", "bert@house.test"]) });
    let pages = pages(&world).await;
    let (address, _) = serve(&world).await;
    for (name, path) in &pages {
        for (look, size, dark) in
            [("light", "1200,1500", false), ("dark", "1200,1500", true), ("phone", "500,2600", false)]
        {
            let (size, url) = (format!("--window-size={size}"), format!("http://{address}{path}"));
            let picture = format!("--screenshot={folder}/{name}-{look}.png");
            let scheme = format!("--blink-settings=preferredColorScheme={}", u8::from(!dark));
            run(&chromium, &[&size, &picture, &scheme, &url]).await;
        }
    }
    if std::env::var_os("EFFECTGATE_SERVE").is_some() {
        // For a look by hand; end it with Ctrl-C.
        pages.iter().for_each(|(name, path)| println!("{name}: http://{address}{path}"));
        std::future::pending::<()>().await;
    }
}

/// Names and paths of pages worth a look.
async fn pages(world: &World) -> Vec<(&'static str, String)> {
    let refund = (
        "refund",
        "ch_3PqX",
        r#"{"charge":"ch_3PqX","amount":4200,"currency":"eur","reason":"requested_by_customer"}"#,
    );
    let mut more = output(r#"{"label":"refund","confidence":0.91,"reply":"Dear Anna, we are sorry …"}"#);
    (more.model.name, more.model.revision) = (Some("small-model".into()), Some("2026-08-01".into()));
    more.summary = Some("The customer returned the kettle; the shop's rule allows a refund within 30 days.".into());
    let text = "Dear Anna,\n\nwe are sorry that the kettle arrived broken. We have refunded 42.00 EUR to your card; \
                it takes up to five days.\n\nKind regards\nThe shop";
    let mail = serde_json::json!({"to": "anna@example.test", "subject": "Your refund for order 1042", "text": text})
        .to_string();
    let key = "ticket.reply:zendesk:comment_987:1";
    let effects = [("customer_mail", "anna@example.test", mail.as_str()), refund];
    world.waiting_by(key, &effects, Some("user:otto"), more).await;
    let mut pages = vec![("card", world.mail.link("anna@house.test"))];
    hostile(world).await;
    pages.push(("hostile", world.mail.link("anna@house.test")));
    world.waiting("done", &[MAIL]).await;
    let (anna, bert) = (world.mail.link("anna@house.test"), world.mail.link("bert@house.test"));
    world.browser().decide(&anna, "approve", "Checked against the order.").await;
    pages.extend([("approved", bert), ("login", format!("/login?next={anna}")), ("dead", "/a/nowhere".into())]);
    pages
}
