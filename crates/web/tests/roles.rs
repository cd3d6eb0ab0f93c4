//! Who may do what: every route, as nobody, as a person of each role, as a key of each scope, and as an administrator of
//! another tenant, held against the table in `docs/reference/roles.md`. A route without a row fails here.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

mod pages_common;
mod routes;

use std::collections::{BTreeMap, BTreeSet};

use axum::{Router, body::Body};
use effectgate_core::{actor::Actor, ids::Tenant};
use effectgate_engine::{keys::KeyScope, people::UserPut};
use effectgate_web::auth::password;
use http::{Request, header};
use pages_common::{MAIL, Options, PASSWORD, World, output};
use routes::Route;
use tower::ServiceExt as _;

const TABLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/roles.md");
/// The columns between the route and the last one.
const COLUMNS: [&str; 9] =
    ["nobody", "free role", "viewer", "approver", "operator", "auditor", "switch_owner", "admin", "worker (key)"];
/// Where the code does not do what the table says: method, path, column. May only shrink.
const EXCEPTIONS: [(&str, &str, &str); 0] = [];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cell {
    Yes,
    No,
    Asked,
    Form,
}

struct Row {
    method: String,
    path: String,
    cells: BTreeMap<&'static str, Cell>,
    keys: Keys,
}

/// What the last column says of keys.
enum Keys {
    AsTheRole,
    Never,
    /// Keys of these scopes, whatever people of the roles may.
    Only(Vec<String>),
}

impl Row {
    /// What the table says for this column, for a person or a key.
    fn says(&self, column: &str, is_key: bool) -> Cell {
        match &self.keys {
            // For a page, whoever comes with a key and no session is nobody.
            Keys::Never if is_key => self.cells["nobody"],
            Keys::Only(scopes) if is_key => {
                let holds = scopes.iter().any(|scope| column.split(' ').next() == Some(scope.as_str()));
                if holds { Cell::Yes } else { Cell::No }
            }
            _ => self.cells[column],
        }
    }
}

/// The table as it stands in the docs.
fn table() -> Vec<Row> {
    let head: Vec<&str> = ["action", "route"].into_iter().chain(COLUMNS).chain(["keys"]).collect();
    let text = std::fs::read_to_string(TABLE).unwrap();
    let mut lines = text.lines().skip_while(|line| !line.starts_with("| action |"));
    assert_eq!(cells(lines.next().unwrap()), head);
    lines.skip(1).take_while(|line| line.starts_with('|')).map(row).collect()
}

fn cells(line: &str) -> Vec<&str> {
    line.trim_matches('|').split('|').map(str::trim).collect()
}

fn row(line: &str) -> Row {
    let parts = cells(line);
    assert_eq!(parts.len(), COLUMNS.len() + 3, "{line}");
    let (method, path) = parts[1].trim_matches('`').split_once(' ').unwrap();
    let cell = |word: &str| match word {
        "yes" => Cell::Yes,
        "no" => Cell::No,
        "asked" => Cell::Asked,
        "form" => Cell::Form,
        other => panic!("{other} is no word of the table: {line}"),
    };
    let keys = match parts[parts.len() - 1] {
        "as the role" => Keys::AsTheRole,
        "never" => Keys::Never,
        scopes => Keys::Only(scopes.split(' ').map(str::to_owned).collect()),
    };
    let cells = COLUMNS.into_iter().zip(&parts[2..]).map(|(column, word)| (column, cell(word))).collect();
    Row { method: method.into(), path: path.into(), cells, keys }
}

/// What `/readyz` answers where no worker ticks.
const NOT_READY: u16 = 503;

/// Somebody who asks.
#[derive(Clone)]
enum Who {
    Nobody,
    Session(String),
    Key(String),
}

struct Got {
    status: u16,
    location: String,
    text: String,
}

impl Got {
    /// Refused for who asked, before anything was looked at.
    fn is_refused(&self) -> bool {
        let to_sign_in = self.status == 303 && self.location.starts_with("/login");
        // A page's words and a problem's code. A form without its token is refused too, but for another reason.
        let by_role = self.text.contains("\"code\":\"forbidden\"")
            || self.text.contains("\"code\":\"cannot_decide\"")
            || self.text.contains("his wants the scope")
            || self.text.contains("his wants the role");
        self.status == 401 || to_sign_in || (self.status == 403 && (by_role || self.text.is_empty()))
    }

    /// What the table says for this caller is what happened.
    fn is_as(&self, cell: Cell) -> bool {
        match cell {
            Cell::Yes | Cell::Asked => !self.is_refused() && (self.status < 500 || self.status == NOT_READY),
            Cell::No => self.is_refused(),
            Cell::Form => !self.is_refused() && [400, 403].contains(&self.status),
        }
    }
}

async fn ask(router: &Router, method: &str, path: &str, who: &Who) -> Got {
    let mut request = Request::builder().method(method).uri(path).header(header::HOST, "gate.test");
    request = match who {
        Who::Nobody => request,
        Who::Session(cookie) => request.header(header::COOKIE, cookie).header("effectgate-csrf", "1"),
        Who::Key(token) => request.header(header::AUTHORIZATION, format!("Bearer {token}")),
    };
    let is_api = path.starts_with("/v1/");
    let (kind, body) = if is_api {
        ("application/json", "{}")
    } else {
        ("application/x-www-form-urlencoded", "csrf=x&reason=because")
    };
    let body = if method == "GET" { Body::empty() } else { Body::from(body) };
    let request = request.header(header::CONTENT_TYPE, kind).body(body).unwrap();
    let answer = router.clone().oneshot(request).await.unwrap();
    let said = |name: header::HeaderName| {
        answer.headers().get(name).map_or(String::new(), |value| value.to_str().unwrap().to_owned())
    };
    let (status, location) = (answer.status().as_u16(), said(header::LOCATION));
    // A stream of events has no end to wait for.
    let is_stream = said(header::CONTENT_TYPE).starts_with("text/event-stream");
    let bytes = match is_stream {
        true => Default::default(),
        false => axum::body::to_bytes(answer.into_body(), usize::MAX).await.unwrap(),
    };
    Got { status, location, text: String::from_utf8_lossy(&bytes).into_owned() }
}

async fn person(world: &World, tenant: &str, name: &str, roles: &[&str]) {
    let put = UserPut {
        name: name.into(),
        email: Some(format!("{name}@{tenant}.test")),
        password_hash: Some(password::hash(PASSWORD).unwrap()),
        roles: roles.iter().map(|role| (*role).to_owned()).collect(),
    };
    world.engine.user_put(&Tenant::new(tenant), &Actor::System("test"), &put).await.unwrap();
}

async fn session(world: &World, tenant: &str, name: &str) -> Who {
    let body = format!(r#"{{"user":"{name}","password":"{PASSWORD}","tenant":"{tenant}"}}"#);
    let request = Request::post("/v1/session").header(header::CONTENT_TYPE, "application/json").body(Body::from(body));
    let answer = world.router.clone().oneshot(request.unwrap()).await.unwrap();
    assert_eq!(answer.status(), 200, "{name} signs in");
    let set = answer.headers()[header::SET_COOKIE].to_str().unwrap();
    Who::Session(set.split(';').next().unwrap().to_owned())
}

async fn key(world: &World, tenant: &str, name: &str, scope: KeyScope) -> Who {
    let made = world.engine.key_create(&Tenant::new(tenant), &Actor::System("test"), name, &[scope], &[], None).await;
    Who::Key(made.unwrap().token)
}

/// Everybody who asks, by column: as a person, as a key.
async fn everybody(world: &World) -> Vec<(&'static str, bool, Who)> {
    let mut all = vec![("nobody", false, Who::Nobody)];
    for column in COLUMNS {
        let scope = KeyScope::parse(column);
        if let Some(scope) = scope.or((column == "worker (key)").then_some(KeyScope::Worker)) {
            all.push((column, true, key(world, "default", &format!("key-{}", scope.as_str()), scope).await));
        }
        let role = match (column, scope) {
            (_, Some(scope)) => scope.as_str(),
            ("free role", _) => "some-free-role",
            _ => continue,
        };
        let name = format!("p-{}", role.replace('_', "-"));
        person(world, "default", &name, &[role]).await;
        all.push((column, false, session(world, "default", &name).await));
    }
    all
}

#[test]
fn every_route_has_one_row_and_every_row_is_a_route() {
    let rows: Vec<(String, String)> = table().into_iter().map(|row| (row.path, row.method)).collect();
    let of_table: BTreeSet<_> = rows.iter().cloned().collect();
    let of_router: BTreeSet<_> = routes::all().into_iter().map(|route| (route.path, route.method)).collect();

    assert_eq!(rows.len(), of_table.len(), "a row stands twice");
    let missing: Vec<_> = of_router.difference(&of_table).collect();
    let gone: Vec<_> = of_table.difference(&of_router).collect();
    assert!(missing.is_empty(), "routes without a row in docs/reference/roles.md: {missing:?}");
    assert!(gone.is_empty(), "rows in docs/reference/roles.md without a route: {gone:?}");
}

#[tokio::test]
async fn everybody_gets_what_the_table_says_on_every_route() {
    let world = World::new(&Options::default());
    let everybody = everybody(&world).await;
    let routes: BTreeMap<_, Route> =
        routes::all().into_iter().map(|route| ((route.method.clone(), route.path.clone()), route)).collect();
    let mut wrong = Vec::new();
    for row in table() {
        let Some(route) = routes.get(&(row.method.clone(), row.path.clone())) else { continue };
        for (column, is_key, who) in &everybody {
            // Signing out ends the session that the next rows are asked with.
            if *is_key || !matches!((row.method.as_str(), row.path.as_str()), ("DELETE", "/v1/session")) {
                let got = ask(&world.router, &row.method, &route.example, who).await;
                let is_known = EXCEPTIONS.contains(&(row.method.as_str(), row.path.as_str(), column));
                if got.is_as(row.says(column, *is_key)) == is_known {
                    let kind = if *is_key { "a key" } else { "a person" };
                    wrong.push(format!("{} {} as {column}, {kind}: {} {}", row.method, row.path, got.status, got.text));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
}

#[tokio::test]
async fn a_person_with_the_role_worker_cannot_work() {
    let world = World::new(&Options::default());
    person(&world, "default", "wim", &["worker"]).await;
    let wim = session(&world, "default", "wim").await;

    let got = ask(&world.router, "POST", "/v1/runs", &wim).await;

    assert_eq!((got.status, got.is_refused()), (403, true));
}

/// What must not be seen from elsewhere: the key, the target, the payload, the output, the people.
const MARKS: [&str; 5] = ["secret-key-77", "anna@example.test", "Dear Anna", "secret-output", "lead@default.test"];

#[tokio::test]
async fn for_another_tenant_nothing_is_there_on_any_route() {
    let world = World::new(&Options::default());
    let run = world.waiting_by("secret-key-77", &[MAIL], None, output(r#"{"label":"secret-output"}"#)).await;
    let agg = world.agg(run).await;
    let approval = agg.approval().unwrap().id.to_string();
    let code = approval.trim_start_matches("apr_").to_owned();
    person(&world, "other", "adam", &["admin", "operator", "auditor", "approver", "support-lead"]).await;
    let others = [session(&world, "other", "adam").await, key(&world, "other", "k", KeyScope::Admin).await];
    let own_key = key(&world, "default", "own", KeyScope::Admin).await;
    for route in routes::all() {
        if route.path.starts_with("/a/") || (route.method == "DELETE" && route.path == "/v1/session") {
            continue;
        }
        let id = match route.path.as_str() {
            path if path.contains("approvals/") => approval.clone(),
            path if path.contains("replays/") => format!("rpl_{code}"),
            path if path.contains("effects/") || path.starts_with("/review/") => format!("eff_{code}"),
            _ => run.to_string(),
        };
        let path = route.path.replace("{id}", &id).replace("{code}", "not_found").replace("{seq}", "1");
        for who in &others {
            let got = ask(&world.router, &route.method, &path, who).await;
            let what = format!("{} {path}: {} {}", route.method, got.status, got.text);
            for mark in MARKS {
                assert!(!got.text.contains(mark), "{mark} in {what}");
            }
            if route.path.contains("{id}") && route.path.starts_with("/v1/") && !what.contains("cannot_decide") {
                // A body of `{}` lacks members; that is said of any id.
                assert!([404, 400, 422].contains(&got.status), "{what}");
                let there = ask(&world.router, &route.method, &path.replace(&code[..6], "000000"), who).await;
                assert_eq!(got.status, there.status, "as if it had never been: {what}");
            }
        }
    }
    // The control: it is there, and to its own tenant it is shown.
    let own = ask(&world.router, "GET", &format!("/v1/runs/{run}"), &own_key).await;
    assert!(own.status == 200 && own.text.contains("secret-key-77"));
}

/// What PUT /v1/switches answers.
async fn turn(world: &World, who: &Who, scope: &str, name: &str, enabled: bool) -> u16 {
    let body = format!(r#"{{"scope":"{scope}","name":"{name}","enabled":{enabled},"reason":"r"}}"#);
    let request = Request::put("/v1/switches").header(header::CONTENT_TYPE, "application/json");
    let request = match who {
        Who::Nobody => request,
        Who::Session(cookie) => request.header(header::COOKIE, cookie).header("effectgate-csrf", "1"),
        Who::Key(token) => request.header(header::AUTHORIZATION, format!("Bearer {token}")),
    };
    world.router.clone().oneshot(request.body(Body::from(body)).unwrap()).await.unwrap().status().as_u16()
}

#[tokio::test]
async fn a_tenant_turns_itself_and_nothing_that_holds_the_effects_of_another() {
    let world = World::new(&Options::default());
    person(&world, "other", "adam", &["admin"]).await;
    let (adam, house) =
        (session(&world, "other", "adam").await, key(&world, "default", "k", KeyScope::SwitchOwner).await);
    let others = [("all", ""), ("tenant", "default"), ("provider", "crm"), ("flow", "ticket"), ("effect_type", "note")];

    assert_eq!(turn(&world, &house, "all", "", false).await, 200);
    assert_eq!(turn(&world, &house, "tenant", "default", false).await, 200);
    for (scope, name) in others {
        for enabled in [true, false] {
            assert_eq!(turn(&world, &adam, scope, name, enabled).await, 403, "{scope} {name} {enabled}");
        }
    }
    assert_eq!(turn(&world, &adam, "tenant", "other", false).await, 200);

    let switches = world.engine.switches().await;
    assert!(switches.iter().all(|switch| !switch.enabled), "what the house turned off is off: {switches:?}");
    let seen = ask(&world.router, "GET", "/v1/switches", &adam).await.text;
    assert!(seen.contains("\"other\"") && seen.contains("\"all\"") && !seen.contains("\"default\""), "{seen}");
    let page = ask(&world.router, "GET", "/switches", &adam).await.text;
    assert!(page.contains("tenant:other") && !page.contains("value=\"all:\"") && !page.contains("value=\"provider:"));
}

#[tokio::test]
async fn a_key_that_is_bound_to_a_flow_turns_that_flow_and_no_more() {
    let world = World::new(&Options::default());
    let flow = world.engine.policy().flows.keys().next().unwrap().as_str().to_owned();
    let (tenant, actor) = (Tenant::new("default"), Actor::System("test"));
    let made = world
        .engine
        .key_create(&tenant, &actor, "k", &[KeyScope::SwitchOwner], std::slice::from_ref(&flow), None)
        .await;
    let bound = Who::Key(made.unwrap().token);

    assert_eq!(turn(&world, &bound, "all", "", false).await, 403);
    assert_eq!(turn(&world, &bound, "tenant", "default", false).await, 403);
    assert_eq!(turn(&world, &bound, "flow", &flow, false).await, 200);
}

#[tokio::test]
async fn who_was_not_asked_neither_reads_the_card_nor_decides() {
    let world = World::new(&Options::default());
    let run = world.waiting("secret-key-77", &[MAIL]).await;
    let approval = world.agg(run).await.approval().unwrap().id;
    for role in ["viewer", "approver", "switch_owner", "some-free-role"] {
        let name = format!("p-{}", role.replace('_', "-"));
        person(&world, "default", &name, &[role]).await;
        let who = session(&world, "default", &name).await;

        let page = ask(&world.router, "GET", &format!("/approvals/{approval}"), &who).await;
        let list = ask(&world.router, "GET", "/inbox", &who).await;
        let read = ask(&world.router, "GET", &format!("/v1/approvals/{approval}"), &who).await;

        assert!([403, 404].contains(&page.status), "{role}: {}", page.status);
        assert!([403, 404].contains(&read.status), "{role}: {}", read.status);
        for text in [&page.text, &list.text, &read.text] {
            assert!(!text.contains("secret-key-77") && !text.contains("Dear Anna"), "{role}: {text}");
        }
    }
    assert_eq!(world.count(run, "decided").await, 0);
}

#[tokio::test]
async fn a_runs_result_is_shown_to_its_worker_and_to_who_reads_content() {
    let world = World::new(&Options::default());
    let worker = key(&world, "default", "w", KeyScope::Worker).await;
    let send = async |path: &str, body: &'static str| {
        let Who::Key(token) = &worker else { panic!("a key") };
        let request = Request::post(path)
            .header(header::AUTHORIZATION, format!("Bearer {token}"))
            .header(header::CONTENT_TYPE, "application/json");
        let answer = world.router.clone().oneshot(request.body(Body::from(body)).unwrap()).await.unwrap();
        let bytes = axum::body::to_bytes(answer.into_body(), usize::MAX).await.unwrap();
        serde_json::from_slice::<serde_json::Value>(&bytes).unwrap()
    };
    let granted = send("/v1/runs", r#"{"flow":"ticket-reply","key":"k-1","payload":{"ticket":42},"owner":"w"}"#).await;
    let run = granted["run"]["id"].as_str().unwrap().to_owned();
    send(&format!("/v1/runs/{run}/complete"), r#"{"owner":"w","fence":1,"result":{"said":"secret-result"}}"#).await;
    for (role, sees) in
        [("viewer", false), ("approver", false), ("switch_owner", false), ("operator", true), ("auditor", true)]
    {
        let name = format!("r-{}", role.replace('_', "-"));
        person(&world, "default", &name, &[role]).await;
        let who = session(&world, "default", &name).await;
        for path in [format!("/v1/runs/{run}"), "/v1/runs".into()] {
            let got = ask(&world.router, "GET", &path, &who).await;
            assert_eq!((got.status, got.text.contains("secret-result")), (200, sees), "{role} {path}");
        }
    }
    assert!(ask(&world.router, "GET", &format!("/v1/runs/{run}"), &worker).await.text.contains("secret-result"));
}
