//! Subscriptions: programs outside (the n8n trigger node) that want to hear of events. Made, listed and dropped here;
//! a subscription belongs to an API key, is signed with a key that comes from it, and ends with it.
//!
//! The journey of an event: `told` (put into the transition that made it so, as a notice) → `fan_out` (the notifier
//! makes a delivery for each subscription) → `send` (the messenger signs and sends, at least once).
//!
//! What does not live here: telling people ([`crate::notify`]), and effects: an event changes nothing over there that
//! the gate answers for.

mod body;
mod fan_out;
mod pace;
mod send;
mod sign;
mod told;

use std::collections::BTreeSet;

use effectgate_core::{
    actor::Actor,
    event::EventKind,
    facts,
    ids::{FlowName, SubscriptionId, Tenant},
    journal::EntryKind,
    notice::{Alert, Notice, NoticeKind},
    time::Timestamp,
};
use effectgate_store::{Going, HouseCommit, HouseWrite, SubscriptionRow, SubscriptionWrite};
use serde::Serialize;
use utoipa::ToSchema;

pub use body::{ApprovalState, EffectState, EventBody, EventData, RunState};
pub(crate) use pace::Paces;
pub use send::MessengerReport;
pub use sign::{signature, signing_key};
pub(crate) use told::Known;

use crate::{
    engine::Engine,
    error::{EngineError, Result},
};

/// Subscriptions of one API key. A trigger node makes one; a house of workflows some dozens.
pub const OF_ONE_KEY_MAX: usize = 100;
/// As in `house`: a chain that keeps moving under sixteen looks is a fault.
const TRIES_MAX: usize = 16;

/// What is asked for.
#[derive(Debug, Clone)]
pub struct Wish {
    pub url: String,
    /// The events' words.
    pub events: Vec<String>,
    /// Only of this flow.
    pub flow: Option<String>,
}

/// A subscription as its owner sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct SubscriptionView {
    #[schema(value_type = String)]
    pub id: SubscriptionId,
    pub url: String,
    pub events: Vec<&'static str>,
    /// Null: of every flow that the key may touch.
    pub flow: Option<String>,
    /// The public id of the API key it belongs to.
    pub api_key: String,
    #[schema(value_type = String)]
    pub created_at: Timestamp,
    /// The first failure since the last success.
    #[schema(value_type = Option<String>)]
    pub failing_since: Option<Timestamp>,
    #[schema(value_type = Option<String>)]
    pub last_delivered_at: Option<Timestamp>,
}

/// What came of a registration.
#[derive(Debug, Clone)]
pub struct Subscribed {
    /// False: this URL was registered with this key before.
    pub is_new: bool,
    pub subscription: SubscriptionView,
}

/// Why a subscription ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    Asked,
    /// Nobody was there again and again.
    Gone,
    KeyRevoked,
}

impl Ending {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Asked => "asked",
            Self::Gone => "gone",
            Self::KeyRevoked => "key_revoked",
        }
    }
}

impl Engine {
    /// Registers a URL for events, for an API key. The same URL again is the same subscription, with the events and the
    /// flow of the last time.
    ///
    /// Guarantees: the subscription and its journal entry in one transaction. This process tells of what it commits
    /// from now on; another replica of what it commits from two seconds later on.
    ///
    /// # Errors
    /// An event that is none, a flow that is none, a URL that `[n8n]` does not allow, too many; the store.
    pub async fn subscribe(&self, tenant: &Tenant, actor: &Actor, api_key: &str, wish: &Wish) -> Result<Subscribed> {
        let row = self.row_wished(tenant, api_key, wish)?;
        for _ in 0..TRIES_MAX {
            let head = self.store().house_head(tenant).await?;
            let known = self.store().subscription_find(tenant, row.id).await?;
            let (kind, row) = match known {
                Some(known) if known.events == row.events && known.flow == row.flow => {
                    return Ok(Subscribed { is_new: false, subscription: view(&known) });
                }
                Some(known) => {
                    let row = SubscriptionRow { events: row.events.clone(), flow: row.flow.clone(), ..known };
                    (EntryKind::SubscriptionChanged, row)
                }
                None => {
                    self.has_room(tenant, api_key).await?;
                    (EntryKind::SubscriptionCreated, row.clone())
                }
            };
            let write = |w: &mut HouseWrite| w.subscription = Some(SubscriptionWrite::Put(row.clone()));
            let tried = self.house_try(tenant, head, actor, kind, &told_of(&row), write).await?;
            if tried != HouseCommit::Lost {
                self.inner().subscribers.forget().await;
                let is_new = kind == EntryKind::SubscriptionCreated;
                return Ok(Subscribed { is_new, subscription: view(&row) });
            }
        }
        Err(EngineError::Contended)
    }

    /// The subscriptions of one API key, or of all of the tenant, the first made first.
    ///
    /// # Errors
    /// The store.
    pub async fn subscriptions(&self, tenant: &Tenant, api_key: Option<&str>) -> Result<Vec<SubscriptionView>> {
        let rows = self.store().subscription_list(Some(tenant)).await?;
        Ok(rows.iter().filter(|row| api_key.is_none_or(|key| row.api_key == key)).map(view).collect())
    }

    /// Drops a subscription, with what is on its way to it. `api_key` is the one it must belong to; `None` for those who
    /// may drop any. True if there was one.
    ///
    /// # Errors
    /// The store; contended.
    pub async fn unsubscribe(
        &self,
        tenant: &Tenant,
        actor: &Actor,
        api_key: Option<&str>,
        id: SubscriptionId,
    ) -> Result<bool> {
        let found = self.store().subscription_find(tenant, id).await?;
        let Some(row) = found.filter(|row| api_key.is_none_or(|key| row.api_key == key)) else { return Ok(false) };
        self.end_subscription(&row, actor, Ending::Asked).await
    }

    /// Drops the subscriptions of a key that was revoked.
    pub(crate) async fn end_subscriptions_of(&self, tenant: &Tenant, actor: &Actor, api_key: &str) -> Result<()> {
        let rows = self.store().subscription_list(Some(tenant)).await?;
        for row in rows.iter().filter(|row| row.api_key == api_key) {
            self.end_subscription(row, actor, Ending::KeyRevoked).await?;
        }
        Ok(())
    }

    /// Drops a subscription with its journal entry, and an alert where nobody asked for it. False if it was gone.
    pub(crate) async fn end_subscription(&self, row: &SubscriptionRow, actor: &Actor, why: Ending) -> Result<bool> {
        let mut facts = told_of(row);
        facts.insert("reason", why.as_str().into());
        for _ in 0..TRIES_MAX {
            let head = self.store().house_head(&row.tenant).await?;
            if self.store().subscription_find(&row.tenant, row.id).await?.is_none() {
                return Ok(false);
            }
            let now = self.now();
            let write = |w: &mut HouseWrite| {
                w.subscription = Some(SubscriptionWrite::Drop(row.id));
                w.notices.extend((why == Ending::Gone).then(|| gone(row, w.head.seq, now)));
            };
            let kind = EntryKind::SubscriptionDropped;
            if self.house_try(&row.tenant, head, actor, kind, &facts, write).await? != HouseCommit::Lost {
                self.inner().subscribers.forget().await;
                self.inner().paces.forget(row.id);
                if why == Ending::Gone {
                    self.nudges().after_commit(false, true);
                }
                return Ok(true);
            }
        }
        Err(EngineError::Contended)
    }

    fn row_wished(&self, tenant: &Tenant, api_key: &str, wish: &Wish) -> Result<SubscriptionRow> {
        let events = events(&wish.events)?;
        let flow = wish.flow.as_deref().map(FlowName::new);
        if flow.as_ref().is_some_and(|flow| self.policy().flow(flow).is_none()) {
            return Err(EngineError::UnknownFlow);
        }
        let n8n = self.policy().n8n.as_ref();
        let url = match n8n.map(|n8n| n8n.allows(&wish.url)) {
            Some(Ok(url)) => url.to_string(),
            Some(Err(why)) => return Err(EngineError::UrlNotAllowed { pointer: "/url".into(), why: why.to_string() }),
            None => {
                let why = "the config has no [n8n], so there is nobody to send events to".into();
                return Err(EngineError::UrlNotAllowed { pointer: "/url".into(), why });
            }
        };
        Ok(SubscriptionRow {
            id: SubscriptionId::derive(api_key, &url),
            tenant: tenant.clone(),
            api_key: api_key.to_owned(),
            url,
            events,
            flow,
            created_at: self.now(),
            going: Going::default(),
        })
    }

    async fn has_room(&self, tenant: &Tenant, api_key: &str) -> Result<()> {
        let rows = self.store().subscription_list(Some(tenant)).await?;
        if rows.iter().filter(|row| row.api_key == api_key).count() < OF_ONE_KEY_MAX {
            return Ok(());
        }
        let detail = format!("this API key has {OF_ONE_KEY_MAX} subscriptions already: drop those that nobody needs");
        Err(EngineError::BadMember { pointer: "/url".into(), detail })
    }
}

/// The kinds behind the words, each once.
fn events(words: &[String]) -> Result<Vec<EventKind>> {
    let bad = |pointer: String, detail: String| EngineError::BadMember { pointer, detail };
    let all = || EventKind::ALL.iter().map(|kind| kind.as_str()).collect::<Vec<_>>().join(", ");
    if words.is_empty() {
        return Err(bad("/events".into(), format!("name at least one event of: {}", all())));
    }
    let kinds = words.iter().enumerate().map(|(n, word)| {
        EventKind::parse(word)
            .ok_or_else(|| bad(format!("/events/{n}"), format!("there is no such event; there are: {}", all())))
    });
    Ok(kinds.collect::<Result<BTreeSet<_>>>()?.into_iter().collect())
}

/// What the journal says of a subscription: where it leads to, not the address, which lets whoever knows it begin a
/// workflow.
fn told_of(row: &SubscriptionRow) -> effectgate_core::journal::Facts {
    let events: Vec<&str> = row.events.iter().map(|kind| kind.as_str()).collect();
    let flow = row.flow.as_ref().map(FlowName::as_str);
    facts! {
        "subscription" => row.id, "key" => row.api_key, "to" => origin(&row.url), "events" => events, "flow" => flow,
    }
}

/// `https://n8n.example.com` of an address.
fn origin(url: &str) -> String {
    url::Url::parse(url).map(|url| url.origin().ascii_serialization()).unwrap_or_default()
}

fn gone(row: &SubscriptionRow, seq: i64, now: Timestamp) -> Notice {
    let detail = format!(
        "the subscription {} of the API key {} was dropped: for ten minutes nobody was there at {}",
        row.id,
        row.api_key,
        origin(&row.url)
    );
    let kind = NoticeKind::Alert { alert: Alert::Undeliverable, detail };
    Notice::new(seq, 0, kind, format!("subscription:{}", row.id), now)
}

fn view(row: &SubscriptionRow) -> SubscriptionView {
    SubscriptionView {
        id: row.id,
        url: row.url.clone(),
        events: row.events.iter().map(|kind| kind.as_str()).collect(),
        flow: row.flow.as_ref().map(|flow| flow.as_str().to_owned()),
        api_key: row.api_key.clone(),
        created_at: row.created_at,
        failing_since: row.going.failing_since,
        last_delivered_at: row.going.last_delivered_at,
    }
}
