//! POST and DELETE /v1/session: signing in and out for programs, with the same cookie as the pages. The secret is in the
//! cookie only. Requests that change something with it say `Effectgate-Csrf: 1` (see [`crate::auth::csrf`]).

use axum::{
    Json,
    extract::State,
    response::{IntoResponse, Response},
};
use effectgate_core::time::Timestamp;
use http::{Extensions, HeaderMap, StatusCode, header};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    app::App,
    auth::{
        cookie::Cookie,
        csrf::{self, Site},
        session,
        signin::{self, Credentials},
    },
    problem::{Code, Problem, Result},
    request::{Body, Wire},
};

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"user": "anna", "password": "…"}))]
pub(crate) struct SessionRequest {
    user: String,
    password: String,
    /// The house's own tenant without one.
    tenant: Option<String>,
}

impl Wire for SessionRequest {}

/// The session as a program sees it.
#[derive(Serialize, ToSchema)]
pub(crate) struct SessionAnswer {
    user: String,
    subject: String,
    roles: Vec<String>,
    tenant: String,
    /// When it ends if it is not used; at the latest as long after the sign-in as the config says.
    #[schema(value_type = String)]
    expires_at: Timestamp,
}

/// Sign in with a local account.
#[utoipa::path(post, path = "/v1/session", operation_id = "sign_in", tag = "access", security(()),
    request_body = SessionRequest,
    responses((status = 200, description = "Signed in; the cookie is the session", body = SessionAnswer)))]
pub(crate) async fn open(
    State(app): State<App>,
    headers: HeaderMap,
    extensions: Extensions,
    body: Body<SessionRequest>,
) -> Result<Response> {
    if Site::of(&headers, &app.settings) == Site::Foreign {
        return Err(Problem::new(Code::CrossSite, "this request was sent from another site"));
    }
    let SessionRequest { user, password, tenant } = body.value;
    let typed = Credentials { user, password, tenant };
    let opened = signin::sign_in(&app, &headers, signin::peer(&extensions), typed).await?;
    let signed_in = opened.signed_in;
    let answer = SessionAnswer {
        user: signed_in.name,
        subject: signed_in.person.subject.to_string(),
        roles: signed_in.person.roles.into_iter().collect(),
        tenant: signed_in.tenant.to_string(),
        expires_at: signed_in.expires_at,
    };
    let set = Cookie::Session.set(&opened.secret, &app.settings);
    Ok((StatusCode::OK, [(header::SET_COOKIE, set), NO_STORE], Json(answer)).into_response())
}

/// Sign out. Without a session nothing happens.
#[utoipa::path(delete, path = "/v1/session", operation_id = "sign_out", tag = "access", security(()),
    responses((status = 204, description = "Signed out")))]
pub(crate) async fn close(State(app): State<App>, headers: HeaderMap) -> Result<Response> {
    csrf::check_program(&headers, &app.settings)?;
    session::close(&app, &headers).await?;
    let clear = Cookie::Session.clear(&app.settings);
    Ok((StatusCode::NO_CONTENT, [(header::SET_COOKIE, clear), NO_STORE]).into_response())
}

/// A shared cache must not hand one person's cookie to another.
const NO_STORE: (http::HeaderName, http::HeaderValue) =
    (header::CACHE_CONTROL, http::HeaderValue::from_static("no-store"));
