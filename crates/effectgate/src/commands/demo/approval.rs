//! Part 3: an approval by link. Opening the card changes nothing, however often; one click of the form decides; a
//! second click gets the same answer.

use bytes::Bytes;
use effectgate_certify::form::{self, Form};
use effectgate_engine::connect::{fetch::Fetched, http::HttpRequest};
use http::Method;
use secrecy::SecretString;
use serde::Serialize;
use serde_json::json;
use url::Url;

use super::{
    Kept, kept,
    story::Story,
    world::{LOOK_ON, World},
};
use crate::{
    client::Api,
    exit::{Failure, Result},
    output::cell,
};

const PATH: &str = "/bank/refunds";
const KEY: &str = "refund.requested:shop:1001:1";

#[derive(Debug, Serialize)]
pub(super) struct Counts {
    /// How often the link was opened before anybody decided, by people and by machines that follow links.
    opened: usize,
    state_after_opening: String,
    effects_after_opening: usize,
    clicks: usize,
    decision: String,
    decided_by: String,
    effects: usize,
}

pub(super) async fn show(world: &World, story: &Story) -> Result<Counts> {
    story.part("3  A person decides")?;
    let effect = json!({ "type": "refund", "target": "order-1001", "payload": { "order": 1001, "cents": 4900 } });
    let granted = world.reserve("refund", KEY, &json!({ "order": 1001, "wants": "refund" }), "execution-3").await?;
    let waiting = world.propose(&granted, "execution-3", &effect).await?;
    let (run, link) = (cell(&granted, "/run/id"), cell(&waiting, "/approval/link"));
    story.step(format!("a refund of 49.00 is proposed: {}", cell(&waiting, "/answer")))?;
    let visitor = Visitor::new(&link)?;
    let (opened, form) = visitor.look_around().await?;
    tokio::time::sleep(LOOK_ON).await;
    let state_after_opening = cell(&world.run(&run).await?, "/state");
    let effects_after_opening = world.provider.executed(PATH);
    story.step(format!("the link is opened {opened} times by mail scanners and people"))?;
    story.count("refunds at the bank", effects_after_opening)?;
    let clicks = visitor.decide(&form).await?;
    let done = world.wait_effect(&run, &["completed"]).await?;
    let effects = world.provider.executed(PATH);
    story.step(format!("the button is clicked {clicks} times"))?;
    story.count("refunds at the bank", effects)?;
    let (decision, decided_by) =
        (cell(&done, "/approval/decisions/0/decision"), cell(&done, "/approval/decisions/0/subject"));
    Ok(Counts { opened, state_after_opening, effects_after_opening, clicks, decision, decided_by, effects })
}

impl Counts {
    pub(super) fn guarantees(&self) -> Vec<Kept> {
        let unmoved = self.state_after_opening == "awaiting_human" && self.effects_after_opening == 0;
        vec![
            kept("opening an approval changes nothing", self.opened > 0 && unmoved),
            kept("a decision is used once, however often it is clicked", self.clicks > 1 && self.effects == 1),
        ]
    }
}

/// Somebody with a browser and a link.
struct Visitor {
    browser: Api,
    link: Url,
}

impl Visitor {
    fn new(link: &str) -> Result<Self> {
        let url = Url::parse(link).map_err(|e| Failure::failed(format!("the answer's link {link:?}: {e}")))?;
        Ok(Self { browser: Api::open(link)?, link: url })
    }

    /// Opens the link as scanners and people do; how often, and the form on the card.
    async fn look_around(&self) -> Result<(usize, Form)> {
        let methods = [Method::HEAD, Method::GET, Method::GET];
        let mut card = None;
        for method in methods.clone() {
            let answer = self.request(method.clone(), self.link.clone(), None).await?;
            if method == Method::GET {
                card = Some(answer);
            }
        }
        let card = card.filter(|a| a.status == 200).ok_or_else(|| Failure::failed("the link shows no card"))?;
        let html = String::from_utf8_lossy(&card.body);
        let form = form::deciding(&html, "approve").ok_or_else(|| Failure::failed("the card has no form to decide"))?;
        Ok((methods.len(), form.with_cookies(&card.headers)))
    }

    /// Clicks twice, as an impatient person does.
    async fn decide(&self, form: &Form) -> Result<usize> {
        const CLICKS: usize = 2;
        let url = self.link.join(&form.action).map_err(Failure::failed)?;
        for _ in 0..CLICKS {
            let answer = self.request(Method::POST, url.clone(), Some(form)).await?;
            if answer.status >= 400 {
                return Err(Failure::failed(format!("the form was answered with {}", answer.status)));
            }
        }
        Ok(CLICKS)
    }

    async fn request(&self, method: Method, url: Url, form: Option<&Form>) -> Result<Fetched> {
        let mut headers = vec![("accept".to_owned(), SecretString::from("text/html"))];
        let body = form.map_or_else(Bytes::new, |form| {
            let origin = url.origin().ascii_serialization();
            headers.push(("content-type".into(), "application/x-www-form-urlencoded".into()));
            headers.push(("origin".into(), SecretString::from(origin)));
            headers.extend(form.cookies.clone().map(|c| ("cookie".into(), c)));
            Bytes::from(form.body())
        });
        self.browser.exchange(HttpRequest { method, url, headers, body }).await
    }
}
