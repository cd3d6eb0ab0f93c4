//! One sign-in against the test issuer, without a network, and every lie that must not sign anybody in.
#![allow(clippy::unwrap_used)]

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use async_trait::async_trait;
use effectgate_core::time::Timestamp;
use effectgate_oidc::{Answer, Begun, Claimed, Failed, Fetch, FetchFailed, Provider, Refusal, Settings};
use effectgate_testkit::oidc::{CLIENT_ID, CLIENT_SECRET, Fault, ScriptedIssuer, Someone};
use http::{Request, Response};
use url::Url;

const NOW: Timestamp = Timestamp::from_micros(1_790_000_000_000_000);

/// Gives requests to the issuer directly.
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

struct World {
    issuer: ScriptedIssuer,
    provider: Provider,
    is_down: Arc<AtomicBool>,
}

impl World {
    fn new() -> Self {
        Self::with(|_| {})
    }

    fn with(change: impl FnOnce(&mut Settings)) -> Self {
        let issuer = ScriptedIssuer::offline();
        issuer.set_time(NOW.millis() / 1_000);
        issuer.sign_in(Someone::new("anna", &["support-leads", "staff"]));
        let mut settings = Settings {
            issuer: issuer.url().to_owned(),
            client_id: CLIENT_ID.into(),
            client_secret: Some(CLIENT_SECRET.to_owned().into()),
            redirect_url: "https://gate.test/auth/oidc/callback".into(),
            signed_out_url: "https://gate.test/login".into(),
            scopes: vec!["profile".into(), "email".into()],
            groups_claim: "groups".into(),
            tenant_claim: None,
        };
        change(&mut settings);
        let is_down = Arc::new(AtomicBool::new(false));
        let fetch = Arc::new(Direct(issuer.clone(), is_down.clone()));
        Self { issuer, provider: Provider::new(settings, fetch), is_down }
    }

    /// Follows the redirect to the issuer and reads what it sends back.
    fn browse(&self, begun: &Begun) -> Answer {
        let request = Request::get(begun.url.as_str()).body(Vec::new()).unwrap();
        let answer = self.issuer.answer(&request);
        assert_eq!(answer.status(), 303, "{}", String::from_utf8_lossy(answer.body()));
        let back = Url::parse(answer.headers()["location"].to_str().unwrap()).unwrap();
        let of = |name: &str| back.query_pairs().find(|(n, _)| n == name).map(|(_, value)| value.into_owned());
        Answer { code: of("code"), state: of("state"), iss: of("iss"), error: of("error") }
    }

    async fn sign_in_at(&self, now: Timestamp) -> Result<Claimed, Failed> {
        let begun = self.provider.begin(now).await?;
        let answer = self.browse(&begun);
        self.provider.finish(&begun.underway, &answer, now).await
    }

    async fn sign_in(&self) -> Result<Claimed, Failed> {
        self.sign_in_at(NOW).await
    }

    async fn refusal(&self, fault: Fault) -> Refusal {
        self.issuer.lie(fault);
        match self.sign_in().await {
            Err(Failed::Refused(refusal)) => refusal,
            other => panic!("{fault:?}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn a_person_comes_back_with_name_address_and_groups() {
    let anna = World::new().sign_in().await.unwrap();

    assert_eq!((anna.issuer.as_str(), anna.sub.as_str()), ("https://issuer.test", "id-of-anna"));
    assert_eq!((anna.name.as_deref(), anna.email.as_deref()), (Some("anna"), Some("anna@house.test")));
    assert_eq!(anna.groups, ["support-leads", "staff"]);
    assert!(anna.id_token.is_some());
}

#[tokio::test]
async fn the_request_asks_for_a_code_with_pkce_and_secrets_of_its_own() {
    let world = World::new();
    let (one, two) = (world.provider.begin(NOW).await.unwrap(), world.provider.begin(NOW).await.unwrap());
    let of = |begun: &Begun, name: &str| {
        begun.url.query_pairs().find(|(n, _)| n == name).map(|(_, value)| value.into_owned()).unwrap()
    };

    assert_eq!(of(&one, "scope"), "openid profile email");
    assert_eq!((of(&one, "response_type"), of(&one, "code_challenge_method")), ("code".into(), "S256".into()));
    for secret in ["state", "nonce", "code_challenge"] {
        assert!(of(&one, secret).len() >= 43);
        assert_ne!(of(&one, secret), of(&two, secret), "{secret}");
    }
    assert!(!one.url.as_str().contains(CLIENT_SECRET));
}

#[tokio::test]
async fn every_lie_of_the_issuer_is_noticed_and_named() {
    let table = [
        (Fault::WrongState, Refusal::State),
        (Fault::AccessDenied, Refusal::ByIssuer("access_denied".into())),
        (Fault::NoCode, Refusal::NoCode),
        (Fault::WrongIssParameter, Refusal::AnotherIssuer),
        (Fault::NoIssParameter, Refusal::NoIssuer),
        (Fault::NoIdToken, Refusal::NoIdToken),
        (Fault::RefuseCode, Refusal::Code("invalid_grant".into())),
        (Fault::WrongNonce, Refusal::Nonce),
        (Fault::NoNonce, Refusal::Nonce),
        (Fault::WrongAudience, Refusal::Audience),
        (Fault::SecondAudience, Refusal::Audience),
        (Fault::WrongAuthorizedParty, Refusal::Audience),
        (Fault::WrongIssuer, Refusal::TokenIssuer),
        (Fault::Expired, Refusal::Time),
        (Fault::FromTheFuture, Refusal::Time),
        (Fault::NotBefore, Refusal::Time),
        (Fault::AlgorithmNone, Refusal::Unsigned),
        (Fault::Unsigned, Refusal::Signature),
        (Fault::WrongSignature, Refusal::Signature),
        (Fault::Hmac, Refusal::Algorithm),
        (Fault::WrongAccessToken, Refusal::AccessToken),
    ];
    for (fault, refusal) in table {
        assert_eq!(World::new().refusal(fault).await, refusal, "{fault:?}");
    }
}

#[tokio::test]
async fn the_same_issuer_signs_in_again_once_it_tells_the_truth() {
    let world = World::new();
    world.refusal(Fault::WrongNonce).await;
    world.issuer.lie(None);
    assert!(world.sign_in().await.is_ok());
}

#[tokio::test]
async fn a_code_is_redeemed_once_and_only_by_the_browser_that_began() {
    let world = World::new();
    let (mine, other) = (world.provider.begin(NOW).await.unwrap(), world.provider.begin(NOW).await.unwrap());
    let answer = world.browse(&mine);
    let finish = async |begun: &Begun, answer: &Answer| world.provider.finish(&begun.underway, answer, NOW).await;

    assert_eq!(finish(&other, &answer).await.unwrap_err(), Refusal::State.into());
    let stolen = Answer { state: Some(other.underway.state.clone()), ..answer.clone() };
    assert_eq!(finish(&other, &stolen).await.unwrap_err(), Refusal::Code("invalid_grant".into()).into());
    let fresh = world.browse(&mine);
    assert!(finish(&mine, &fresh).await.is_ok());
    assert_eq!(finish(&mine, &fresh).await.unwrap_err(), Refusal::Code("invalid_grant".into()).into());
}

#[tokio::test]
async fn new_keys_of_the_issuer_are_fetched_when_a_token_names_one() {
    let world = World::new();
    world.sign_in().await.unwrap();

    world.issuer.rotate();

    assert!(world.sign_in().await.is_ok());
    assert_eq!(world.issuer.asked().times("/jwks"), 2);
}

#[tokio::test]
async fn new_keys_without_names_are_found_too() {
    let world = World::new();
    world.issuer.without_key_names();
    world.sign_in().await.unwrap();

    world.issuer.rotate();

    assert!(world.sign_in().await.is_ok());
}

#[tokio::test]
async fn keys_are_not_fetched_for_every_token_that_does_not_fit() {
    let world = World::new();
    for _ in 0..20 {
        world.refusal(Fault::WrongSignature).await;
    }
    assert_eq!(world.issuer.asked().times("/jwks"), 2, "once at first, once in doubt");

    world.issuer.lie(None);
    world.issuer.rotate();
    assert_eq!(world.sign_in().await.unwrap_err(), Refusal::UnknownKey.into());
    world.issuer.set_time(NOW.plus_ms(10_000).millis() / 1_000);
    assert!(world.sign_in_at(NOW.plus_ms(10_000)).await.is_ok(), "a moment later they are");
}

#[tokio::test]
async fn clocks_may_be_a_minute_apart_and_not_more() {
    let seconds = NOW.millis() / 1_000;
    for (apart, is_taken) in [(59, true), (61, false), (-359, true), (-361, false)] {
        let world = World::new();
        world.issuer.set_time(seconds + apart);
        assert_eq!(world.sign_in().await.is_ok(), is_taken, "{apart}");
    }
}

#[tokio::test]
async fn documents_are_asked_for_once_an_hour() {
    let (world, document) = (World::new(), "/.well-known/openid-configuration");
    for minutes in [0, 1, 59] {
        world.provider.begin(NOW.plus_ms(minutes * 60_000)).await.unwrap();
    }
    assert_eq!(world.issuer.asked().times(document), 1);

    world.provider.begin(NOW.plus_ms(3_600_000)).await.unwrap();

    assert_eq!(world.issuer.asked().times(document), 2);
}

#[tokio::test]
async fn an_issuer_that_is_away_is_said_to_be_and_found_again() {
    let world = World::new();
    let unavailable = |failed: Failed| matches!(failed, Failed::Unavailable(_));
    world.is_down.store(true, Ordering::SeqCst);
    assert!(unavailable(world.sign_in().await.unwrap_err()));

    world.is_down.store(false, Ordering::SeqCst);
    assert!(unavailable(world.sign_in().await.unwrap_err()), "it is not asked again at once");
    world.issuer.set_time(NOW.plus_ms(5_000).millis() / 1_000);
    assert!(world.sign_in_at(NOW.plus_ms(5_000)).await.is_ok());
}

#[tokio::test]
async fn what_is_known_of_an_issuer_is_used_for_a_day_while_it_is_away() {
    let world = World::new();
    world.sign_in().await.unwrap();
    world.is_down.store(true, Ordering::SeqCst);
    let begins = async |hours: i64| world.provider.begin(NOW.plus_ms(hours * 3_600_000)).await.is_ok();

    assert!(begins(2).await && begins(23).await);
    assert!(!begins(25).await);
}

#[tokio::test]
async fn an_issuer_that_goes_away_in_the_middle_is_unavailable_and_read_again() {
    let world = World::new();
    let begun = world.provider.begin(NOW).await.unwrap();
    let answer = world.browse(&begun);
    world.is_down.store(true, Ordering::SeqCst);

    let failed = world.provider.finish(&begun.underway, &answer, NOW).await.unwrap_err();

    assert!(matches!(failed, Failed::Unavailable(_)), "{failed}");
    world.is_down.store(false, Ordering::SeqCst);
    assert!(world.sign_in().await.is_ok());
    assert_eq!(world.issuer.asked().times("/.well-known/openid-configuration"), 2);
}

#[tokio::test]
async fn an_issuer_that_talks_nonsense_is_unavailable() {
    for fault in [Fault::WrongDiscovery, Fault::KeysAreNonsense] {
        let world = World::new();
        world.issuer.lie(fault);
        assert!(matches!(world.sign_in().await, Err(Failed::Unavailable(_))), "{fault:?}");
    }
    let world = World::new();
    world.provider.begin(NOW).await.unwrap();
    world.issuer.lie(Fault::RefuseClient);
    let failed = world.sign_in().await.unwrap_err().to_string();
    assert!(failed.contains("client_secret") && !failed.contains(CLIENT_SECRET), "{failed}");
}

#[tokio::test]
async fn groups_come_from_userinfo_where_the_token_has_none_and_only_of_the_same_person() {
    let world = World::new();
    world.issuer.groups_only_in_userinfo();
    assert_eq!(world.sign_in().await.unwrap().groups, ["support-leads", "staff"]);
    assert_eq!(world.refusal(Fault::OtherUserinfo).await, Refusal::AnotherPerson);

    let asks_nothing = World::new();
    asks_nothing.sign_in().await.unwrap();
    assert_eq!(asks_nothing.issuer.asked().times("/userinfo"), 0);
}

#[tokio::test]
async fn the_secret_goes_where_the_issuer_takes_it() {
    let world = World::new();
    world.issuer.secret_only_in_form();
    assert!(world.sign_in().await.is_ok());
}

#[tokio::test]
async fn the_tenant_is_read_from_its_claim() {
    let world = World::with(|settings| settings.tenant_claim = Some("org".into()));
    let mut anna = Someone::new("anna", &[]);
    anna.more.insert("org".into(), "acme".into());
    world.issuer.sign_in(anna);

    assert_eq!(world.sign_in().await.unwrap().tenant.as_deref(), Some("acme"));
}

#[tokio::test]
async fn signing_out_names_the_person_and_the_way_back() {
    let world = World::new();
    let anna = world.sign_in().await.unwrap();
    let url = world.provider.sign_out(anna.id_token.as_deref(), NOW).await.unwrap();

    let answer = world.issuer.answer(&Request::get(url.as_str()).body(Vec::new()).unwrap());

    assert_eq!(answer.headers()["location"], "https://gate.test/login");
    assert_eq!(world.issuer.asked().signed_out, [Some("id-of-anna".to_owned())]);
}

#[tokio::test]
async fn nothing_that_may_be_logged_holds_a_secret() {
    let world = World::new();
    let anna = world.sign_in().await.unwrap();
    let shown = format!("{anna:?} {:?}", world.provider.settings());

    for secret in [anna.id_token.as_deref().unwrap(), CLIENT_SECRET, "anna@house.test", "id-of-anna"] {
        assert!(!shown.contains(secret), "{shown}");
    }
}
