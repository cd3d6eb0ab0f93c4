//! A small world for the tests of the pages: a SQLite store, an engine on a clock that is moved by hand, mail that is
//! caught instead of sent, and a browser that keeps cookies and says what Chromium says.
#![allow(clippy::unwrap_used, dead_code, unreachable_pub)]

pub mod browser;
pub mod issuer;
pub mod policy;

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicI64, Ordering},
};

use async_trait::async_trait;
use axum::Router;
use effectgate_core::{
    actor::Actor,
    ids::{Fence, FlowName, Owner, RunId, Tenant},
    run::{Aggregate, Origin},
    time::Timestamp,
};
use effectgate_engine::{
    Caller, Engine,
    call::LeaseCall,
    clock::Clock,
    notify::{Channel, Channels, Message},
    people::UserPut,
    policy::Policy,
    propose::{Asked, Output, Request as ProposalRequest},
    reserve::{KeyGiven, PayloadGiven, Request as ReserveRequest, Reserved},
};
use effectgate_store::{SqliteStore, Store};
use effectgate_web::{App, WebSettings, auth::password};
use tempfile::TempDir;

pub use browser::Browser;
pub use policy::Options;

#[derive(Clone)]
pub struct TestClock(Arc<AtomicI64>);

impl TestClock {
    pub fn advance_ms(&self, ms: i64) {
        self.0.fetch_add(ms * 1_000, Ordering::SeqCst);
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.0.load(Ordering::SeqCst))
    }
}

/// Mail that was to be sent: address and message.
#[derive(Clone, Default)]
pub struct Caught(Arc<Mutex<Vec<(String, Message)>>>);

#[async_trait]
impl Channel for Caught {
    async fn deliver(&self, to: &str, message: &Message) -> Result<(), String> {
        self.0.lock().unwrap().push((to.to_owned(), message.clone()));
        Ok(())
    }
}

impl Caught {
    /// Takes the path of the newest link that was sent to this address.
    pub fn link(&self, to: &str) -> String {
        let caught = self.0.lock().unwrap();
        let (_, message) = caught.iter().rev().find(|(address, _)| address == to).unwrap();
        message.text.lines().find_map(|line| line.strip_prefix(policy::PUBLIC_URL)).unwrap().to_owned()
    }
}

pub struct World {
    pub engine: Engine,
    pub app: App,
    pub router: Router,
    pub clock: TestClock,
    pub mail: Caught,
    pub store: Arc<dyn Store>,
    dir: TempDir,
}

pub const PASSWORD: &str = "correct horse battery";

/// One effect as a test asks for it: type, target, payload.
pub type Wanted<'a> = (&'a str, &'a str, &'a str);

pub const MAIL: Wanted<'static> =
    ("customer_mail", "anna@example.test", r#"{"to":"anna@example.test","subject":"Your order","text":"Dear Anna"}"#);

impl World {
    pub fn new(options: &Options) -> Self {
        Self::over(options, |_| {})
    }

    /// With more in the policy than these tests have in common.
    pub fn over(options: &Options, more: impl FnOnce(&mut Policy)) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let clock = TestClock(Arc::new(AtomicI64::new(1_790_000_000_000_000)));
        let (of_store, mail) = (clock.clone(), Caught::default());
        let path = dir.path().join("t.db");
        let store: Arc<dyn Store> =
            Arc::new(SqliteStore::open_with_clock(path, Arc::new(move || of_store.now())).unwrap());
        let channels = Channels { mail: Some(Arc::new(mail.clone())), ..Channels::default() };
        let mut policy = policy::policy(options, channels);
        more(&mut policy);
        let engine = Engine::new(store.clone(), policy, Arc::new(clock.clone()));
        let settings = WebSettings {
            public_url: policy::PUBLIC_URL.into(),
            cookie_secure: options.cookie_secure,
            ..WebSettings::default()
        };
        let app = App::new(engine.clone(), settings);
        let router = effectgate_web::router(app.clone());
        Self { engine, app, router, clock, mail, store, dir }
    }

    pub fn tenant(&self) -> Tenant {
        Tenant::new("default")
    }

    pub fn browser(&self) -> Browser {
        Browser::new(self.router.clone())
    }

    pub async fn user(&self, name: &str, roles: &[&str]) {
        let put = UserPut {
            name: name.into(),
            email: Some(format!("{name}@house.test")),
            password_hash: Some(password_hash()),
            roles: roles.iter().map(|r| (*r).to_owned()).collect(),
        };
        self.engine.user_put(&self.tenant(), &Actor::System("test"), &put).await.unwrap();
    }

    /// A browser with a session.
    pub async fn signed_in(&self, name: &str) -> Browser {
        let mut browser = self.browser();
        let answer = browser.sign_in(name, PASSWORD).await;
        assert_eq!(answer.status, 303, "{}", answer.text);
        browser
    }

    /// A run that waits for a decision, with its links sent.
    pub async fn waiting(&self, key: &str, effects: &[Wanted<'_>]) -> RunId {
        self.waiting_by(key, effects, None, ProposalRequest::default()).await
    }

    pub async fn waiting_by(
        &self,
        key: &str,
        effects: &[Wanted<'_>],
        requested_by: Option<&str>,
        more: ProposalRequest,
    ) -> RunId {
        let caller = Caller { tenant: self.tenant(), api_key: "n8n".into() };
        let request = ReserveRequest {
            flow: FlowName::new("ticket-reply"),
            key: KeyGiven::Whole(key.into()),
            payload: PayloadGiven::Text(r#"{"ticket":42}"#.into()),
            owner: Some("worker-1".into()),
            lease_ms: None,
            origin: Origin { source_url: Some("https://desk.example.test/t/42".into()), ..Origin::default() },
        };
        let Reserved::Granted { run, lease, .. } = self.engine.reserve(&caller, request).await.unwrap() else {
            panic!("not granted")
        };
        let call =
            LeaseCall::new(self.tenant(), run.id, Owner::new(lease.owner), Fence(lease.fence), "proposal", b"body");
        let asked = |(effect_type, target, payload): &Wanted<'_>| Asked {
            effect_type: (*effect_type).into(),
            target: Some((*target).into()),
            payload: (*payload).into(),
        };
        let proposal = ProposalRequest {
            effects: Some(effects.iter().map(asked).collect()),
            requested_by: requested_by.map(str::to_owned),
            ..more
        };
        self.engine.propose(&call, &proposal).await.unwrap();
        self.engine.notify_tick().await.unwrap();
        run.id
    }

    pub async fn agg(&self, id: RunId) -> Aggregate {
        self.store.run_load(&self.tenant(), id).await.unwrap().unwrap()
    }

    /// State of the run and of its approval, decisions, outbox rows.
    pub async fn standing(&self, id: RunId) -> (&'static str, &'static str, usize, usize) {
        let agg = self.agg(id).await;
        let approval = agg.approval().unwrap();
        (agg.run.state.as_str(), approval.state.as_str(), approval.decisions.len(), agg.effects.len())
    }

    pub async fn kinds(&self, id: RunId) -> Vec<String> {
        self.store.journal_read(id, 0, 10_000).await.unwrap().into_iter().map(|e| e.kind).collect()
    }

    pub async fn count(&self, id: RunId, kind: &str) -> usize {
        self.kinds(id).await.iter().filter(|k| *k == kind).count()
    }

    /// The bytes of the database's files, to look for what must not be in them.
    pub fn bytes(&self) -> Vec<u8> {
        let files = std::fs::read_dir(self.dir.path()).unwrap().map(|file| file.unwrap().path());
        files.flat_map(|path| std::fs::read(path).unwrap_or_default()).collect()
    }
}

/// Hashed once: 30 ms each in a debug build.
fn password_hash() -> String {
    static HASH: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    HASH.get_or_init(|| password::hash(PASSWORD).unwrap()).clone()
}

pub fn output(text: &str) -> ProposalRequest {
    ProposalRequest { output: Output::Json(text.into()), ..ProposalRequest::default() }
}
