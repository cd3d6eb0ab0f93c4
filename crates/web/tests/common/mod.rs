//! The engine's small world with the HTTP side around it: requests go through the whole router, keys exist for every
//! scope, and where a test wants bytes on a wire there is a real listener.
#![allow(clippy::unwrap_used, clippy::wrong_self_convention, dead_code, unreachable_pub, unused_imports)]

pub mod agent;
pub mod provider;
pub mod spine;

use std::{collections::BTreeMap, net::SocketAddr};

use axum::{Router, body::Body};
use effectgate_core::{actor::Actor, ids::Tenant};
use effectgate_engine::keys::KeyScope;
use effectgate_web::{App, WebSettings, router, server};
use http::{HeaderMap, Request, StatusCode};
use http_body_util::BodyExt;
pub use provider::Answer as ProviderAnswer;
use serde_json::Value;
pub use spine::{Options, PAYLOAD};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::oneshot,
    task::JoinHandle,
};
use tower::ServiceExt;

pub const FLOW: &str = "ticket";

pub struct Web {
    pub world: spine::World,
    pub app: App,
    pub router: Router,
    pub tokens: BTreeMap<KeyScope, String>,
}

/// An answer, read whole.
#[derive(Debug)]
pub struct Got {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub text: String,
}

impl Got {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|e| panic!("{e}: {}", self.text))
    }
    pub fn code(&self) -> String {
        self.json()["code"].as_str().unwrap_or_default().to_owned()
    }
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |v| v.to_str().unwrap())
    }
    #[track_caller]
    pub fn is(self, status: u16) -> Self {
        assert_eq!(self.status.as_u16(), status, "{}", self.text);
        self
    }
    /// A problem of this code, as WIRE says a problem looks.
    #[track_caller]
    pub fn is_problem(self, status: u16, code: &str) -> Self {
        let got = self.is(status);
        let body = got.json();
        assert_eq!(body["code"], code, "{}", got.text);
        assert_eq!(got.header("content-type"), "application/problem+json");
        assert_eq!(body["type"], format!("http://gate.test/errors/{code}"));
        assert_eq!(body["status"], status);
        assert_eq!(body["error"]["message"], body["detail"]);
        got
    }
}

impl Web {
    pub async fn new() -> Self {
        Self::with(Options::default()).await
    }

    pub async fn with(options: Options) -> Self {
        Self::over(options, settings()).await
    }

    pub async fn over(options: Options, settings: WebSettings) -> Self {
        let world = spine::World::with(options);
        let app = App::new(world.engine.clone(), settings);
        let mut tokens = BTreeMap::new();
        for scope in KeyScope::ALL {
            tokens.insert(scope, key(&world, scope.as_str(), &[scope], &[]).await);
        }
        Self { world, router: router(app.clone()), app, tokens }
    }

    pub fn token(&self, scope: KeyScope) -> &str {
        &self.tokens[&scope]
    }

    pub async fn send(&self, request: Request<Body>) -> Got {
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        Got { status: parts.status, headers: parts.headers, text: String::from_utf8(bytes.to_vec()).unwrap() }
    }

    pub async fn request(&self, method: &str, path: &str, token: Option<&str>, body: impl Into<Body>) -> Got {
        let mut request = Request::builder().method(method).uri(path).header("content-type", "application/json");
        if let Some(token) = token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        self.send(request.body(body.into()).unwrap()).await
    }

    pub async fn post(&self, path: &str, body: impl Into<Body>) -> Got {
        self.request("POST", path, Some(self.token(KeyScope::Worker)), body).await
    }

    pub async fn get(&self, path: &str) -> Got {
        self.request("GET", path, Some(self.token(KeyScope::Auditor)), Body::empty()).await
    }

    pub async fn operate(&self, path: &str, body: impl Into<Body>) -> Got {
        self.request("POST", path, Some(self.token(KeyScope::Operator)), body).await
    }

    /// Reserves with a payload as it stands, for an owner.
    pub async fn reserve(&self, key: &str, payload: &str, owner: &str) -> Got {
        let key = Value::from(key);
        self.post("/v1/runs", format!(r#"{{"flow":"{FLOW}","key":{key},"payload":{payload},"owner":"{owner}"}}"#)).await
    }

    /// Runs that exist.
    pub async fn runs(&self) -> usize {
        self.get("/v1/runs?limit=200").await.is(200).json()["runs"].as_array().unwrap().len()
    }

    pub async fn serve(&self) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let task = tokio::spawn(server::serve(listener, self.app.clone(), async move {
            let _ = stopped.await;
        }));
        Server { address, stop, task }
    }
}

pub fn settings() -> WebSettings {
    WebSettings { public_url: "http://gate.test".into(), cookie_secure: false, ..WebSettings::default() }
}

/// Makes a key and says its token.
pub async fn key(world: &spine::World, name: &str, scopes: &[KeyScope], flows: &[String]) -> String {
    let tenant = Tenant::new("default");
    world.engine.key_create(&tenant, &Actor::System("test"), name, scopes, flows, None).await.unwrap().token
}

/// A listener on a port of its own.
pub struct Server {
    pub address: SocketAddr,
    stop: oneshot::Sender<()>,
    task: JoinHandle<std::io::Result<()>>,
}

impl Server {
    pub async fn stop(self) {
        let _ = self.stop.send(());
        self.task.await.unwrap().unwrap();
    }

    pub async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// Sends bytes as they are and reads until the server closes.
    pub async fn raw(&self, bytes: &[u8]) -> String {
        let mut stream = self.connect().await;
        stream.write_all(bytes).await.unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    }
}

pub fn data(name: &str) -> Vec<u8> {
    let path = format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(&path).unwrap_or_else(|e| panic!("{path}: {e}"))
}

pub fn text(name: &str) -> String {
    String::from_utf8(data(name)).unwrap()
}
