//! The browser itself: that it sees what is there, and that each check would notice.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use effectgate_testkit::browser::{Browser, Key, Look, Site};

const PAGE: &str = r##"<!doctype html><html lang="en"><head><title>A page</title><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'self'; script-src 'none'; style-src 'unsafe-inline'">
<style>@media (prefers-color-scheme: dark) { body { background: #000; color: #fff } }</style></head>
<body><main><h1>A page</h1><noscript>no scripts here</noscript><a href="/next">On</a>
<form><label>Name <input name="n"></label></form></main></body></html>"##;
/// The same with a picture nobody described and a picture from elsewhere.
const POOR: &str = r#"<!doctype html><html><head><title>Poor</title></head><body><img src="/x.png"><p style="color:#ccc;background:#fff">faint</p>
<script>console.error('said by a script')</script></body></html>"#;

async fn site() -> Site {
    Site::start(|path| if path.starts_with("/poor") { POOR } else { PAGE }.to_owned()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_opens_types_presses_and_goes_back() {
    let Some(browser) = Browser::start(&Look::desktop()).await else { return };
    let site = site().await;

    browser.open(&site.url()).await;
    browser.type_into("input[name=n]", "Anna").await;
    let typed = browser.script("return document.querySelector('input').value", &[]).await;
    browser.click("a").await;
    let next = browser.at().await;
    browser.back().await;

    assert_eq!((typed.as_str(), browser.title().await.as_str()), (Some("Anna"), "A page"));
    assert_eq!(next, format!("{}/next", site.url()));
    assert_eq!(browser.at().await, format!("{}/", site.url()));
    browser.press(Key::Tab).await;
    browser.until("document.activeElement !== document.body").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_look_is_the_size_the_scheme_the_languages_and_the_scripts() {
    let phone = Look::phone().dark().without_javascript().reading("sv");
    let Some(browser) = Browser::start(&phone).await else { return };
    let site = site().await;

    browser.open(&site.url()).await;
    let seen = "return [innerWidth, matchMedia('(prefers-color-scheme: dark)').matches]";
    let seen = browser.script(seen, &[]).await;
    let silent = browser.text().await.contains("no scripts here");
    browser.open(&format!("{}/poor", site.url())).await;
    let without = browser.console().await;
    browser.wear(&Look::desktop()).await;
    browser.open(&format!("{}/poor", site.url())).await;
    let with = browser.console().await;

    assert_eq!((seen.to_string().as_str(), silent), ("[360,true]", true));
    assert!(!without.iter().any(|line| line.contains("said by a script")), "{without:?}");
    assert!(with.iter().any(|line| line.contains("said by a script")), "{with:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_audit_runs_under_a_policy_against_scripts_and_finds_what_is_wrong() {
    let Some(browser) = Browser::start(&Look::desktop()).await else { return };
    let site = site().await;

    browser.open(&site.url()).await;
    let good = browser.audit().await;
    browser.open(&format!("{}/poor", site.url())).await;
    let poor = browser.audit().await;

    assert!(good.is_empty(), "{good:#?}");
    let found = poor.iter().map(|violation| violation.id.as_str()).collect::<Vec<_>>();
    for rule in ["color-contrast", "html-has-lang", "image-alt"] {
        assert!(found.contains(&rule), "{rule} not in {found:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_request_of_a_page_is_seen_and_a_picture_shows_the_whole_of_it() {
    let Some(browser) = Browser::start(&Look::phone()).await else { return };
    let site = site().await;

    browser.open(&format!("{}/poor", site.url())).await;
    let requests = browser.requests().await;
    let picture = browser.picture().await;

    let urls = requests.iter().map(|request| request.url.as_str()).collect::<Vec<_>>();
    assert!(urls.contains(&format!("{}/x.png", site.url()).as_str()), "{requests:?}");
    assert!(site.asked().iter().any(|line| line == "GET /x.png HTTP/1.1"), "{:?}", site.asked());
    assert!(picture.starts_with(b"\x89PNG"));
}
