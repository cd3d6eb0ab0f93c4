//! What a person does with a page, and what a page is asked: open, read, press, type, go back. Elements are named by
//! CSS selectors, and asking for one waits until it is there, as a person would.

use std::time::{Duration, Instant};

use base64::Engine as _;
use serde_json::{Value, json};

use super::{Browser, PATIENCE_MS, wire::Refused};

/// Between two looks at a page that has not come yet.
const PAUSE: Duration = Duration::from_millis(25);
/// The protocol's name for a handle to an element.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";
/// How often an element may be put in anew before it is acted on; a page that does so more often never rests.
const STALE_MAX: usize = 5;

/// Keys that are no letter. Source: WebDriver, table of keyCode for actions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    Tab,
    ShiftTab,
    Enter,
    Space,
    Escape,
}

impl Browser {
    /// Opens an address and waits for the page.
    ///
    /// # Panics
    /// If it cannot be loaded.
    pub async fn open(&self, url: &str) {
        self.done("url", &json!({ "url": url })).await;
    }

    /// The address of the page.
    pub async fn at(&self) -> String {
        self.told("/url").await
    }

    pub async fn title(&self) -> String {
        self.told("/title").await
    }

    /// The page as HTML, as it stands after scripts.
    pub async fn source(&self) -> String {
        self.told("/source").await
    }

    pub async fn back(&self) {
        self.done("back", &json!({})).await;
    }

    pub async fn reload(&self) {
        self.done("refresh", &json!({})).await;
    }

    /// What a person reads on the page.
    pub async fn text(&self) -> String {
        self.text_of("body").await
    }

    /// What a person reads in the first element. Not WebDriver's own text, which passes over `noscript`.
    pub async fn text_of(&self, css: &str) -> String {
        let element = self.find(css).await;
        let text = self.script("return arguments[0].innerText", &[json!({ ELEMENT: element })]).await;
        text.as_str().unwrap_or_default().to_owned()
    }

    /// How many such elements there are now. Does not wait.
    pub async fn count(&self, css: &str) -> usize {
        let count = self.script("return document.querySelectorAll(arguments[0]).length", &[css.into()]).await;
        count.as_u64().and_then(|n| usize::try_from(n).ok()).unwrap_or_default()
    }

    /// Presses the first such element with the pointer: it is scrolled to, and must not be covered.
    ///
    /// # Panics
    /// If it does not come, or something lies over it.
    pub async fn click(&self, css: &str) {
        self.act_on(css, "click", &json!({})).await;
    }

    /// Types into a field what is not in it yet.
    pub async fn type_into(&self, css: &str, text: &str) {
        self.act_on(css, "value", &json!({ "text": text })).await;
    }

    /// Empties a field, then types.
    pub async fn fill(&self, css: &str, text: &str) {
        self.act_on(css, "clear", &json!({})).await;
        self.act_on(css, "value", &json!({ "text": text })).await;
    }

    /// Presses and lets go of one key, wherever the focus is.
    pub async fn press(&self, key: Key) {
        let (held, struck) = match key {
            Key::Tab => (None, "\u{E004}"),
            Key::ShiftTab => (Some("\u{E008}"), "\u{E004}"),
            Key::Enter => (None, "\u{E007}"),
            Key::Space => (None, " "),
            Key::Escape => (None, "\u{E00C}"),
        };
        let stroke = |kind: &str, key: &str| json!({ "type": kind, "value": key });
        let mut actions = vec![stroke("keyDown", struck), stroke("keyUp", struck)];
        if let Some(held) = held {
            actions.insert(0, stroke("keyDown", held));
            actions.push(stroke("keyUp", held));
        }
        self.done("actions", &json!({ "actions": [{ "type": "key", "id": "keyboard", "actions": actions }] })).await;
    }

    /// Runs a function's body in the page; `arguments` are what was given. Works under any content security policy and
    /// with JavaScript off.
    ///
    /// # Panics
    /// If it throws.
    pub async fn script(&self, body: &str, arguments: &[Value]) -> Value {
        self.done("execute/sync", &json!({ "script": body, "args": arguments })).await
    }

    /// As [`Self::script`], for a body that answers by calling its last argument.
    pub async fn script_async(&self, body: &str, arguments: &[Value]) -> Value {
        self.done("execute/async", &json!({ "script": body, "args": arguments })).await
    }

    /// Waits until the expression is true in the page, across page loads.
    ///
    /// # Panics
    /// After [`PATIENCE_MS`], with what the page says then.
    pub async fn until(&self, expression: &str) {
        let began = Instant::now();
        let call = json!({ "script": format!("return !!({expression})"), "args": [] });
        // A page that is just being left cannot answer; the next one can.
        while !matches!(self.wire.post("/execute/sync", &call).await, Ok(Value::Bool(true))) {
            if began.elapsed() > Duration::from_millis(PATIENCE_MS) {
                panic!("never true: {expression}; the page at {}: {}", self.at().await, self.text().await);
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Waits until the page's text holds this.
    pub async fn until_text(&self, text: &str) {
        self.until(&format!("document.body && document.body.innerText.includes({})", json!(text))).await;
    }

    /// Opens a further window (a tab) and turns to it. It must be given a look.
    pub async fn new_window(&self) -> String {
        let window = self.done("window/new", &json!({ "type": "tab" })).await;
        let handle = window["handle"].as_str().unwrap_or_default().to_owned();
        self.turn_to(&handle).await;
        handle
    }

    /// The window that is turned to.
    pub async fn window(&self) -> String {
        self.told("/window").await
    }

    pub async fn turn_to(&self, window: &str) {
        self.done("window", &json!({ "handle": window })).await;
    }

    /// The cookies that the page's origin would be sent, by name.
    pub async fn cookies(&self) -> Vec<(String, String)> {
        let cookies = self.wire.get("/cookie").await.unwrap_or_else(|e| panic!("cookies: {e:?}"));
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        cookies.as_array().into_iter().flatten().map(|c| (text(&c["name"]), text(&c["value"]))).collect()
    }

    /// Gives the page's origin a cookie, as a sign-in would have.
    pub async fn set_cookie(&self, name: &str, value: &str) {
        self.done("cookie", &json!({ "cookie": { "name": name, "value": value, "path": "/" } })).await;
    }

    /// Forgets every cookie of the page's origin, as a person does who signs out everywhere.
    pub async fn forget_cookies(&self) {
        self.wire.delete("/cookie").await.unwrap_or_else(|e| panic!("cookies: {e:?}"));
    }

    /// The whole page as PNG, however long it is.
    pub async fn picture(&self) -> Vec<u8> {
        let sizes = self.cdp("Page.getLayoutMetrics", json!({})).await;
        let (width, height) = (&sizes["cssLayoutViewport"]["clientWidth"], &sizes["cssContentSize"]["height"]);
        let clip = json!({ "x": 0, "y": 0, "width": width, "height": height, "scale": 1 });
        let taken = self.cdp("Page.captureScreenshot", json!({ "clip": clip, "captureBeyondViewport": true })).await;
        let text = taken["data"].as_str().expect("a picture has bytes");
        base64::engine::general_purpose::STANDARD.decode(text).expect("the protocol sends base64")
    }

    async fn find(&self, css: &str) -> String {
        let found = self.done("element", &json!({ "using": "css selector", "value": css })).await;
        found[ELEMENT].as_str().expect("an element has a handle").to_owned()
    }

    /// Does something to the first such element. A live part of the page may be put in anew between the look for the
    /// element and the act: then nothing was done, and it is looked for again.
    async fn act_on(&self, css: &str, act: &str, body: &Value) {
        for _ in 0..STALE_MAX {
            let path = format!("element/{}/{act}", self.find(css).await);
            match self.wire.post(&format!("/{path}"), body).await {
                Err(Refused { error, .. }) if error == "stale element reference" => {}
                Ok(_) => return,
                Err(refused) => panic!("{}", self.told_of(&path, body, &refused).await),
            }
        }
        panic!("{css}: put in anew each time it was found");
    }

    /// A refusal with what was asked, and of which page.
    async fn told_of(&self, path: &str, body: &Value, Refused { error, message }: &Refused) -> String {
        let (at, text) = (self.wire.get("/url").await, body.to_string());
        format!("{path} {}: {error}: {message}; the page: {at:?}", text.chars().take(200).collect::<String>())
    }

    async fn told(&self, path: &str) -> String {
        let told = self.wire.get(path).await.unwrap_or_else(|e| panic!("{path}: {e:?}"));
        told.as_str().unwrap_or_default().to_owned()
    }

    async fn done(&self, path: &str, body: &Value) -> Value {
        match self.wire.post(&format!("/{path}"), body).await {
            Ok(value) => value,
            Err(refused) => panic!("{}", self.told_of(path, body, &refused).await),
        }
    }
}
