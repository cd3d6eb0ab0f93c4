//! What is known of the issuer at this moment: its discovery document and its keys. Asked when first needed, again
//! after a while, after a failure, and for keys when a token names one that is not known. One asks at a time.
//!
//! An issuer that is away for a while does not stop what is known from being used; one that was never reached fails
//! fast for a few seconds, so that people who press the button again do not queue up behind each other.

use std::sync::Arc;

use effectgate_core::time::Timestamp;
use http::{Request, header};
use openidconnect::core::CoreJsonWebKeySet;
use tokio::sync::Mutex;
use url::Url;

use crate::{
    discovery::{Discovery, document, place, unusable},
    error::Failed,
    fetch::Fetch,
};

/// An hour: issuers announce new endpoints and keys days before they use them.
const FRESH_MS: i64 = 3_600_000;
/// A day without an answer: then what is known is too old to sign anybody in by.
const USABLE_MS: i64 = 86_400_000;
/// After a failure, with something usable at hand.
const RETRY_MS: i64 = 60_000;
/// After a failure, with nothing at hand: somebody waits before a page.
const RETRY_EMPTY_MS: i64 = 5_000;
/// Keys are asked for at most this often, whatever tokens name.
const KEYS_MS: i64 = 10_000;

/// Both documents of one issuer.
#[derive(Debug, Clone)]
pub(crate) struct Known {
    pub(crate) discovery: Discovery,
    pub(crate) keys: CoreJsonWebKeySet,
}

/// What an issuer looks like from here, for `doctor`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    pub keys: usize,
    /// It can be told that somebody signs out.
    pub signs_out: bool,
}

#[derive(Default)]
struct State {
    known: Option<(Arc<Known>, Timestamp)>,
    /// Nothing is asked before, and why.
    wait: Option<(Timestamp, Failed)>,
    keys_asked_at: Option<Timestamp>,
}

pub(crate) struct Issuer {
    name: String,
    fetch: Arc<dyn Fetch>,
    state: Mutex<State>,
}

impl Issuer {
    pub(crate) fn new(name: String, fetch: Arc<dyn Fetch>) -> Self {
        Self { name, fetch, state: Mutex::new(State::default()) }
    }

    /// What is known, asked for first if it is not, or not any more.
    pub(crate) async fn known(&self, now: Timestamp) -> Result<Arc<Known>, Failed> {
        let mut state = self.state.lock().await;
        let age = state.known.as_ref().map(|(_, at)| now.ms_since(*at));
        let usable = state.known.clone().filter(|_| age.is_some_and(|ms| ms < USABLE_MS)).map(|(known, _)| known);
        let waits = state.wait.as_ref().filter(|(until, _)| now < *until).map(|(_, why)| why.clone());
        match (usable.clone(), waits) {
            (Some(known), waits) if waits.is_some() || age.is_some_and(|ms| ms < FRESH_MS) => return Ok(known),
            (None, Some(why)) => return Err(why),
            _ => {}
        }
        match self.ask().await {
            Ok(known) => {
                let known = Arc::new(known);
                (state.known, state.wait) = (Some((known.clone(), now)), None);
                Ok(known)
            }
            Err(why) => {
                let ms = if usable.is_some() { RETRY_MS } else { RETRY_EMPTY_MS };
                state.wait = Some((now.plus_ms(ms), why.clone()));
                usable.ok_or(why)
            }
        }
    }

    /// Something that the documents name failed: they are read again before the next sign-in.
    pub(crate) async fn doubt(&self, now: Timestamp) {
        let mut state = self.state.lock().await;
        if let Some((_, at)) = &mut state.known {
            *at = (*at).min(now.plus_ms(-FRESH_MS));
        }
    }

    /// The keys as they are now, because a token did not fit those known; `None` if they were asked for a moment ago.
    pub(crate) async fn keys_again(&self, now: Timestamp) -> Result<Option<Arc<Known>>, Failed> {
        let mut state = self.state.lock().await;
        let Some((known, at)) = state.known.clone() else { return Ok(None) };
        if state.keys_asked_at.is_some_and(|asked| now.ms_since(asked) < KEYS_MS) {
            return Ok(None);
        }
        state.keys_asked_at = Some(now);
        let keys = self.keys(&known.discovery.jwks_uri).await?;
        let known = Arc::new(Known { discovery: known.discovery.clone(), keys });
        state.known = Some((known.clone(), at));
        Ok(Some(known))
    }

    async fn ask(&self) -> Result<Known, Failed> {
        let bytes = self.get(&document(&self.name), None).await?;
        let discovery = Discovery::read(&bytes, &self.name)?;
        let keys = self.keys(&discovery.jwks_uri).await?;
        Ok(Known { discovery, keys })
    }

    async fn keys(&self, url: &Url) -> Result<CoreJsonWebKeySet, Failed> {
        let bytes = self.get(url.as_str(), None).await?;
        let keys: CoreJsonWebKeySet =
            serde_json::from_slice(&bytes).map_err(|error| unusable(format!("its keys cannot be read: {error}")))?;
        if keys.keys().is_empty() { Err(unusable("it publishes no key that can be used".into())) } else { Ok(keys) }
    }

    /// One document, with a bearer token where one is wanted.
    pub(crate) async fn get(&self, url: &str, bearer: Option<&str>) -> Result<Vec<u8>, Failed> {
        let mut request = Request::get(url).header(header::ACCEPT, "application/json");
        if let Some(token) = bearer {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        let request = request.body(Vec::new()).map_err(|_| unusable("it names a URL that cannot be asked".into()))?;
        let from = request.uri().clone();
        let from = Url::parse(&from.to_string()).as_ref().map(place).unwrap_or_default();
        let answer = self.fetch.fetch(request).await.map_err(|error| unusable(error.0))?;
        match answer.status().as_u16() {
            200 => Ok(answer.into_body()),
            status => Err(unusable(format!("{from} answers {status}"))),
        }
    }

    pub(crate) fn fetch(&self) -> Arc<dyn Fetch> {
        self.fetch.clone()
    }
}
