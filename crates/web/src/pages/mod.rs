//! The pages: server-rendered, working without JavaScript.

mod text;
mod time;

use axum::Router;

use crate::{app::App, auth::signin};

/// Every page's route.
pub fn router() -> Router<App> {
    Router::new().merge(signin::router())
}
