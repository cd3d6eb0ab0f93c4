//! What a workflow says beside a call: the flow in the path, the key and the correlation id in the URL or in headers. A
//! model writes into none of them.

use std::time::Duration;

use effectgate_core::{
    ids::FlowName,
    key::{self, Key, KeyError, KeyPolicy, KeyReason},
};
use effectgate_engine::tools::Tool;
use http::{HeaderMap, HeaderName, Uri};
use percent_encoding::percent_decode_str;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::{
    api::IDEMPOTENCY_KEY,
    app::App,
    auth::Identity,
    problem::{Code, Problem, Result},
    request::text,
};

/// The query of both doors.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct ToolQuery {
    /// The key, percent-encoded, instead of the header `Idempotency-Key`: for keys that are not ASCII, and for clients
    /// whose headers are fixed.
    key: Option<String>,
    /// Instead of the header `Effectgate-Correlation-Id`.
    correlation_id: Option<String>,
    /// How long the call may wait for the outcome. Left out: `server.tool_wait_ms`.
    wait_ms: Option<u64>,
}

/// Names the calls of one request in the workflow's own records.
const CORRELATION_ID: HeaderName = HeaderName::from_static("effectgate-correlation-id");

/// Below the minute after which n8n gives up on a tool, with room for the way there and back.
const WAIT_MS_MAX: u64 = 55_000;
const ID_CHARS_MAX: usize = 200;

/// What was said beside a call.
pub(super) struct Asked {
    pub(super) correlation_id: Option<String>,
    pub(super) patience: Duration,
}

/// Reads the query.
///
/// # Errors
/// `bad_parameter` for what is not known, comes twice, or is no UTF-8: a key that was mended would be another key.
pub(super) fn query(uri: &Uri) -> Result<ToolQuery> {
    let raw = uri.query().unwrap_or_default();
    let decoded = percent_decode_str(raw).decode_utf8();
    if decoded.is_err() || raw.contains("%00") {
        return Err(Problem::new(Code::BadParameter, "the query is percent-encoded UTF-8 without U+0000"));
    }
    let read = axum::extract::Query::<ToolQuery>::try_from_uri(uri);
    read.map(|query| query.0).map_err(|rejection| Problem::new(Code::BadParameter, rejection.body_text()))
}

impl Asked {
    /// # Errors
    /// `bad_parameter` for a wait out of bounds, `bad_member` for a correlation id that is no id.
    pub(super) fn read(app: &App, headers: &HeaderMap, query: &ToolQuery) -> Result<Self> {
        let wait_ms = query.wait_ms.unwrap_or(app.settings.tool_wait_ms);
        if wait_ms > WAIT_MS_MAX {
            return Err(Problem::new(Code::BadParameter, format!("wait_ms is at most {WAIT_MS_MAX}")));
        }
        let correlation_id = correlation_id(headers, query)?;
        Ok(Self { correlation_id, patience: Duration::from_millis(wait_ms) })
    }
}

/// The key of a call, if there is one. Whether it may be one is the engine's to say.
///
/// # Errors
/// `bad_key`: two of them, or a header that holds none.
pub(super) fn key_of(headers: &HeaderMap, query: &ToolQuery) -> Result<Option<String>> {
    let lines = headers.get_all(IDEMPOTENCY_KEY).iter().map(http::HeaderValue::as_bytes);
    let header = key::from_headers(lines).map_err(|error| bad_key(&error))?;
    match (&query.key, header) {
        (Some(key), Some(header)) if !is_same(key, &header) => {
            Err(Problem::new(Code::BadKey, "the header Idempotency-Key and the URL name different keys"))
        }
        (Some(key), _) => Ok(Some(key.clone())),
        (None, header) => Ok(header),
    }
}

fn is_same(a: &str, b: &str) -> bool {
    let lenient = KeyPolicy { allow_email: true, allow_phone: true, allow_amount: true, key_from_stable_field: false };
    match (Key::parse(a, &lenient), Key::parse(b, &lenient)) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    }
}

/// Says what is wrong with a key where it has two ways in, neither of which is the body.
pub(super) fn bad_key(error: &KeyError) -> Problem {
    let said = match error.reason {
        KeyReason::HeaderNotAscii => "a key in a header is visible ASCII; write others percent-encoded into ?key=",
        _ => error.detail.as_str(),
    };
    Problem::new(Code::BadKey, said).with("reason", &error.reason.as_str())
}

/// Where a key belongs, for the one who builds the workflow.
pub(super) const NO_KEY: &str = "this call has no key: in the workflow, set the header Idempotency-Key or ?key= in the URL to an id \
                                 of the request that the agent works on (never a field that the model fills); nothing was done";

fn correlation_id(headers: &HeaderMap, query: &ToolQuery) -> Result<Option<String>> {
    let bad = |said: &str| Problem::new(Code::BadMember, format!("the correlation id {said}"));
    let mut lines = headers.get_all(CORRELATION_ID).iter();
    let given = match (lines.next(), lines.next(), &query.correlation_id) {
        (None, _, None) => return Ok(None),
        (None, _, Some(given)) => given.clone(),
        (Some(line), None, None) => line.to_str().map_err(|_| bad("is ASCII in a header"))?.to_owned(),
        _ => return Err(bad("is given twice")),
    };
    if given.trim().is_empty() || given.chars().any(char::is_control) {
        return Err(bad("is a text without control characters"));
    }
    text(&given, ID_CHARS_MAX, "/correlation_id")?;
    Ok(Some(given))
}

/// The tools of a flow that the caller may touch.
///
/// # Errors
/// `forbidden` for a key that is bound to other flows, `not_found` for a flow that is not there.
pub(super) fn tools_of(app: &App, who: &Identity, flow: &FlowName) -> Result<Vec<Tool>> {
    if !who.may_touch(flow.as_str()) {
        return Err(Problem::new(Code::Forbidden, "this API key is restricted to other flows"));
    }
    if app.engine.policy().flow(flow).is_none() {
        return Err(Problem::new(Code::NotFound, "there is no flow of this name"));
    }
    Ok(app.engine.policy().tools(flow))
}
