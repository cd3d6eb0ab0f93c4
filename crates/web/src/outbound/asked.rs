//! The request at the door, read: which provider, which key, which of the caller's headers go on. What the caller shows
//! to the gate (its key, cookies, the host it called) stays here.

use axum::{extract::Request, http::request::Parts};
use effectgate_core::{
    ids::ProviderName,
    key::{self, KeyError, KeyReason},
};
use effectgate_engine::{
    EngineError,
    outbound::{NotAllowed, OutPolicy, OutRequest},
};
use http::{HeaderMap, HeaderName, header};

use crate::{
    api::IDEMPOTENCY_KEY,
    app::App,
    auth::Identity,
    problem::{Code, Problem, Result},
    request::read_body,
};

/// Where the door is.
const DOOR: &str = "/out/";

/// Reads a request, everything that needs no body first.
///
/// # Errors
/// `no_out`, `forbidden`, `out_not_allowed`, `missing_key`, `bad_key`, and what is wrong with the body.
pub(super) async fn read(app: &App, who: &Identity, request: Request) -> Result<OutRequest> {
    let (parts, body) = request.into_parts();
    let (provider, path) = place(&parts);
    let provider = ProviderName::new(provider);
    let out = app.engine.policy().provider(&provider).and_then(|provider| provider.out.as_ref());
    let out = out.ok_or_else(|| no_out(&provider))?;
    if !who.may_touch(out.flow.as_str()) {
        return Err(Problem::new(Code::Forbidden, "this API key is restricted to other flows"));
    }
    out.rules.judge(&parts.method, &path).map_err(|why| not_allowed(&why))?;
    let key = key(&parts.headers)?;
    let (content_type, accept) = (text(&parts.headers, &header::CONTENT_TYPE)?, text(&parts.headers, &header::ACCEPT)?);
    let headers = passed_on(&parts.headers, out)?;
    judge_encoding(&parts.headers, out)?;
    let body = read_body(body, app).await?;
    Ok(OutRequest { provider, key, method: parts.method, path, content_type, accept, headers, body })
}

/// The provider's name and what follows it, as they stand in the request line.
fn place(parts: &Parts) -> (String, String) {
    let whole = parts.uri.path_and_query().map_or("", http::uri::PathAndQuery::as_str);
    let rest = whole.strip_prefix(DOOR).unwrap_or_default();
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (provider, path) = rest.split_at(end);
    let slash = if path.starts_with('/') { "" } else { "/" };
    (provider.to_owned(), format!("{slash}{path}"))
}

fn no_out(provider: &ProviderName) -> Problem {
    let name: String = provider.as_str().chars().take(NAME_CHARS_SHOWN).collect();
    Problem::new(Code::NoOut, format!("there is no outbound door at {name:?}"))
}

/// Names in the config have at most 64; what is longer came from somewhere else.
const NAME_CHARS_SHOWN: usize = 64;

fn not_allowed(why: &NotAllowed) -> Problem {
    Problem::new(Code::OutNotAllowed, format!("{why}; nothing was sent"))
}

fn key(headers: &HeaderMap) -> Result<String> {
    let lines = headers.get_all(IDEMPOTENCY_KEY).iter().map(http::HeaderValue::as_bytes);
    let missing = || Problem::new(Code::MissingKey, "the header Idempotency-Key is wanted; nothing was sent");
    key::from_headers(lines).map_err(|e| bad_key(&e))?.ok_or_else(missing)
}

/// Here a key has no other way in than the header.
fn bad_key(error: &KeyError) -> Problem {
    let said = match error.reason {
        KeyReason::HeaderNotAscii => {
            "a key in a header is visible ASCII: use an id of the event that is (POST /v1/runs takes others in its body)"
        }
        _ => error.detail.as_str(),
    };
    Problem::new(Code::BadKey, said).with("reason", &error.reason.as_str())
}

/// What the engine refuses, said of a header and not of a member.
pub(super) fn refused(error: EngineError) -> Problem {
    match error {
        EngineError::BadKey(error) => bad_key(&error),
        other => Problem::from(other),
    }
}

fn passed_on(headers: &HeaderMap, out: &OutPolicy) -> Result<std::collections::BTreeMap<String, String>> {
    let named = out.rules.headers.iter().map(|name| Ok(text(headers, name)?.map(|value| (name.to_string(), value))));
    named.filter_map(Result::transpose).collect()
}

/// A body that is compressed says so in a header. Left behind, it would make other bytes of it over there.
fn judge_encoding(headers: &HeaderMap, out: &OutPolicy) -> Result<()> {
    let name = header::CONTENT_ENCODING;
    let coding = text(headers, &name)?.filter(|coding| !coding.trim().eq_ignore_ascii_case("identity"));
    if coding.is_none() || out.rules.headers.contains(&name) {
        return Ok(());
    }
    let said = format!("this door does not pass on {name}, and without it the body is another one; nothing was sent");
    Err(Problem::new(Code::BadMember, said))
}

/// A header as one text; several lines are one value with commas (RFC 9110 section 5.3).
fn text(headers: &HeaderMap, name: &HeaderName) -> Result<Option<String>> {
    let mut values = Vec::new();
    for value in headers.get_all(name) {
        let bad = |_| Problem::new(Code::BadMember, format!("the header {name} holds characters beyond ASCII"));
        values.push(value.to_str().map_err(bad)?);
    }
    Ok((!values.is_empty()).then(|| values.join(", ")))
}
