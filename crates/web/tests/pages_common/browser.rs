//! A browser as far as these pages can tell: cookies, forms as they are on the page, and the headers Chromium sends for
//! a form on a page whose referrer policy is `no-referrer` (`Origin: null`, `Sec-Fetch-Site: same-origin`).

use std::collections::BTreeMap;

use axum::{Router, body::Body};
use http::{HeaderMap, Request, StatusCode, header};
use tower::ServiceExt as _;

#[derive(Clone)]
pub struct Browser {
    router: Router,
    pub cookies: BTreeMap<String, String>,
    /// `Accept-Language`.
    pub language: Option<String>,
}

pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub text: String,
}

impl Answer {
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map(|v| v.to_str().unwrap()).unwrap_or_default()
    }

    /// The hidden fields of the form with this class.
    pub fn hidden(&self, class: &str) -> Vec<(String, String)> {
        self.hidden_of(&format!("<form class=\"fields {class}\""))
    }

    /// The hidden fields of the form that holds this text in its tag.
    pub fn hidden_of(&self, tag: &str) -> Vec<(String, String)> {
        let from = self.text.find(tag).unwrap_or_else(|| panic!("no {tag} on {}", self.text));
        let form = &self.text[from..from + self.text[from..].find("</form>").unwrap()];
        let value = |line: &str, name: &str| {
            let at = line.find(&format!("{name}=\""))? + name.len() + 2;
            Some(line[at..].split('"').next()?.to_owned())
        };
        let hidden = form.lines().filter(|line| line.contains("type=\"hidden\""));
        hidden.filter_map(|line| Some((value(line, "name")?, value(line, "value")?))).collect()
    }

    pub fn has_form(&self, class: &str) -> bool {
        self.text.contains(&format!("<form class=\"fields {class}\""))
    }
}

impl Browser {
    pub fn new(router: Router) -> Self {
        Self { router, cookies: BTreeMap::new(), language: None }
    }

    pub async fn send(&mut self, method: &str, path: &str, headers: &[(&str, &str)], body: String) -> Answer {
        let mut request = Request::builder().method(method).uri(path).header(header::HOST, "gate.test");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let cookies: Vec<String> = self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        if !cookies.is_empty() {
            request = request.header(header::COOKIE, cookies.join("; "));
        }
        let response = self.router.clone().oneshot(request.body(Body::from(body)).unwrap()).await.unwrap();
        let (parts, body) = response.into_parts();
        for set in parts.headers.get_all(header::SET_COOKIE) {
            let (name, rest) = set.to_str().unwrap().split_once('=').unwrap();
            let value = rest.split(';').next().unwrap();
            if rest.contains("Max-Age=0") {
                self.cookies.remove(name);
            } else {
                self.cookies.insert(name.to_owned(), value.to_owned());
            }
        }
        let bytes = axum::body::to_bytes(body, usize::MAX).await.unwrap();
        Answer { status: parts.status, headers: parts.headers, text: String::from_utf8(bytes.to_vec()).unwrap() }
    }

    pub async fn get(&mut self, path: &str) -> Answer {
        let mut headers = vec![("sec-fetch-site", "none")];
        let language = self.language.clone();
        headers.extend(language.as_deref().map(|language| ("accept-language", language)));
        self.send("GET", path, &headers, String::new()).await
    }

    /// Opens the form for an edit, fills in these fields, presses the button.
    pub async fn edit(&mut self, path: &str, typed: &[(&str, &str)]) -> Answer {
        let page = self.get(&format!("{path}?edit")).await;
        self.fill(&page, path, typed).await
    }

    /// Fills in the form for an edit that was opened before.
    pub async fn fill(&mut self, page: &Answer, path: &str, typed: &[(&str, &str)]) -> Answer {
        let mut fields = page.hidden_of("<form class=\"edit\"");
        fields.extend(typed.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())));
        fields.push(("decision".into(), "edit".into()));
        self.post(path, &fields).await
    }

    pub async fn post(&mut self, path: &str, fields: &[(String, String)]) -> Answer {
        let headers = [
            ("content-type", "application/x-www-form-urlencoded"),
            ("origin", "null"),
            ("sec-fetch-site", "same-origin"),
        ];
        self.send("POST", path, &headers, encoded(fields)).await
    }

    pub async fn sign_in(&mut self, name: &str, password: &str) -> Answer {
        self.sign_in_at("/login", name, password).await
    }

    /// Fills in the form on this page.
    pub async fn sign_in_at(&mut self, page: &str, name: &str, password: &str) -> Answer {
        let mut fields = self.get(page).await.hidden_of("action=\"/login\"");
        fields.extend([("user".into(), name.into()), ("password".into(), password.into())]);
        self.post("/login", &fields).await
    }

    /// Opens the card and presses a button on it.
    pub async fn decide(&mut self, path: &str, decision: &str, reason: &str) -> Answer {
        let page = self.get(path).await;
        self.press(&page, path, decision, reason).await
    }

    /// Presses a button on a page that was opened before.
    pub async fn press(&mut self, page: &Answer, path: &str, decision: &str, reason: &str) -> Answer {
        let mut fields = page.hidden(decision);
        fields.push(("decision".into(), decision.into()));
        fields.push(("reason".into(), reason.into()));
        self.post(path, &fields).await
    }
}

pub fn encoded(fields: &[(String, String)]) -> String {
    let encode =
        |text: &str| percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string();
    let pairs: Vec<String> = fields.iter().map(|(n, v)| format!("{}={}", encode(n), encode(v))).collect();
    pairs.join("&")
}
