//! Every route on one screen, and the layers around them. The API's routes carry their own documentation; what is said
//! of all of them is added in [`crate::docs`].

use std::any::Any;

use axum::{
    Router, middleware,
    response::{IntoResponse, Response},
    routing::{any, get},
};
use tower_http::catch_panic::CatchPanicLayer;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    api::{
        approvals, batch, claim, correct, decide, effects, ending, inline, journal, look, operate, proposal, renew,
        replays, reserve, resume, runs, session, subscriptions, switches, whoami,
    },
    app::App,
    auth::proxies,
    docs, headers, health, inbound, metrics, outbound, pages,
    problem::{self, Code, Problem},
    tools,
};

/// The API's routes with their documentation.
pub(crate) fn api() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(reserve::reserve, runs::find))
        .routes(routes!(batch::batch))
        .routes(routes!(claim::claim))
        .routes(routes!(runs::get))
        .routes(routes!(runs::explain))
        .routes(routes!(runs::journal))
        .routes(routes!(renew::renew))
        .routes(routes!(proposal::propose))
        .routes(routes!(ending::complete))
        .routes(routes!(ending::fail))
        .routes(routes!(inline::begin))
        .routes(routes!(operate::release))
        .routes(routes!(operate::close))
        .routes(routes!(correct::correct))
        .routes(routes!(correct::list))
        .routes(routes!(effects::find))
        .routes(routes!(effects::get))
        .routes(routes!(inline::settle))
        .routes(routes!(operate::cancel))
        .routes(routes!(operate::resolve))
        .routes(routes!(look::look))
        .routes(routes!(approvals::find))
        .routes(routes!(approvals::get))
        .routes(routes!(decide::decide))
        .routes(routes!(decide::withdraw))
        .routes(routes!(resume::put))
        .routes(routes!(switches::list, switches::turn))
        .routes(routes!(switches::drill))
        .routes(routes!(replays::plan, replays::list))
        .routes(routes!(replays::get))
        .routes(routes!(replays::execute))
        .routes(routes!(subscriptions::create, subscriptions::list))
        .routes(routes!(subscriptions::delete))
        .routes(routes!(journal::verify))
        .routes(routes!(journal::export))
        .routes(routes!(session::open, session::close))
        .routes(routes!(tools::rest::call))
        .routes(routes!(tools::mcp::serve))
        .routes(routes!(whoami::whoami))
        .routes(routes!(inbound::accept))
        .routes(routes!(health::healthz))
        .routes(routes!(health::readyz))
}

/// The whole HTTP side: API, pages, health, docs.
pub fn router(app: App) -> Router {
    metrics::handle();
    let scrape = if app.settings.metrics_open { get(metrics::open) } else { get(metrics::for_auditors) };
    let (api, _) = api().split_for_parts();
    Router::new()
        .merge(api)
        .merge(pages::router())
        .route("/out/{*path}", any(outbound::send))
        .route("/metrics", scrape)
        .route("/openapi.json", get(docs::openapi_json))
        .route("/docs", get(docs::page))
        .route("/docs/docs.css", get(docs::css))
        .route("/errors/{code}", get(docs::error_page))
        .fallback(pages::nowhere::show)
        .method_not_allowed_fallback(async || Problem::new(Code::MethodNotAllowed, "see /docs for the methods"))
        .layer(CatchPanicLayer::custom(panicked))
        .layer(middleware::map_response_with_state(app.clone(), problem::render))
        .layer(middleware::map_response_with_state(app.clone(), headers::guard))
        .layer(middleware::from_fn(metrics::observe))
        .layer(middleware::from_fn_with_state(app.clone(), proxies::see_through))
        .with_state(app)
}

/// A panic in one handler answers 500 and the process goes on.
fn panicked(panic: Box<dyn Any + Send>) -> Response {
    let said = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
    Problem::internal(&said.unwrap_or("a handler panicked")).into_response()
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use http::Request;
    use tower::ServiceExt;

    use super::*;

    #[tokio::test]
    async fn a_panic_is_a_problem_that_tells_nothing_and_the_next_request_is_served() {
        async fn breaks() {
            panic!("a secret");
        }
        let router: Router = Router::new()
            .route("/breaks", get(breaks))
            .route("/works", get(async || "fine"))
            .layer(CatchPanicLayer::custom(panicked));
        let ask = async |path: &str| router.clone().oneshot(Request::get(path).body(Body::empty()).unwrap()).await;

        let broken = ask("/breaks").await.unwrap();
        let problem = broken.extensions().get::<Problem>().unwrap();

        assert_eq!((broken.status().as_u16(), problem.code()), (500, Code::Internal));
        assert!(!problem.body("").get().contains("secret"));
        assert_eq!(ask("/works").await.unwrap().status(), 200);
    }
}
