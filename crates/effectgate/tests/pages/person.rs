//! A person's browser as far as the wire can tell: cookies, forms as they stand on the page, the headers that Chromium
//! sends, and any address of this machine to come from. For what takes hundreds of rounds; the rest is done in Chromium.

use std::{collections::BTreeMap, net::SocketAddr};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper_util::rt::TokioIo;
use tokio::net::TcpSocket;

use crate::world::{PASSWORD, World};

#[derive(Debug, Clone)]
pub(crate) struct Person {
    server: SocketAddr,
    /// Where the connections come from: the last number of 127.0.0.x.
    from: u8,
    pub(crate) cookies: BTreeMap<String, String>,
}

/// One whole answer.
#[derive(Debug, Clone)]
pub(crate) struct Page {
    pub(crate) status: u16,
    pub(crate) headers: http::HeaderMap,
    pub(crate) text: String,
}

impl Page {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map(|value| value.to_str().unwrap()).unwrap_or_default()
    }

    /// The addresses that the page's links lead to.
    pub(crate) fn links(&self) -> Vec<String> {
        self.text.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next()).map(unescaped).collect()
    }

    /// Action and hidden fields of the first form that holds this text.
    pub(crate) fn form(&self, holds: &str) -> (String, Vec<(String, String)>) {
        let forms = self.text.split("<form").skip(1).map(|rest| rest.split("</form>").next().unwrap_or_default());
        let form = forms.into_iter().find(|form| form.contains(holds));
        let form = form.unwrap_or_else(|| panic!("no form with {holds}: {} {}", self.status, self.text));
        let hidden = form.split("<input").skip(1).filter(|input| attribute(input, "type").as_deref() == Some("hidden"));
        let fields = hidden.filter_map(|input| Some((attribute(input, "name")?, attribute(input, "value")?)));
        (attribute(form, "action").unwrap_or_default(), fields.collect())
    }
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let tag = tag.split('>').next()?;
    Some(unescaped(tag.split(&format!(" {name}=\"")).nth(1)?.split('"').next()?))
}

fn unescaped(text: &str) -> String {
    let text = text.replace("&#38;", "&").replace("&#34;", "\"").replace("&#39;", "'");
    text.replace("&quot;", "\"").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

/// What Chromium says of a form on a page whose referrer policy is `no-referrer`.
pub(crate) const OWN_FORM: [(&str, &str); 3] =
    [("content-type", "application/x-www-form-urlencoded"), ("origin", "null"), ("sec-fetch-site", "same-origin")];

impl Person {
    pub(crate) fn new(world: &World) -> Self {
        let server = world.gate.url.strip_prefix("http://").unwrap().parse().unwrap();
        Self { server, from: 1, cookies: BTreeMap::new() }
    }

    pub(crate) fn coming_from(self, from: u8) -> Self {
        Self { from, ..self }
    }

    pub(crate) async fn send(&mut self, method: &str, path: &str, headers: &[(&str, &str)], body: String) -> Page {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind(SocketAddr::from(([127, 0, 0, self.from], 0))).unwrap();
        let stream = socket.connect(self.server).await.unwrap();
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        let mut request = http::Request::builder().method(method).uri(path).header("host", self.server.to_string());
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let cookies = self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>();
        if !cookies.is_empty() {
            request = request.header("cookie", cookies.join("; "));
        }
        let answer = sender.send_request(request.body(Full::new(Bytes::from(body))).unwrap()).await.unwrap();
        let (parts, body) = answer.into_parts();
        self.keep(&parts.headers);
        let text = String::from_utf8(body.collect().await.unwrap().to_bytes().to_vec()).unwrap();
        Page { status: parts.status.as_u16(), headers: parts.headers, text }
    }

    fn keep(&mut self, headers: &http::HeaderMap) {
        for set in headers.get_all("set-cookie") {
            let (name, rest) = set.to_str().unwrap().split_once('=').unwrap();
            if rest.contains("Max-Age=0") {
                self.cookies.remove(name);
            } else {
                self.cookies.insert(name.to_owned(), rest.split(';').next().unwrap().to_owned());
            }
        }
    }

    pub(crate) async fn get(&mut self, path: &str) -> Page {
        self.send("GET", path, &[("sec-fetch-site", "none")], String::new()).await
    }

    pub(crate) async fn post(&mut self, path: &str, fields: &[(String, String)]) -> Page {
        let mut form = url::form_urlencoded::Serializer::new(String::new());
        self.send("POST", path, &OWN_FORM, form.extend_pairs(fields).finish()).await
    }

    /// Signs in with a local account.
    pub(crate) async fn signed_in(mut self, name: &str) -> Self {
        let (_, mut fields) = self.get("/login").await.form("name=\"password\"");
        fields.extend([("user".into(), name.into()), ("password".into(), PASSWORD.into())]);
        let answer = self.post("/login", &fields).await;
        assert_eq!(answer.status, 303, "{}", answer.text);
        self
    }

    /// Presses a button of a card that was opened before.
    pub(crate) async fn press(&mut self, card: &Page, decision: &str, reason: &str) -> Page {
        let (action, fields) = decision_form(card, decision, reason);
        self.post(&action, &fields).await
    }
}

/// What the button sends, and where.
pub(crate) fn decision_form(card: &Page, decision: &str, reason: &str) -> (String, Vec<(String, String)>) {
    let (action, mut fields) = card.form(&format!("value=\"{decision}\""));
    fields.extend([("decision".into(), decision.into()), ("reason".into(), reason.into())]);
    (action, fields)
}
