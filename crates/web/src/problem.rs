//! What could not be done, as `application/problem+json` (RFC 9457). A [`Problem`] is data: it is rendered by one layer
//! at the edge ([`render`]), which knows the public URL; pages render theirs as a page. Engine errors become problems in
//! one exhaustive match ([`engine`]). Internal detail is logged here and never shown.

mod codes;
mod engine;

use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use http::{HeaderValue, StatusCode, header};
use serde::{Serialize, ser::SerializeMap};
use serde_json::value::{RawValue, to_raw_value};

pub use codes::Code;
pub(crate) use engine::{bad_key, json_code, refused};

use crate::app::App;

pub type Result<T, E = Problem> = std::result::Result<T, E>;

/// What could not be done, for the caller.
#[derive(Debug, Clone)]
pub struct Problem(Box<Parts>);

#[derive(Debug, Clone)]
struct Parts {
    code: Code,
    detail: String,
    pointer: Option<String>,
    /// Members beside the standard ones: `run`, `errors`, `repairs_left` …
    more: Vec<(&'static str, Box<RawValue>)>,
    retry_after_ms: Option<i64>,
}

impl Problem {
    #[must_use]
    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        Self(Box::new(Parts { code, detail: detail.into(), pointer: None, more: Vec::new(), retry_after_ms: None }))
    }

    /// Names the member at fault, as a JSON Pointer from the request's root.
    #[must_use]
    pub fn at(mut self, pointer: impl Into<String>) -> Self {
        self.0.pointer = Some(pointer.into());
        self
    }

    /// Adds a member with the present state.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: &impl Serialize) -> Self {
        let value = to_raw_value(value).expect("views are made of strings, numbers and JSON texts");
        self.0.more.push((name, value));
        self
    }

    /// Says when another try is worth while. Units: milliseconds; the header has whole seconds, rounded up.
    #[must_use]
    pub fn retry_after_ms(mut self, ms: i64) -> Self {
        self.0.retry_after_ms = Some(ms);
        self
    }

    /// When another try is worth while, in milliseconds.
    #[must_use]
    pub fn wait_ms(&self) -> Option<i64> {
        self.0.retry_after_ms
    }

    #[must_use]
    pub fn code(&self) -> Code {
        self.0.code
    }

    #[must_use]
    pub fn status(&self) -> StatusCode {
        self.0.code.status()
    }

    #[must_use]
    pub fn detail(&self) -> &str {
        &self.0.detail
    }

    /// The body, with problem types below `public_url`.
    #[must_use]
    pub fn body(&self, public_url: &str) -> Box<RawValue> {
        to_raw_value(&Body { parts: &self.0, public_url }).expect("strings, numbers and JSON texts always serialise")
    }
}

struct Body<'a> {
    parts: &'a Parts,
    public_url: &'a str,
}

#[derive(Serialize)]
struct ErrorText<'a> {
    message: &'a str,
}

impl Serialize for Body<'_> {
    fn serialize<S: serde::Serializer>(&self, s: S) -> std::result::Result<S::Ok, S::Error> {
        let Parts { code, detail, pointer, more, retry_after_ms } = self.parts;
        let mut map = s.serialize_map(None)?;
        map.serialize_entry("type", &format_args!("{}/errors/{}", self.public_url, code.as_str()))?;
        map.serialize_entry("title", code.title())?;
        map.serialize_entry("status", &code.status().as_u16())?;
        map.serialize_entry("code", code.as_str())?;
        map.serialize_entry("detail", detail)?;
        if let Some(pointer) = pointer {
            map.serialize_entry("pointer", pointer)?;
        }
        if let Some(ms) = retry_after_ms {
            map.serialize_entry("retry_after_ms", ms)?;
        }
        for (name, value) in more {
            map.serialize_entry(name, value)?;
        }
        // Workflow tools show this member and nothing else.
        map.serialize_entry("error", &ErrorText { message: detail })?;
        map.end()
    }
}

impl IntoResponse for Problem {
    /// Status and headers; [`render`] writes the body.
    fn into_response(self) -> Response {
        let mut response = self.status().into_response();
        if let Some(ms) = self.0.retry_after_ms {
            response.headers_mut().insert(header::RETRY_AFTER, retry_after(ms));
        }
        match self.code() {
            Code::Unauthorized => {
                let challenge = HeaderValue::from_static("Bearer realm=\"effectgate\"");
                response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
            }
            // What is left of the body is not read, so the connection cannot be used again.
            Code::BodyTooLarge | Code::BodyTimeout | Code::BodyIncomplete => {
                response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
            }
            _ => {}
        }
        response.extensions_mut().insert(self);
        response
    }
}

/// `Retry-After` in whole seconds, never zero: a zero is a tight loop.
pub(crate) fn retry_after(ms: i64) -> HeaderValue {
    HeaderValue::from((ms.max(1) as u64).div_ceil(1_000))
}

/// Writes the body of a problem that a handler or an inner layer answered with.
pub(crate) async fn render(State(app): State<App>, mut response: Response) -> Response {
    let Some(problem) = response.extensions_mut().remove::<Problem>() else { return response };
    let body = problem.body(&app.settings.public_url);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
    headers.remove(header::CONTENT_LENGTH);
    *response.body_mut() = axum::body::Body::from(Bytes::from(Box::<str>::from(body).into_string()));
    response
}
