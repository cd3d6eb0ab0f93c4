//! Answers: a status, a JSON body, and the two headers that callers branch on.

use axum::response::{IntoResponse, Response};
use http::{HeaderName, HeaderValue, StatusCode, header};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use crate::problem::{Problem, Result, retry_after};

/// Says that an answer was given before.
pub(crate) const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

/// An answer that is no problem.
pub(crate) struct Reply {
    pub status: StatusCode,
    pub body: Box<RawValue>,
    retry_after_ms: Option<i64>,
    replayed: bool,
}

impl Reply {
    pub(crate) fn new(status: StatusCode, body: &impl Serialize) -> Self {
        let body = to_raw_value(body).expect("views are made of strings, numbers and JSON texts");
        Self { status, body, retry_after_ms: None, replayed: false }
    }

    pub(crate) fn ok(body: &impl Serialize) -> Self {
        Self::new(StatusCode::OK, body)
    }

    pub(crate) fn retry_after_ms(mut self, ms: i64) -> Self {
        self.retry_after_ms = Some(ms);
        self
    }

    pub(crate) fn replayed(mut self) -> Self {
        self.replayed = true;
        self
    }
}

impl IntoResponse for Reply {
    fn into_response(self) -> Response {
        let json = [(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))];
        let mut response = (self.status, json, Box::<str>::from(self.body).into_string()).into_response();
        let headers = response.headers_mut();
        if let Some(ms) = self.retry_after_ms {
            headers.insert(header::RETRY_AFTER, retry_after(ms));
        }
        if self.replayed {
            headers.insert(REPLAYED, HeaderValue::from_static("true"));
        }
        response
    }
}

/// Runs what changes state in a task of its own: a caller that hangs up drops its handler's future, and a commit must
/// not be dropped with it (SPEC 18a).
///
/// # Errors
/// The work's own problem; `internal` if it panicked.
pub(crate) async fn detached<T: Send + 'static>(work: impl Future<Output = Result<T>> + Send + 'static) -> Result<T> {
    match tokio::spawn(work).await {
        Ok(done) => done,
        Err(error) => Err(Problem::internal(&error)),
    }
}
