//! Query parameters: known ones only, refused by name.

use axum::extract::FromRequestParts;
use effectgate_core::time::Timestamp;
use http::request::Parts;
use serde::de::DeserializeOwned;

use crate::{
    app::App,
    problem::{Code, Problem, Result},
};

/// The query of a request.
pub(crate) struct Query<T>(pub T);

impl<T: DeserializeOwned + Send> FromRequestParts<App> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        // PostgreSQL's text cannot hold U+0000, so no row can match it.
        if parts.uri.query().is_some_and(|query| query.contains("%00")) {
            return Err(Problem::new(Code::BadParameter, "the character U+0000 matches nothing"));
        }
        match axum::extract::Query::<T>::from_request_parts(parts, app).await {
            Ok(axum::extract::Query(value)) => Ok(Self(value)),
            Err(rejection) => Err(Problem::new(Code::BadParameter, rejection.body_text())),
        }
    }
}

/// A moment in a query.
///
/// # Errors
/// `bad_parameter`, naming it.
pub(crate) fn moment(name: &str, text: Option<&str>) -> Result<Option<Timestamp>> {
    let read = |text: &str| {
        let said = format!("{name} must be a moment by RFC 3339");
        text.parse().map_err(|_| Problem::new(Code::BadParameter, said))
    };
    text.map(read).transpose()
}

/// Items on one page.
const LIMIT_DEFAULT: u32 = 50;
const LIMIT_MAX: u32 = 200;

/// The page size in a query.
///
/// # Errors
/// `bad_parameter` outside of 1 to 200.
pub(crate) fn limit(asked: Option<u32>) -> Result<u32> {
    match asked.unwrap_or(LIMIT_DEFAULT) {
        n @ 1..=LIMIT_MAX => Ok(n),
        _ => Err(Problem::new(Code::BadParameter, format!("limit must be 1 to {LIMIT_MAX}"))),
    }
}
