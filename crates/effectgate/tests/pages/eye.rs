//! Every page and state as a person with any pair of eyes or hands meets it: audited against WCAG 2.2 AA in the light
//! and the dark, at a desk and on a phone; nothing sticks out sideways, not on a small phone, not with letters twice as
//! large; and the keyboard alone reaches everything and shows where it is.

use effectgate_testkit::browser::{Browser, Key, Look};
use serde_json::json;

use crate::{
    person::Person,
    town::{Place, Town},
    world::{World, note},
};

/// Opens pages in the sessions of those who may see them.
pub(crate) struct Visits<'a> {
    world: &'a World,
    browser: &'a Browser,
    who: &'static str,
}

impl<'a> Visits<'a> {
    pub(crate) fn new(world: &'a World, browser: &'a Browser) -> Self {
        Self { world, browser, who: "" }
    }

    pub(crate) async fn to(&mut self, place: &Place) {
        if self.who != place.who {
            self.browser.open(&format!("{}/static/icon.svg", self.world.gate.url)).await;
            self.browser.forget_cookies().await;
            if !place.who.is_empty() {
                for (name, value) in Person::new(self.world).signed_in(place.who).await.cookies {
                    self.browser.set_cookie(&name, &value).await;
                }
            }
            self.who = place.who;
        }
        self.browser.open(&format!("{}{}", self.world.gate.url, place.path)).await;
    }
}

/// What the audit says, a line for each element.
async fn audited(browser: &Browser, place: &Place, look: &str, found: &mut Vec<String>) {
    for violation in browser.audit().await {
        for node in violation.nodes {
            found.push(format!("{} {look}: {}: {} {}", place.name, violation.id, node.target, node.html));
        }
    }
}

/// Elements that reach beyond the right or left edge, outermost first; empty where the page does not scroll sideways.
const SIDEWAYS: &str = "
    const width = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth <= width) return [];
    return [...document.querySelectorAll('body *')]
        .filter(e => e.checkVisibility({ contentVisibilityAuto: true }) && !e.closest('.visually-hidden, thead'))
        .filter(e => { const box = e.getBoundingClientRect(); return box.right > width + 1 || box.left < -1; })
        .slice(0, 3).map(e => e.outerHTML.slice(0, 120));";

async fn upright(browser: &Browser, place: &Place, look: &str, found: &mut Vec<String>) {
    let out = browser.script(SIDEWAYS, &[]).await;
    if out != json!([]) {
        found.push(format!("{} {look}: scrolls sideways: {out}", place.name));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_page_passes_the_audit_in_every_look_and_nothing_sticks_out_sideways() {
    let Some(browser) = Browser::start(&Look::desktop()).await else { return };
    let world = World::new().await;
    let places = Town::built(&world).await;
    let mut visits = Visits::new(&world, &browser);
    let mut found = Vec::new();

    let looks = [
        ("desktop light", Look::desktop()),
        ("desktop dark", Look::desktop().dark()),
        ("phone dark", Look::phone().dark()),
        ("phone light", Look::phone()),
    ];
    let hard = [
        ("phone, letters twice as large", Look::phone().with_letters(200)),
        ("desktop, letters twice as large", Look::desktop().with_letters(200)),
        ("320 wide", Look { width: 320, ..Look::phone() }),
    ];
    for place in &places {
        visits.to(place).await;
        for (name, look) in &looks {
            browser.wear(look).await;
            audited(&browser, place, name, &mut found).await;
            upright(&browser, place, name, &mut found).await;
        }
        for (name, look) in &hard {
            browser.wear(look).await;
            upright(&browser, place, name, &mut found).await;
        }
        browser.wear(&Look::desktop()).await;
    }

    assert!(found.is_empty(), "{} found on {} pages:\n{}", found.len(), places.len(), found.join("\n"));
}

/// The pages that speak Persian, which runs from right to left.
const RIGHT_TO_LEFT: [&str; 6] = ["login", "inbox", "card-open", "card-form", "card-approved", "dead-link"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn from_right_to_left_a_page_is_as_sound_and_as_narrow() {
    let phone = Look::phone().reading("fa");
    let Some(browser) = Browser::start(&phone).await else { return };
    let world = World::new().await;
    let places = Town::built(&world).await;
    let mut visits = Visits::new(&world, &browser);
    let mut found = Vec::new();

    for place in places.iter().filter(|place| RIGHT_TO_LEFT.contains(&place.name)) {
        visits.to(place).await;
        let shape = "return [document.documentElement.dir, document.documentElement.lang, innerWidth]";
        assert_eq!(browser.script(shape, &[]).await, json!(["rtl", "fa", 360]), "{}", place.name);
        audited(&browser, place, "in Persian", &mut found).await;
        upright(&browser, place, "in Persian", &mut found).await;
    }

    assert!(found.is_empty(), "{}:\n{}", found.len(), found.join("\n"));
}

/// The element that has the focus: a name to tell it by, and whether it shows.
const FOCUS: &str = "
    const e = document.activeElement;
    if (!e || e === document.body || e === document.documentElement) return null;
    const style = getComputedStyle(e), box = e.getBoundingClientRect();
    const ring = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2;
    const seen = box.width > 0 && box.height > 0 && box.bottom > 0 && box.top < innerHeight;
    const name = (e.innerText || e.name || e.getAttribute('aria-label') || e.tagName).trim().slice(0, 60);
    return { name, tag: e.tagName, value: e.value || '', ring, seen, html: e.outerHTML.slice(0, 160) };";
/// More stops than any page has.
const STOPS_MAX: usize = 150;

/// Goes through the page with the Tab key alone; the stops in order.
async fn tabbed(browser: &Browser, place: &str, found: &mut Vec<String>) -> Vec<String> {
    let mut stops = Vec::new();
    for n in 0..STOPS_MAX {
        browser.press(Key::Tab).await;
        let focus = browser.script(FOCUS, &[]).await;
        // The page before left the focus beyond its last stop, outside of the page: the first stroke may only come back.
        if focus.is_null() && !(stops.is_empty() && n < 2) {
            return stops;
        }
        if focus.is_null() {
            continue;
        }
        if focus["ring"] != true || focus["seen"] != true {
            found.push(format!("{place}: the focus does not show: {focus}"));
        }
        stops.push(format!("{}:{}:{}", focus["tag"], focus["name"], focus["value"]).replace('"', ""));
    }
    panic!("{place}: no end after {STOPS_MAX} stops: {stops:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_keyboard_reaches_everything_and_the_focus_always_shows() {
    let Some(browser) = Browser::start(&Look::desktop()).await else { return };
    let world = World::new().await;
    let places = Town::built(&world).await;
    let mut visits = Visits::new(&world, &browser);
    let mut found = Vec::new();

    for place in &places {
        visits.to(place).await;
        let reachable = "return document.querySelectorAll('a[href], button, summary').length";
        let stops = tabbed(&browser, place.name, &mut found).await;
        assert!(!stops.is_empty(), "{}: nothing to reach of {}", place.name, browser.script(reachable, &[]).await);
        if place.name == "card-open" {
            for button in ["approve", "reject"] {
                assert!(stops.iter().any(|stop| stop.ends_with(&format!(":{button}"))), "{button}: {stops:#?}");
            }
        }
    }

    assert!(found.is_empty(), "{}:\n{}", found.len(), found.join("\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_decision_can_be_made_with_the_keyboard_alone() {
    let Some(browser) = Browser::start(&Look::desktop()).await else { return };
    let world = World::new().await;
    let run = world.waiting("by-link", "keys:1", &[note("c-1", "hello")]);

    browser.open(&world.link("anna", "keys:1").await).await;
    for _ in 0..STOPS_MAX {
        browser.press(Key::Tab).await;
        if browser.script(FOCUS, &[]).await["value"] == "approve" {
            break;
        }
    }
    browser.press(Key::Enter).await;
    browser.until("!document.querySelector('button[value=approve]')").await;

    world.until_state(&run, "completed");
}
