//! The pages: server-rendered HTML that works without JavaScript, and is a little fresher with it (`static/effectgate.js`,
//! `live.rs`). A file for each page, a template beside it in `templates/`. Nothing is decided here: a form's wish goes to
//! the engine.
//!
//! Every text that came from outside passes through [`text`]. The `safe` filter is not used in any template.

mod answer;
mod approval;
mod ask;
mod assets;
mod card;
mod change;
mod charts;
mod decide;
mod edit;
mod effect;
mod form;
mod inbox;
pub(crate) mod live;
mod login;
mod me;
mod nav;
pub(crate) mod nowhere;
mod sign_on;
mod sla;
mod stale;
mod text;
mod time;
mod tongue;
mod viewer;
mod visit;
mod weeks;

// The night shift's pages, and what they share.
mod action;
mod effects;
mod journal;
mod listing;
mod posted;
mod replays;
mod review;
mod run;
mod runs;
mod settings;
mod switches;

use axum::{
    Router,
    extract::DefaultBodyLimit,
    middleware::map_response,
    routing::{get, post},
};

use crate::app::App;

/// A reason of 2000 characters, each of four bytes written as `%XX`, and the other fields.
const FORM_BYTES_MAX: usize = 32 * 1024;

/// An edit sends whole payloads: one of the largest body by default (1 MiB), each byte written as `%XX`, and the rest.
const EDIT_BYTES_MAX: usize = 3 * 1024 * 1024 + FORM_BYTES_MAX;

fn cards() -> Router<App> {
    Router::new()
        .route("/a/{*token}", get(approval::by_link).post(decide::by_link))
        .route("/approvals/{id}", get(approval::by_id).post(decide::by_id))
        .layer(DefaultBodyLimit::max(EDIT_BYTES_MAX))
}

/// The form of a correction sends a whole payload too.
fn corrections() -> Router<App> {
    Router::new().route("/runs/{id}/correct", post(run::correct::correct)).layer(DefaultBodyLimit::max(EDIT_BYTES_MAX))
}

/// Every page's route.
pub fn router() -> Router<App> {
    Router::new()
        .route("/", get(async || answer::see("/inbox")))
        .route("/a/", get(approval::cut_off))
        .merge(cards())
        .merge(corrections())
        .route("/inbox", get(inbox::show))
        .route("/live", get(live::open))
        .route("/login", get(login::show).post(login::sign_in))
        .route("/auth/oidc/start", get(sign_on::start))
        .route("/auth/oidc/callback", get(sign_on::callback))
        .route("/logout", post(login::sign_out))
        .route("/me", get(me::show).post(me::save))
        .route("/me/password", post(me::password))
        .route("/me/sign-out", post(me::sign_out))
        .route("/metrics/weeks", get(weeks::show))
        .merge(night_shift())
        .layer(DefaultBodyLimit::max(FORM_BYTES_MAX))
        .merge(assets::router())
        .layer(map_response(answer::guarded))
}

/// The pages of operators, auditors and owners of the switch.
fn night_shift() -> Router<App> {
    Router::new()
        .route("/runs", get(runs::show))
        .route("/runs/{id}", get(run::show))
        .route("/runs/{id}/release", post(run::act::release))
        .route("/runs/{id}/close", post(run::act::close))
        .route("/runs/{id}/withdraw", post(run::act::withdraw))
        .route("/settings", get(settings::show))
        .route("/journal", get(journal::show))
        .route("/journal/verify", get(journal::verify::show))
        .route("/switches", get(switches::show).post(switches::turn::turn))
        .route("/switches/drill", post(switches::turn::drill))
        .route("/switches/receipts/{seq}", get(switches::receipt))
        .route("/switches/drills/{seq}", get(switches::drill))
        .route("/replays", get(replays::show).post(replays::make))
        .route("/replays/{id}", get(replays::plan::show))
        .route("/replays/{id}/execute", post(replays::plan::execute))
        .route("/effects", get(effects::show))
        .route("/effects/{id}/cancel", post(run::act::cancel))
        .route("/review", get(review::show))
        .route("/review/{id}", get(review::effect::show))
        .route("/review/{id}/ask", post(review::settle::ask))
        .route("/review/{id}/settle", post(review::settle::settle))
}
