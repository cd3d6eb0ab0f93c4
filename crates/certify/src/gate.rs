//! The gate as a client sees it: the documented calls of a worker, an operator and a person. Every call gives the whole
//! answer; what it must be is the items' business.

use http::Method;
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Value, json};
use url::Url;

use crate::{
    evidence::{Done, Stop},
    form::{self, Form},
    http::{Answer, Ask, send},
    target::Login,
};

/// A gate and the key that opens it.
#[derive(Debug, Clone)]
pub(crate) struct Gate {
    base: Url,
    key: SecretString,
}

/// A granted lease.
#[derive(Debug, Clone)]
pub(crate) struct Leased {
    pub(crate) run: String,
    pub(crate) owner: String,
    pub(crate) fence: i64,
}

/// A reservation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted<'a> {
    pub(crate) flow: &'a str,
    pub(crate) key: &'a str,
    pub(crate) owner: &'a str,
    pub(crate) payload: &'a Value,
    pub(crate) lease_ms: Option<u64>,
}

/// An approval's link as a visitor holds it: the path, which is a secret.
#[derive(Debug, Clone)]
pub(crate) struct Link {
    path: String,
}

impl Link {
    /// The token itself, for the search of places where it must not be.
    pub(crate) fn token(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }
}

/// The cookie of a signed-in person.
#[derive(Debug, Clone)]
pub(crate) struct Session(String);

impl Gate {
    pub(crate) fn new(base: Url, key: SecretString) -> Self {
        Self { base, key }
    }

    pub(crate) fn at(&self, path: &str) -> Done<Url> {
        self.base.join(path).map_err(|e| Stop::Error(format!("{}: {e}", self.base)))
    }

    fn ask(&self, method: Method, path: &str) -> Done<Ask> {
        Ok(Ask::new(method, self.at(path)?).header("accept", "application/json"))
    }

    fn keyed(&self, method: Method, path: &str) -> Done<Ask> {
        Ok(self.ask(method, path)?.header("authorization", format!("Bearer {}", self.key.expose_secret())))
    }

    /// A call with the API key.
    pub(crate) async fn call(&self, method: Method, path: &str, body: &Value) -> Done<Answer> {
        Ok(send(self.keyed(method, path)?.json(body)).await?)
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Done<Answer> {
        self.call(Method::POST, path, body).await
    }

    /// Posts a JSON text as it is: what has payloads in it must not be read and written again on the way.
    pub(crate) async fn post_text(&self, path: &str, body: String) -> Done<Answer> {
        Ok(send(self.keyed(Method::POST, path)?.body("application/json", body)).await?)
    }

    /// Reads; anything but a success ends the item.
    pub(crate) async fn get(&self, path: &str) -> Done<Answer> {
        let answer = send(self.keyed(Method::GET, path)?).await?;
        if answer.is_success() { Ok(answer) } else { Err(refused(&format!("GET {path}"), &answer)) }
    }

    pub(crate) async fn reserve(&self, wanted: Wanted<'_>) -> Done<Answer> {
        let Wanted { flow, key, owner, payload, lease_ms } = wanted;
        let mut body = json!({ "flow": flow, "key": key, "payload": payload, "owner": owner,
            "trigger": { "source": "effectgate certify" }, "execution": { "id": owner, "workflow": "certify" } });
        if let Some(ms) = lease_ms {
            body["lease_ms"] = json!(ms);
        }
        self.post("/v1/runs", &body).await
    }

    /// Reserves a key that nobody has; anything else ends the item.
    pub(crate) async fn leased(&self, wanted: Wanted<'_>) -> Done<Leased> {
        let answer = self.reserve(wanted).await?;
        if answer.status != 201 {
            return Err(refused(&format!("reserving in the flow {:?}", wanted.flow), &answer));
        }
        Ok(leased(&answer, wanted.owner))
    }

    /// A call under a lease.
    pub(crate) async fn under(&self, lease: &Leased, verb: &str, more: Value) -> Done<Answer> {
        let mut body = json!({ "owner": lease.owner, "fence": lease.fence });
        if let (Some(body), Value::Object(more)) = (body.as_object_mut(), more) {
            body.extend(more);
        }
        self.post(&format!("/v1/runs/{}/{verb}", lease.run), &body).await
    }

    /// Proposes one effect.
    pub(crate) async fn propose(&self, lease: &Leased, effect: &Value) -> Done<Answer> {
        let model =
            json!({ "provider_class": "certify", "name": "scripted", "revision": "r1", "prompt_revision": "p1" });
        let proposal = json!({ "output": { "label": OUTPUT_MARK }, "finish_reason": "stop", "effects": [effect],
            "model": model, "summary": "effectgate certify" });
        self.under(lease, "proposal", proposal).await
    }

    pub(crate) async fn run(&self, id: &str) -> Done<Value> {
        Ok(self.get(&format!("/v1/runs/{id}")).await?.json())
    }

    pub(crate) async fn explain(&self, id: &str) -> Done<Value> {
        Ok(self.get(&format!("/v1/runs/{id}/explain")).await?.json())
    }

    /// The run's journal as the API gives it: the whole text, and its entries.
    pub(crate) async fn journal(&self, id: &str) -> Done<(String, Vec<Value>)> {
        let answer = self.get(&format!("/v1/runs/{id}/journal?limit=200")).await?;
        let entries = answer.json()["entries"].as_array().cloned().unwrap_or_default();
        Ok((answer.text(), entries))
    }

    /// Turns the switch of a flow.
    pub(crate) async fn turn(&self, flow: &str, enabled: bool) -> Done<Value> {
        let body = json!({ "scope": "flow", "name": flow, "enabled": enabled, "reason": "effectgate certify" });
        let answer = self.call(Method::PUT, "/v1/switches", &body).await?;
        if answer.is_success() { Ok(answer.json()) } else { Err(refused("turning the switch", &answer)) }
    }

    /// One look at a link without any session, as a browser or a scanner makes it.
    pub(crate) async fn visit(&self, link: &Link, method: Method, more: &[(&'static str, &str)]) -> Done<Answer> {
        let mut ask = Ask::new(method, self.at(&link.path)?).header("accept", "text/html");
        for (name, value) in more {
            ask = ask.header(name, *value);
        }
        Ok(send(ask).await?)
    }

    /// The form behind a button of the card, `None` where the card has none.
    pub(crate) async fn form(&self, link: &Link, button: &str) -> Done<Option<Form>> {
        let card = self.visit(link, Method::GET, &[]).await?;
        Ok(form::deciding(&card.text(), button).map(|form| form.with_cookies(&card.headers)))
    }

    /// Sends a form as a browser would, from a page of this origin.
    pub(crate) async fn submit(&self, form: &Form) -> Done<Answer> {
        let origin = self.base.origin().ascii_serialization();
        self.submit_from(form, Some(&origin), "application/x-www-form-urlencoded", form.body()).await
    }

    /// Sends a form's body under any origin and media type.
    pub(crate) async fn submit_from(
        &self,
        form: &Form,
        origin: Option<&str>,
        media: &'static str,
        body: String,
    ) -> Done<Answer> {
        let mut ask = Ask::new(Method::POST, self.at(&form.action)?).header("accept", "text/html").body(media, body);
        if let Some(origin) = origin {
            ask = ask.header("origin", origin);
        }
        if let Some(cookies) = &form.cookies {
            ask = ask.header("cookie", cookies.expose_secret());
        }
        Ok(send(ask).await?)
    }

    /// Signs a person in; anything but a success ends the item.
    pub(crate) async fn sign_in(&self, login: &Login) -> Done<Session> {
        let body = json!({ "user": login.user, "password": login.password.expose_secret() });
        let answer = send(self.ask(Method::POST, "/v1/session")?.json(&body)).await?;
        let cookie = answer.header("set-cookie").and_then(|text| text.split(';').next()).map(str::to_owned);
        match cookie {
            Some(cookie) if answer.is_success() => Ok(Session(cookie)),
            _ => Err(refused(&format!("signing in as {}", login.user), &answer)),
        }
    }

    /// Decides through the API, with a session, with the key, or as nobody.
    pub(crate) async fn decide(&self, who: Who<'_>, approval: &Value, decision: &str) -> Done<Answer> {
        let path = format!("/v1/approvals/{}/decide", approval["id"].as_str().unwrap_or_default());
        let body =
            json!({ "decision": decision, "effects_hash": approval["effects_hash"], "reason": "effectgate certify" });
        let ask = match who {
            Who::Key => self.keyed(Method::POST, &path)?,
            Who::Nobody => self.ask(Method::POST, &path)?,
            Who::Session(session) => {
                self.ask(Method::POST, &path)?.header("cookie", session.0.as_str()).header("effectgate-csrf", "1")
            }
            Who::ForeignPage(session) => self
                .ask(Method::POST, &path)?
                .header("cookie", session.0.as_str())
                .header("origin", FOREIGN)
                .header("sec-fetch-site", "cross-site"),
        };
        Ok(send(ask.json(&body)).await?)
    }
}

/// Another site.
pub(crate) const FOREIGN: &str = "https://elsewhere.example.test";
/// A word in every output that must not stand in the journal.
pub(crate) const OUTPUT_MARK: &str = "certify-output-text";

/// Who decides through the API.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Who<'a> {
    Key,
    Nobody,
    Session(&'a Session),
    /// A browser with the session's cookie, made to send by a page of another site.
    ForeignPage(&'a Session),
}

/// The lease in the answer to a reservation.
pub(crate) fn leased(answer: &Answer, owner: &str) -> Leased {
    let json = answer.json();
    Leased {
        run: json["run"]["id"].as_str().unwrap_or_default().to_owned(),
        owner: owner.to_owned(),
        fence: json["lease"]["fence"].as_i64().unwrap_or_default(),
    }
}

/// The link in the answer to a proposal. Only its path is used: the gate is reached at the address that was given.
pub(crate) fn link(answer: &Answer) -> Option<Link> {
    let json = answer.json();
    let url = Url::parse(json["approval"]["link"].as_str()?).ok()?;
    Some(Link { path: url.path().to_owned() })
}

/// What was asked, and what was said to it; never a body, which may hold a link.
pub(crate) fn refused(what: &str, answer: &Answer) -> Stop {
    let json = answer.json();
    let detail = json["detail"].as_str().unwrap_or("no reason was given");
    let code = json["code"].as_str().unwrap_or("-");
    Stop::Error(format!("{what} was answered with {} {code}: {detail}", answer.status))
}
