//! The body of a request: JSON by its content type, bounded in bytes and in time. A sender that hangs up or stalls in
//! the middle gets 400 or 408, and nothing of it is read as a request. Chunked and fixed bodies are the same to us.

use std::time::Duration;

use axum::extract::{FromRequest, Request};
use bytes::Bytes;
use http::{HeaderMap, header};
use http_body_util::{BodyExt, LengthLimitError, Limited};

use super::{Wire, decode};
use crate::{
    app::App,
    problem::{Code, Problem, Result},
};

/// A request's value, and its bytes as they came in (they identify a repeated call).
pub(crate) struct Body<T> {
    pub value: T,
    pub bytes: Bytes,
}

impl<T: Wire> FromRequest<App> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self> {
        if !is_json(request.headers()) {
            let said = "the request's Content-Type must be application/json";
            return Err(Problem::new(Code::UnsupportedMediaType, said));
        }
        let bytes = read(request.into_body(), app).await?;
        Ok(Self { value: decode(&bytes)?, bytes })
    }
}

/// `application/json` and `application/<anything>+json`, with any parameters. A missing type is refused: a form on a
/// foreign page can send JSON without one (OWASP ASVS 5.0, 3.5.2).
fn is_json(headers: &HeaderMap) -> bool {
    let Some(Ok(value)) = headers.get(header::CONTENT_TYPE).map(|v| v.to_str()) else { return false };
    let essence = value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let subtype = essence.strip_prefix("application/");
    subtype.is_some_and(|subtype| subtype == "json" || (subtype.ends_with("+json") && subtype.len() > "+json".len()))
}

/// Reads a body of any kind whole.
///
/// # Errors
/// `body_too_large`, `body_incomplete`, `body_timeout`.
pub(crate) async fn read(body: axum::body::Body, app: &App) -> Result<Bytes> {
    let max = app.settings.body_bytes_max;
    let too_large = || Problem::new(Code::BodyTooLarge, format!("a request body has at most {max} bytes"));
    // Said before a byte of it is read.
    if axum::body::HttpBody::size_hint(&body).lower() > max as u64 {
        return Err(too_large());
    }
    let patience = Duration::from_millis(app.settings.body_timeout_ms);
    match tokio::time::timeout(patience, Limited::new(body, max).collect()).await {
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large()),
        Ok(Err(_)) => Err(Problem::new(Code::BodyIncomplete, "the body ended before its end; nothing was done")),
        Err(_) => Err(Problem::new(Code::BodyTimeout, "the body did not come in time; nothing was done")),
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn only_json_types_are_json() {
        let table = [
            ("application/json", true),
            ("Application/JSON; charset=utf-8", true),
            ("application/cloudevents+json", true),
            ("application/+json", false),
            ("text/plain", false),
            ("application/x-www-form-urlencoded", false),
            ("application/jsonp", false),
            ("", false),
        ];
        for (value, wanted) in table {
            let headers = HeaderMap::from_iter([(header::CONTENT_TYPE, HeaderValue::from_static(value))]);
            assert_eq!(is_json(&headers), wanted, "{value:?}");
        }
        assert!(!is_json(&HeaderMap::new()));
    }
}
