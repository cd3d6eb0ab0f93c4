//! Talks to a running server as any other client does: the documented HTTP API, an API key or a session cookie, one
//! request at a time. What the server refuses becomes a [`Failure`] with its exit code.

use std::{fs, path::PathBuf};

use bytes::Bytes;
use effectgate_engine::connect::{
    fetch::{FetchError, Fetched, fetch},
    guard::EgressGuard,
    http::{HttpLimits, HttpRequest},
    tls::Tls,
};
use http::{HeaderMap, Method, header::SET_COOKIE};
use secrecy::SecretString;
use serde_json::Value;
use url::Url;

use crate::exit::{Exit, Failure, Result};

/// Where the server is and what key opens it.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct ServerArgs {
    /// The server's address.
    #[arg(long, global = true, env = "EFFECTGATE_URL", default_value = "http://127.0.0.1:8787")]
    pub(crate) url: String,
    /// The API key. Better in the environment or a file: other users of this machine can read a command line.
    #[arg(long, global = true, env = "EFFECTGATE_KEY", hide_env_values = true)]
    pub(crate) key: Option<String>,
    /// A file that holds the API key.
    #[arg(long, global = true, env = "EFFECTGATE_KEY_FILE", conflicts_with = "key")]
    pub(crate) key_file: Option<PathBuf>,
}

/// A client of one server.
pub(crate) struct Api {
    base: Url,
    guard: EgressGuard,
    tls: Tls,
    limits: HttpLimits,
    headers: Vec<(String, SecretString)>,
}

/// A server under load answers within seconds; a journal export takes longer.
const LIMITS: HttpLimits = HttpLimits {
    connect_ms: 5_000,
    first_byte_ms: 60_000,
    total_ms: 300_000,
    // An export of some hundred thousand entries; larger ones are taken offline or run by run.
    answer_bytes_max: 256 * 1024 * 1024,
};

/// Items of one page, at most: the server's own bound.
const PAGE_MAX: usize = 200;

impl Api {
    /// A client with the API key of the arguments.
    ///
    /// # Errors
    /// No key, a key file that cannot be read, an address that is none.
    pub(crate) fn connect(args: &ServerArgs) -> Result<Self> {
        let mut api = Self::open(&args.url)?;
        api.set_key(&key_of(args)?);
        Ok(api)
    }

    /// A client without credentials.
    pub(crate) fn open(url: &str) -> Result<Self> {
        let bad = |why: String| Failure::usage(format!("{url} is not the address of a server: {why}"));
        let base = Url::parse(url).map_err(|e| bad(e.to_string()))?;
        let host = base.host_str().ok_or_else(|| bad("it names no host".into()))?.to_owned();
        let guard = EgressGuard::new([host], true).map_err(|e| bad(e.to_string()))?;
        let tls = Tls::new(None).map_err(Failure::failed)?;
        Ok(Self { base, guard, tls, limits: LIMITS, headers: Vec::new() })
    }

    pub(crate) fn set_key(&mut self, key: &str) {
        self.set_header("authorization", format!("Bearer {key}"));
    }

    pub(crate) fn set_header(&mut self, name: &str, value: String) {
        self.headers.retain(|(have, _)| have != name);
        self.headers.push((name.to_owned(), SecretString::from(value)));
    }

    /// Keeps the cookies that an answer sets.
    pub(crate) fn keep_cookies(&mut self, headers: &HeaderMap) {
        let pairs = headers.get_all(SET_COOKIE).iter().filter_map(|v| v.to_str().ok()?.split(';').next());
        let cookies = pairs.collect::<Vec<_>>().join("; ");
        if !cookies.is_empty() {
            self.set_header("cookie", cookies);
        }
    }

    pub(crate) fn has_cookies(&self) -> bool {
        self.headers.iter().any(|(name, _)| name == "cookie")
    }

    /// Reads. `query` is encoded here; members without a value are left out.
    pub(crate) async fn get(&self, path: &str, query: &[(&str, Option<&str>)]) -> Result<Value> {
        json_of(self.send(Method::GET, path, query, None).await?)
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Result<Value> {
        json_of(self.send(Method::POST, path, &[], Some(body)).await?)
    }

    /// Posts a JSON text as it is: what has payloads in it must not be read and written again on the way.
    pub(crate) async fn post_text(&self, path: &str, body: String) -> Result<Value> {
        json_of(self.send_text(Method::POST, path, &[], Some(body)).await?)
    }

    pub(crate) async fn put(&self, path: &str, body: &Value) -> Result<Value> {
        json_of(self.send(Method::PUT, path, &[], Some(body)).await?)
    }

    /// Every item of a paged list, at most `limit`. `member` is where a page keeps its items.
    pub(crate) async fn list(
        &self,
        path: &str,
        member: &str,
        query: &[(&str, Option<&str>)],
        limit: usize,
    ) -> Result<Listed> {
        let page_size = limit.clamp(1, PAGE_MAX).to_string();
        let mut items = Vec::new();
        let mut cursor: Option<String> = None;
        loop {
            let mut query = query.to_vec();
            query.push(("limit", Some(&page_size)));
            query.push(("cursor", cursor.as_deref()));
            let mut page = self.get(path, &query).await?;
            if let Some(Value::Array(found)) = page.get_mut(member).map(Value::take) {
                items.extend(found);
            }
            cursor = page.get("next_cursor").and_then(Value::as_str).map(str::to_owned);
            if cursor.is_none() || items.len() >= limit {
                let more = cursor.is_some() || items.len() > limit;
                items.truncate(limit);
                return Ok(Listed { items, more });
            }
        }
    }

    /// One request, its whole answer, whatever the status.
    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        query: &[(&str, Option<&str>)],
        body: Option<&Value>,
    ) -> Result<Fetched> {
        self.send_text(method, path, query, body.map(Value::to_string)).await
    }

    async fn send_text(
        &self,
        method: Method,
        path: &str,
        query: &[(&str, Option<&str>)],
        body: Option<String>,
    ) -> Result<Fetched> {
        let mut headers = self.headers.clone();
        headers.push(("accept".into(), SecretString::from("application/json")));
        let body = match body {
            Some(text) => {
                headers.push(("content-type".into(), SecretString::from("application/json")));
                Bytes::from(text)
            }
            None => Bytes::new(),
        };
        self.exchange(HttpRequest { method, url: self.at(path, query)?, headers, body }).await
    }

    /// One request as it stands; the client adds nothing.
    pub(crate) async fn exchange(&self, request: HttpRequest) -> Result<Fetched> {
        let sent = fetch(request, &self.limits, &self.guard, &self.tls).await;
        sent.map_err(|error| match error {
            FetchError::NotSent(why) => Failure::new(Exit::Unavailable, "no_server", format!("{}: {why}", self.base))
                .hint("Is the server running? `effectgate serve` starts it; --url or EFFECTGATE_URL names it."),
            FetchError::Cut(why) => {
                Failure::new(Exit::Unavailable, "answer_lost", format!("{}: no whole answer: {why}", self.base))
                    .hint("The request may have been carried out. Asking again is safe: a repeat does nothing twice.")
            }
        })
    }

    /// The address of a path of this server.
    pub(crate) fn at(&self, path: &str, query: &[(&str, Option<&str>)]) -> Result<Url> {
        let mut url = self.base.join(path).map_err(Failure::usage)?;
        let given: Vec<_> = query.iter().filter_map(|(name, value)| Some((*name, (*value)?))).collect();
        if !given.is_empty() {
            url.query_pairs_mut().extend_pairs(given);
        }
        Ok(url)
    }
}

/// A list as far as it was read.
pub(crate) struct Listed {
    pub(crate) items: Vec<Value>,
    pub(crate) more: bool,
}

pub(crate) fn key_of(args: &ServerArgs) -> Result<String> {
    if let Some(key) = &args.key {
        return Ok(key.trim().to_owned());
    }
    let Some(path) = &args.key_file else {
        return Err(Failure::new(Exit::NotAllowed, "no_key", "no API key was given").hint(
            "Set EFFECTGATE_KEY or EFFECTGATE_KEY_FILE, or give --key-file. `effectgate key create` makes one.",
        ));
    };
    let text = fs::read_to_string(path);
    let text = text.map_err(|e| Failure::usage(format!("the key file {}: {e}", path.display())))?;
    Ok(text.trim().to_owned())
}

/// The JSON of a success, or the failure that a problem stands for.
pub(crate) fn json_of(answer: Fetched) -> Result<Value> {
    let value = serde_json::from_slice(&answer.body).unwrap_or(Value::Null);
    if (200..300).contains(&answer.status) { Ok(value) } else { Err(problem(answer.status, &value)) }
}

fn problem(status: u16, body: &Value) -> Failure {
    let text = |name: &str| body.get(name).and_then(Value::as_str);
    let exit = match status {
        401 | 403 => Exit::NotAllowed,
        404 => Exit::NotFound,
        500 => Exit::Failed,
        429 | 502.. => Exit::Unavailable,
        400 => Exit::Usage,
        _ => Exit::Refused,
    };
    let detail = text("detail").or_else(|| text("title")).unwrap_or("the server gave no reason");
    let pointer = text("pointer").map(|p| format!(" ({p})")).unwrap_or_default();
    let code = text("code").map_or_else(|| format!("http_{status}"), str::to_owned);
    let failure = Failure::new(exit, &code, format!("{detail}{pointer} [{code}, {status}]"));
    match correction_of(body) {
        Some(command) => failure.hint(command),
        None => failure,
    }
}

/// The server names the way to go as a route; at the command line the way is a command.
fn correction_of(body: &Value) -> Option<String> {
    body.get("next").and_then(Value::as_str).filter(|next| next.contains("/correct"))?;
    let run = body.pointer("/run/id").and_then(Value::as_str).unwrap_or("RUN");
    Some(format!("effectgate correct {run} --new-key KEY --payload FILE --reason TEXT"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_problem_becomes_the_exit_code_of_its_kind() {
        let table = [
            (400, Exit::Usage),
            (401, Exit::NotAllowed),
            (403, Exit::NotAllowed),
            (404, Exit::NotFound),
            (409, Exit::Refused),
            (422, Exit::Refused),
            (429, Exit::Unavailable),
            (503, Exit::Unavailable),
        ];
        for (status, exit) in table {
            assert_eq!(problem(status, &json!({"code": "x", "detail": "y"})).exit, exit, "{status}");
        }
    }

    #[test]
    fn a_refusal_that_leads_to_a_correction_names_the_command() {
        let next = effectgate_engine::operate::MAKE_A_CORRECTION;

        let refused = problem(409, &json!({"code": "wrong_state", "next": next, "run": {"id": "run_1"}}));
        let other =
            problem(409, &json!({"code": "wrong_state", "next": "decide its approval", "run": {"id": "run_1"}}));

        let command = "effectgate correct run_1 --new-key KEY --payload FILE --reason TEXT";
        assert_eq!(refused.hint.as_deref(), Some(command));
        assert_eq!(other.hint, None);
    }

    #[test]
    fn a_query_is_encoded_and_absent_members_are_left_out() {
        let api = Api::open("http://127.0.0.1:1/").unwrap();

        let url = api.at("/v1/runs", &[("key", Some("a&b=c:ü")), ("flow", None)]).unwrap();

        assert_eq!(url.as_str(), "http://127.0.0.1:1/v1/runs?key=a%26b%3Dc%3A%C3%BC");
    }
}
