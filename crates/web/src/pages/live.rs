//! GET /live: server-sent events for open pages. An event names the topics of which something changed (`inbox effects`),
//! never what: the page then fetches itself again, under the same rules as at first.
//!
//! Bounds: signed-in people only; [`OF_SESSION_MAX`] streams a session and [`TOTAL_MAX`] in all, more are answered 429 and
//! the page works without; at most one event in [`GAP`]; a comment every [`HEARTBEAT`] finds connections that are gone;
//! a stream ends after [`LIFE`] and at shutdown, before the next event and within a heartbeat when its session has
//! ended. Commits of this process are heard at once, those of other replicas within
//! [`effectgate_engine::pulse::PERIOD`].

use std::{
    collections::HashMap,
    convert::Infallible,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::response::{
    IntoResponse as _, Response,
    sse::{Event, Sse},
};
use effectgate_core::ids::Tenant;
use effectgate_engine::pulse::{Counts, Listener, Topic};
use futures_util::stream::{self, Stream};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use tokio::{sync::watch, time::Instant};

use super::visit::Visit;
use crate::{app::App, auth::session};

/// Browsers open six connections to a server over HTTP/1.1; three leave room for pages. A fourth tab is not live.
const OF_SESSION_MAX: usize = 3;
/// A sixteenth of the connections that are accepted by default; a house of some eighty people with three tabs each.
const TOTAL_MAX: usize = 256;
/// A page that is fetched every second is as live as an eye can follow.
const GAP: Duration = Duration::from_secs(1);
/// Below the idle timeouts of common proxies (nginx and load balancers: 60 s).
const HEARTBEAT: Duration = Duration::from_secs(15);
/// After this the browser comes back, and what it may hear is looked at as a whole again.
const LIFE: Duration = Duration::from_secs(600);
/// When the browser comes back after the end of a stream.
const RETRY: Duration = Duration::from_secs(5);

/// The open streams of this process.
pub(crate) struct Live {
    of_session: Mutex<HashMap<String, usize>>,
    stop: watch::Sender<bool>,
}

impl Default for Live {
    fn default() -> Self {
        Self { of_session: Mutex::default(), stop: watch::Sender::new(false) }
    }
}

impl Live {
    /// Ends every stream: the server stops.
    pub(crate) fn end(&self) {
        self.stop.send_replace(true);
    }

    /// A place for one more stream of this session, given back when it is dropped.
    fn place(self: &Arc<Self>, session: &str) -> Option<Place> {
        let mut open = self.of_session.lock().unwrap_or_else(PoisonError::into_inner);
        if open.values().sum::<usize>() >= TOTAL_MAX {
            return None;
        }
        let own = open.entry(session.to_owned()).or_default();
        (*own < OF_SESSION_MAX).then(|| {
            *own += 1;
            Place { live: self.clone(), session: session.to_owned() }
        })
    }
}

struct Place {
    live: Arc<Live>,
    session: String,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = self.live.of_session.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = open.get_mut(&self.session) {
            *own -= 1;
            if *own == 0 {
                open.remove(&self.session);
            }
        }
    }
}

/// 403 without a session, 429 without a place: a browser's event source does not come back after either.
pub(crate) async fn open(visit: Visit) -> Response {
    let Some(signed_in) = &visit.signed_in else { return StatusCode::FORBIDDEN.into_response() };
    let Some(place) = visit.app.live.place(&signed_in.session) else {
        return StatusCode::TOO_MANY_REQUESTS.into_response();
    };
    let waiting = Waiting::new(&visit, signed_in.tenant.clone(), place);
    let mut response = Sse::new(events(waiting)).into_response();
    // nginx holds answers back until they are whole, unless it is told not to.
    response.headers_mut().insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    response
}

/// One stream between two events.
struct Waiting {
    app: App,
    /// With the session's cookie, which is asked about again.
    headers: HeaderMap,
    tenant: Tenant,
    listener: Listener,
    told: Counts,
    stop: watch::Receiver<bool>,
    ends_at: Instant,
    beats_at: Instant,
    is_first: bool,
    _place: Place,
}

impl Waiting {
    fn new(visit: &Visit, tenant: Tenant, place: Place) -> Self {
        let (app, headers) = (visit.app.clone(), visit.headers.clone());
        let mut listener = app.engine.listen();
        let told = listener.counts(&tenant);
        let (stop, now) = (place.live.stop.subscribe(), Instant::now());
        let (ends_at, beats_at) = (now + LIFE, now + HEARTBEAT);
        Self { app, headers, tenant, listener, told, stop, ends_at, beats_at, is_first: true, _place: place }
    }

    /// The next event, or `None` at the end of the stream.
    async fn next(&mut self) -> Option<Event> {
        if std::mem::take(&mut self.is_first) {
            return Some(Event::default().comment("topics only").retry(RETRY));
        }
        let mut stop = self.stop.clone();
        loop {
            let changed = tokio::select! {
                () = until(&mut stop) => return None,
                () = tokio::time::sleep_until(self.ends_at) => return None,
                () = tokio::time::sleep_until(self.beats_at) => return self.beat().await,
                changed = changed(&mut self.listener, &self.tenant, self.told) => changed,
            };
            self.told = changed.0;
            if !changed.1.is_empty() {
                return self.stands().await.then(|| told(&changed.1));
            }
        }
    }

    /// False once the session has ended. A database that cannot be asked ends no stream.
    async fn stands(&self) -> bool {
        session::stands(&self.app, &self.headers).await.unwrap_or(true)
    }

    /// A sign of life; and the moment to look what other processes did, and whether the session still stands. An unreadable
    /// database shows on the page itself.
    async fn beat(&mut self) -> Option<Event> {
        self.beats_at = Instant::now() + HEARTBEAT;
        if !self.stands().await {
            return None;
        }
        if let Err(error) = self.app.engine.look_elsewhere(&self.tenant).await {
            tracing::debug!(%error, "other replicas' changes were not looked for");
        }
        Some(Event::default().comment("here"))
    }
}

/// The counters after the next change, and the topics that differ from what was told. A moment passes first, so that a
/// burst of commits is one event; what is raised meanwhile is in the reading.
async fn changed(listener: &mut Listener, tenant: &Tenant, told: Counts) -> (Counts, Vec<Topic>) {
    listener.raised().await;
    tokio::time::sleep(GAP).await;
    let counts = listener.counts(tenant);
    (counts, counts.since(told))
}

fn told(topics: &[Topic]) -> Event {
    let words: Vec<&str> = topics.iter().map(|topic| topic.as_str()).collect();
    Event::default().event("changed").data(words.join(" "))
}

async fn until(stop: &mut watch::Receiver<bool>) {
    drop(stop.wait_for(|stop| *stop).await);
}

fn events(waiting: Waiting) -> impl Stream<Item = Result<Event, Infallible>> {
    stream::unfold(waiting, async |mut waiting| {
        let event = waiting.next().await?;
        Some((Ok(event), waiting))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_has_few_streams_and_gets_its_place_back() {
        let live = Arc::new(Live::default());
        let mut places: Vec<Place> = (0..OF_SESSION_MAX).map(|_| live.place("a").unwrap()).collect();

        assert!(live.place("a").is_none() && live.place("b").is_some());
        places.pop();
        assert!(live.place("a").is_some());
        drop(places);
        assert!(live.of_session.lock().unwrap().is_empty());
    }

    #[test]
    fn all_sessions_together_have_a_bound() {
        let live = Arc::new(Live::default());
        let places: Vec<Place> = (0..TOTAL_MAX).map(|n| live.place(&n.to_string()).unwrap()).collect();

        assert!(live.place("one more").is_none());
        drop(places);
        assert!(live.place("one more").is_some());
    }
}
