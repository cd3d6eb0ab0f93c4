//! Accepting a delivery: it becomes a run before anybody is answered. Queued where it is sound, quarantined where it is
//! not, and what came before keeps its place: a duplicate is told so, a conflict is on record and merges nothing.

use bytes::Bytes;
use effectgate_core::{
    actor::Actor,
    facts,
    ids::{RunId, SourceName, Tenant},
    journal::{EntryKind, seal},
    run::{Origin, Run, RunState},
    transition::ContentWrite,
};
use effectgate_store::{NewRun, Reserved as Stored};
use http::{HeaderMap, HeaderName};
use serde_json::json;

use super::{
    SourcePolicy,
    event::{Event, Fault},
};
use crate::{
    engine::Engine,
    error::{EngineError, Result},
    policy::FlowPolicy,
    probe,
    pulse::{Topic, Touched},
    reserve::hash_for,
    tally::count::Count,
};

/// What came in at a door and is from whom it says.
#[derive(Debug, Clone)]
pub struct Delivery {
    pub tenant: Tenant,
    /// The key may be in them.
    pub headers: HeaderMap,
    /// Unpacked; as it came where it could not be.
    pub body: Bytes,
}

/// What became of a delivery. The run is durable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Accepted {
    Queued {
        run: RunId,
    },
    /// The key is known, with this payload; the run's state now.
    Duplicate {
        run: RunId,
        state: String,
    },
    /// The key is known, with another payload: on record, nothing merged.
    Conflict {
        run: RunId,
        state: String,
    },
    /// Kept as it came; a person looks at it.
    Quarantined {
        run: RunId,
        fault: Fault,
    },
}

impl Accepted {
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Queued { .. } => "accepted",
            Self::Duplicate { .. } => "duplicate",
            Self::Conflict { .. } => "conflict",
            Self::Quarantined { .. } => "quarantined",
        }
    }

    /// As reservations are counted: a duplicate is an event that was known.
    const fn count(&self) -> Count {
        match self {
            Self::Queued { .. } | Self::Quarantined { .. } => Count::Granted,
            Self::Duplicate { .. } => Count::Replay,
            Self::Conflict { .. } => Count::Conflict,
        }
    }
}

/// Where senders put the id of a delivery. For the record only; what counts is the source's key rule.
const DELIVERY_IDS: [HeaderName; 2] =
    [HeaderName::from_static("webhook-id"), HeaderName::from_static("x-github-delivery")];
const DELIVERY_ID_CHARS_MAX: usize = 200;

impl Engine {
    /// Keeps a delivery as a run.
    ///
    /// Guarantees: durable before it is answered; of any number of equal deliveries one makes a run; nothing is lost
    /// because it is broken.
    ///
    /// # Errors
    /// Unknown source, the store.
    pub async fn accept(&self, name: &SourceName, delivery: Delivery) -> Result<Accepted> {
        let source = self.policy().source(name).ok_or(EngineError::NotFound("source"))?;
        let flow = self.policy().flow(&source.flow).ok_or(EngineError::UnknownFlow)?;
        let event = Event::read(name, source, flow, &delivery.headers, &delivery.body);
        let answer = self.keep_event(name, source, flow, &delivery, &event).await?;
        self.inner().tally.counted(&delivery.tenant, &source.flow, answer.count(), self.now());
        let labels = [("source", name.as_str().to_owned()), ("answer", answer.as_str().to_owned())];
        metrics::counter!("effectgate_inbound_total", &labels).increment(1);
        Ok(answer)
    }

    async fn keep_event(
        &self,
        name: &SourceName,
        source: &SourcePolicy,
        flow: &FlowPolicy,
        delivery: &Delivery,
        event: &Event,
    ) -> Result<Accepted> {
        let id = RunId::derive(&delivery.tenant, &source.flow, event.key.as_str());
        let new = self.accepted(id, name, flow, delivery, event);
        probe::at("accept.before_commit").await;
        let stored = self.store().run_reserve(new).await?;
        probe::at("accept.after_commit").await;
        match stored {
            Stored::Created { .. } => {
                self.tell_pages(&Touched::of(&delivery.tenant, Topic::Runs));
                if event.fault.is_none() && source.deliver.is_some() {
                    self.nudges().deliverer.notify_one();
                }
                if event.fault.is_some() {
                    self.tell_kept(&delivery.tenant, id, &source.flow).await?;
                }
                Ok(match event.fault {
                    None => Accepted::Queued { run: id },
                    Some(fault) => Accepted::Quarantined { run: id, fault },
                })
            }
            Stored::Exists { run, .. } => self.known_event(name, flow, event, &run).await,
        }
    }

    async fn known_event(&self, name: &SourceName, flow: &FlowPolicy, event: &Event, run: &Run) -> Result<Accepted> {
        let (id, state) = (run.id, run.state.as_str().to_owned());
        // What has none of the members that identified the run is another payload.
        let came = hash_for(run, flow, event.hash, Some(&event.json)).unwrap_or(event.hash);
        if came == run.payload_hash {
            if matches!(run.state, RunState::Quarantined { .. }) {
                self.tell_kept(&run.tenant, id, &run.flow).await?;
            }
            return Ok(Accepted::Duplicate { run: id, state });
        }
        self.note_conflict(run, &came, &Actor::Source(name.clone())).await?;
        Ok(Accepted::Conflict { run: id, state })
    }

    fn accepted(&self, id: RunId, name: &SourceName, flow: &FlowPolicy, delivery: &Delivery, event: &Event) -> NewRun {
        let now = self.now();
        let trigger = json!({"source": name.as_str(), "delivery_id": delivery_id(&delivery.headers)});
        let origin = Origin {
            trigger: Some(trigger),
            event_type: event.event_type.clone(),
            inbound: Some(name.clone()),
            ..Origin::default()
        };
        let mut run = Run::queued(id, delivery.tenant.clone(), &flow.flow, &event.key, event.hash, origin, now);
        run.identity_rule = event.identity.as_text();
        let kind = match event.fault {
            None => EntryKind::Accepted,
            Some(fault) => {
                run.state = RunState::Quarantined { reason: fault.as_str().to_owned() };
                EntryKind::Quarantined
            }
        };
        let details = (!event.details.is_empty()).then_some(&event.details);
        let entry = seal(
            &mut run.head,
            id,
            now,
            kind,
            &Actor::Source(name.clone()),
            &facts! {
                "flow" => flow.flow.name.as_str(), "flow_revision" => flow.flow.revision, "key" => event.key.as_str(),
                "payload_hash" => event.hash.to_string(), "trigger" => run.origin.trigger, "source" => name.as_str(),
                "reason" => event.fault.map(Fault::as_str), "details" => details,
            },
        );
        let content = ContentWrite { payload: Some(event.payload.clone()), ..ContentWrite::default() };
        NewRun { run, lease_ms: None, entry, content }
    }
}

/// The sender's id of the delivery, if it is one.
fn delivery_id(headers: &HeaderMap) -> Option<String> {
    let named = DELIVERY_IDS.iter().find_map(|name| headers.get(name))?.to_str().ok()?.trim();
    (!named.is_empty()).then(|| named.chars().take(DELIVERY_ID_CHARS_MAX).collect())
}
