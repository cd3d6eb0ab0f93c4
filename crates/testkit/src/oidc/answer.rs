//! The issuer's endpoints, each a function from the state and a request to an answer.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use http::{Method, Request, Response, StatusCode, header};
use serde_json::{Map, Value, json};

use super::{
    Fault,
    form::{self, Fields},
    grant::{self, Grant},
    page, sign,
    state::State,
};

pub(super) fn answer(state: &mut State, issuer: &str, request: &Request<Vec<u8>>) -> Response<Vec<u8>> {
    let path = request.uri().path().to_owned();
    *state.asked.paths.entry(path.clone()).or_default() += 1;
    let query = form::read(request.uri().query().unwrap_or_default());
    let body = form::read(&String::from_utf8_lossy(request.body()));
    let authorization = request.headers().get(header::AUTHORIZATION).and_then(|line| line.to_str().ok());
    match (request.method(), path.as_str()) {
        (&Method::GET, "/.well-known/openid-configuration") => json_answer(200, &discovery(state, issuer)),
        (&Method::GET, "/jwks") if state.lies(Fault::KeysAreNonsense) => json_answer(200, &json!({ "keys": 7 })),
        (&Method::GET, "/jwks") => json_answer(200, &sign::key_set(state)),
        (&Method::GET, "/authorize") => authorize(state, issuer, &query),
        (&Method::POST, "/authorize") => chosen(state, issuer, &body),
        (&Method::POST, "/token") => token(state, issuer, authorization, &body),
        (&Method::GET, "/userinfo") => userinfo(state, authorization),
        (&Method::GET, "/end") => end(state, &query),
        _ => plain(404, "text/plain", "there is nothing here".to_owned()),
    }
}

fn discovery(state: &State, issuer: &str) -> Value {
    let at = |path: &str| format!("{issuer}{path}");
    let name = if state.lies(Fault::WrongDiscovery) { "https://evil.test" } else { issuer };
    let method = if state.secret_in_form { "client_secret_post" } else { "client_secret_basic" };
    json!({
        "issuer": name, "authorization_endpoint": at("/authorize"), "token_endpoint": at("/token"),
        "jwks_uri": at("/jwks"), "userinfo_endpoint": at("/userinfo"), "end_session_endpoint": at("/end"),
        "response_types_supported": ["code"], "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["RS256"], "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": [method],
        "authorization_response_iss_parameter_supported": true,
    })
}

fn authorize(state: &mut State, issuer: &str, asked: &Fields) -> Response<Vec<u8>> {
    if let Some(what) = grant::fault(asked) {
        return plain(400, "text/plain", what.to_owned());
    }
    match state.at_once.clone() {
        Some(sub) => back(state, issuer, asked, &sub),
        None => plain(200, "text/html; charset=utf-8", page::choose(&state.persons, asked)),
    }
}

fn chosen(state: &mut State, issuer: &str, asked: &Fields) -> Response<Vec<u8>> {
    match grant::fault(asked) {
        Some(what) => plain(400, "text/plain", what.to_owned()),
        None => back(state, issuer, asked, asked.get("chosen").map(String::as_str).unwrap_or_default()),
    }
}

/// Sends the browser back to the client, with a code or with an error.
fn back(state: &mut State, issuer: &str, asked: &Fields, sub: &str) -> Response<Vec<u8>> {
    let of = |name: &str| asked.get(name).cloned().unwrap_or_default();
    let (redirect_uri, given) = (of("redirect_uri"), of("state"));
    let given = if state.lies(Fault::WrongState) { "the state of somebody else".to_owned() } else { given };
    let iss = if state.lies(Fault::WrongIssParameter) { "https://evil.test" } else { issuer };
    let mut fields = vec![("state", given.as_str())];
    if !state.lies(Fault::NoIssParameter) {
        fields.push(("iss", iss));
    }
    let is_denied = state.lies(Fault::AccessDenied) || state.person(sub).is_none();
    let code = state.fresh("code");
    if is_denied {
        fields.push(("error", "access_denied"));
    } else if !state.lies(Fault::NoCode) {
        fields.push(("code", code.as_str()));
    }
    let (nonce, challenge) = (of("nonce"), of("code_challenge"));
    let location = form::with(&redirect_uri, &fields);
    state.grants.insert(code, Grant { sub: sub.to_owned(), nonce, challenge, redirect_uri });
    see(&location)
}

fn token(state: &mut State, issuer: &str, authorization: Option<&str>, body: &Fields) -> Response<Vec<u8>> {
    let error = |status: u16, word: &str| json_answer(status, &json!({ "error": word }));
    if !grant::is_client(authorization, body, state.secret_in_form) || state.lies(Fault::RefuseClient) {
        return error(401, "invalid_client");
    }
    // Taken out: a code is used once, whether it fits or not (RFC 6749 section 4.1.2).
    let granted = body.get("code").and_then(|code| state.grants.remove(code));
    let granted = granted.filter(|granted| granted.fits(body) && !state.lies(Fault::RefuseCode));
    let Some((granted, person)) = granted.and_then(|g| state.person(&g.sub).cloned().map(|person| (g, person))) else {
        return error(400, "invalid_grant");
    };
    let access_token = state.fresh("access");
    state.tokens.insert(access_token.clone(), person.sub.clone());
    let mut answer = json!({ "access_token": access_token, "token_type": "Bearer", "expires_in": 300 });
    if !state.lies(Fault::NoIdToken) {
        answer["id_token"] = sign::id_token(state, issuer, &person, &granted, &access_token).into();
    }
    json_answer(200, &answer)
}

fn userinfo(state: &State, authorization: Option<&str>) -> Response<Vec<u8>> {
    let token = authorization.and_then(|line| line.strip_prefix("Bearer ")).unwrap_or_default();
    let person = state.tokens.get(token).and_then(|sub| state.person(sub));
    let Some(person) = person else { return json_answer(401, &json!({ "error": "invalid_token" })) };
    let mut claims = person.claims();
    if state.lies(Fault::OtherUserinfo) {
        claims.insert("sub".to_owned(), "somebody else".into());
    }
    json_answer(200, &Value::Object(claims))
}

fn end(state: &mut State, query: &Fields) -> Response<Vec<u8>> {
    let payload = query.get("id_token_hint").and_then(|token| token.split('.').nth(1));
    let payload = payload.and_then(|text| URL_SAFE_NO_PAD.decode(text).ok());
    let claims: Map<String, Value> = payload.and_then(|json| serde_json::from_slice(&json).ok()).unwrap_or_default();
    state.asked.signed_out.push(claims.get("sub").and_then(Value::as_str).map(str::to_owned));
    state.at_once = None;
    match query.get("post_logout_redirect_uri") {
        Some(url) => see(url),
        None => plain(200, "text/html; charset=utf-8", page::signed_out()),
    }
}

fn json_answer(status: u16, body: &Value) -> Response<Vec<u8>> {
    plain(status, "application/json", body.to_string())
}

fn plain(status: u16, kind: &str, body: String) -> Response<Vec<u8>> {
    let answer = Response::builder().status(status).header(header::CONTENT_TYPE, kind);
    answer.header(header::CACHE_CONTROL, "no-store").body(body.into_bytes()).unwrap_or_default()
}

fn see(location: &str) -> Response<Vec<u8>> {
    let answer = Response::builder().status(StatusCode::SEE_OTHER).header(header::LOCATION, location);
    answer.body(Vec::new()).unwrap_or_default()
}
