//! An issuer behind the router, without a network: the browser's way over there is followed here.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use async_trait::async_trait;
use axum::Router;
use effectgate_core::ids::Tenant;
use effectgate_engine::sign_on::{SignOnPolicy, TenantRule};
use effectgate_oidc::{Fetch, FetchFailed, Provider, Settings};
use effectgate_testkit::oidc::{CLIENT_ID, CLIENT_SECRET, ScriptedIssuer};
use effectgate_web::{App, WebSettings, auth::single_sign_on::SingleSignOn};
use http::{Request, Response};

use super::{
    World,
    browser::{Answer, Browser},
    policy::PUBLIC_URL,
};

/// A world whose people sign in with an issuer.
pub struct Sso {
    pub world: World,
    pub issuer: ScriptedIssuer,
    pub router: Router,
    pub is_down: Arc<AtomicBool>,
}

struct Direct(ScriptedIssuer, Arc<AtomicBool>);

#[async_trait]
impl Fetch for Direct {
    async fn fetch(&self, request: Request<Vec<u8>>) -> Result<Response<Vec<u8>>, FetchFailed> {
        if self.1.load(Ordering::SeqCst) {
            return Err(FetchFailed("connection refused".into()));
        }
        Ok(self.0.answer(&request))
    }
}

pub fn settings() -> WebSettings {
    WebSettings { public_url: PUBLIC_URL.into(), cookie_secure: false, ..WebSettings::default() }
}

impl Sso {
    pub fn new(world: World) -> Self {
        Self::with(world, settings(), TenantRule::Fixed(Tenant::new("default")))
    }

    pub fn with(world: World, settings: WebSettings, tenant: TenantRule) -> Self {
        let issuer = ScriptedIssuer::offline();
        issuer.set_time(world.engine.now().millis() / 1_000);
        let is_down = Arc::new(AtomicBool::new(false));
        let of_issuer = Settings {
            issuer: issuer.url().to_owned(),
            client_id: CLIENT_ID.into(),
            client_secret: Some(CLIENT_SECRET.to_owned().into()),
            redirect_url: format!("{PUBLIC_URL}/auth/oidc/callback"),
            signed_out_url: format!("{PUBLIC_URL}/login"),
            scopes: vec![],
            groups_claim: "groups".into(),
            tenant_claim: Some("org".into()),
        };
        let roles = [("leads", vec!["approver", "support-lead"]), ("ops", vec!["operator"])];
        let roles: BTreeMap<_, _> =
            roles.into_iter().map(|(g, r)| (g.to_owned(), r.into_iter().map(str::to_owned).collect())).collect();
        let single_sign_on = SingleSignOn {
            name: "House ID".into(),
            provider: Provider::new(of_issuer, Arc::new(Direct(issuer.clone(), is_down.clone()))),
            policy: SignOnPolicy { tenant, roles },
        };
        let app = App::new(world.engine.clone(), settings).with_single_sign_on(single_sign_on);
        Self { world, issuer, router: effectgate_web::router(app), is_down }
    }

    pub fn browser(&self) -> Browser {
        Browser::new(self.router.clone())
    }

    /// Goes to the issuer; the path that it sends the browser back to.
    pub async fn there(&self, browser: &mut Browser, next: &str) -> String {
        let start = browser.get(&format!("/auth/oidc/start?next={}", next.replace('/', "%2F"))).await;
        assert_eq!(start.status, 303, "{}", start.text);
        self.over_there(start.header("location"))
    }

    pub fn over_there(&self, location: &str) -> String {
        let answer = self.issuer.answer(&Request::get(location).body(Vec::new()).unwrap());
        assert_eq!(answer.status(), 303, "{}", String::from_utf8_lossy(answer.body()));
        let back = answer.headers()["location"].to_str().unwrap();
        back.strip_prefix(PUBLIC_URL).unwrap_or_else(|| panic!("{back}")).to_owned()
    }

    /// There and back.
    pub async fn sign_in(&self, browser: &mut Browser, next: &str) -> Answer {
        let back = self.there(browser, next).await;
        browser.get(&back).await
    }
}
