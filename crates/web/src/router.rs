//! Every route on one screen, and the layers around them.

use axum::Router;

use crate::{app::App, pages};

/// The whole HTTP side: API, pages, health, docs.
pub fn router(app: App) -> Router {
    Router::new().merge(pages::router()).with_state(app)
}
