//! Ids in paths. A text that is no id names nothing: the answer is the same as for an id that is not there.

use std::str::FromStr;

use axum::extract::{FromRequestParts, Path};
use http::request::Parts;

use crate::{
    app::App,
    problem::{Code, Problem, Result},
};

/// The `{id}` of a path.
pub(crate) struct Id<T>(pub T);

impl<T: FromStr + Send> FromRequestParts<App> for Id<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let text = Path::<String>::from_request_parts(parts, app).await.ok();
        let id = text.and_then(|Path(text)| text.parse().ok());
        id.map(Self).ok_or_else(|| Problem::new(Code::NotFound, "there is nothing of this id"))
    }
}
