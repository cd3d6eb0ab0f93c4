//! The pages: server-rendered, working without JavaScript.

use axum::Router;

use crate::app::App;

/// Every page's route.
pub fn router() -> Router<App> {
    Router::new()
}
