//! The messenger: takes the deliveries that are due, signs and sends them, and notes what the other side made of it.
//! Claimed by compare-and-set; a crash between sending and noting sends again, under the same `webhook-id`.
//!
//! A receiver that is away is waited for, for a day; one at whose address nobody is any more is dropped.

use effectgate_core::{ids::SubscriptionId, outcome::Report, starting::is_starting};
use effectgate_store::{DeliveryRow, DeliveryState, Heard, SubscriptionRow};
use secrecy::SecretString;
use tokio::task::JoinSet;

use super::{Ending, fan_out::MESSENGER, signature, signing_key};
use crate::{connect::AlwaysOpen, engine::Engine, error::Result, n8n::N8n};

/// What one tick of the messenger saw and did.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct MessengerReport {
    pub seen: usize,
    pub sent: usize,
    pub retried: usize,
    pub given_up: usize,
    /// Subscriptions that ended.
    pub dropped: usize,
}

/// Deliveries under way at once, of all subscriptions.
const UNDER_WAY_MAX: usize = 64;
/// What a claim outlasts the longest call by: the database and the clock of another replica.
const CLAIM_MARGIN_MS: i64 = 60_000;
/// Pauses between tries of one delivery: 5 s, doubling up to an hour, until a day has passed. Eight tries then take more
/// than ten minutes.
const RETRY_MS: i64 = 5_000;
const RETRY_MS_MAX: i64 = 3_600_000;
const GIVE_UP_MS: i64 = 24 * 3_600_000;
/// Answers in a row that say that nobody is there, and the time they must have taken, before a subscription is dropped:
/// n8n answers 404 too while it starts and while a workflow is published anew, and that takes seconds.
const GONE_COUNT: i32 = 8;
const GONE_MS: i64 = 600_000;

/// How one try ended.
enum Ended {
    Sent,
    Retried,
    GivenUp,
    Dropped,
}

impl MessengerReport {
    fn count(&mut self, ended: &Ended) {
        let (count, outcome) = match ended {
            Ended::Sent => (&mut self.sent, "sent"),
            Ended::Retried => (&mut self.retried, "retried"),
            Ended::GivenUp => (&mut self.given_up, "given_up"),
            Ended::Dropped => (&mut self.dropped, "dropped"),
        };
        *count += 1;
        metrics::counter!("effectgate_events_total", "outcome" => outcome).increment(1);
    }
}

/// One delivery's place among those under way; given back when dropped, also by a task that panics or is broken off with
/// the tick because the database is away. A place that was kept then would be gone until the process ends.
struct Turn {
    engine: Engine,
    subscription: SubscriptionId,
    well: bool,
}

impl Turn {
    fn begin(engine: &Engine, subscription: SubscriptionId) -> Self {
        engine.inner().paces.began(subscription);
        Self { engine: engine.clone(), subscription, well: false }
    }

    async fn send(mut self, row: &SubscriptionRow, due: DeliveryRow) -> Result<Ended> {
        let done = self.engine.try_event(row, due).await;
        self.well = matches!(done, Ok(Ended::Sent | Ended::Dropped));
        done
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.engine.inner().paces.ended(self.subscription, self.well, self.engine.now());
    }
}

impl Engine {
    /// Sends what is due, and what becomes due meanwhile; returns when nothing is under way any more.
    ///
    /// # Errors
    /// The store. A delivery that fails is not an error here: it is tried again.
    pub async fn messenger_tick(&self) -> Result<MessengerReport> {
        let mut report = MessengerReport::default();
        // Without [n8n] nothing may be sent; what is on its way waits for the section to come back.
        if self.policy().n8n.is_none() {
            return Ok(report);
        }
        let mut under_way = JoinSet::new();
        loop {
            report.seen += self.begin_deliveries(&mut under_way).await?;
            if under_way.is_empty() {
                return Ok(report);
            }
            tokio::select! {
                Some(ended) = under_way.join_next() => match ended {
                    Ok(ended) => report.count(&ended?),
                    // Its claim ends by itself, and then it is tried again; the others go on.
                    Err(error) => tracing::error!(%error, "a delivery of an event broke off"),
                },
                // More came; what is under way goes on.
                () = self.nudges().messenger.notified(), if under_way.len() < UNDER_WAY_MAX => {}
            }
        }
    }

    /// Claims what there is room for, subscription by subscription, so that none waits behind another's queue.
    async fn begin_deliveries(&self, under_way: &mut JoinSet<Result<Ended>>) -> Result<usize> {
        let Some(n8n) = &self.policy().n8n else { return Ok(0) };
        let claim_ms = i64::try_from(n8n.limits().total_ms).unwrap_or(i64::MAX / 2) + CLAIM_MARGIN_MS;
        let mut begun = 0;
        for row in self.store().subscription_due().await? {
            let room = self.inner().paces.room(row.id, n8n.concurrent(), self.now());
            let room = room.min(UNDER_WAY_MAX.saturating_sub(under_way.len()));
            let limit = u32::try_from(room).unwrap_or(u32::MAX);
            let due = if room == 0 { Vec::new() } else { self.store().delivery_due(row.id, limit).await? };
            for due in due {
                if self.store().delivery_claim(&due, self.now().plus_ms(claim_ms)).await? {
                    begun += 1;
                    let (turn, row) = (Turn::begin(self, row.id), row.clone());
                    under_way.spawn(async move { turn.send(&row, due).await });
                }
            }
        }
        Ok(begun)
    }

    async fn try_event(&self, row: &SubscriptionRow, due: DeliveryRow) -> Result<Ended> {
        let key = self.store().api_key_find(&row.api_key).await?;
        let Some(key) = key.filter(|key| key.revoked_at.is_none()) else {
            self.end_subscription(row, &MESSENGER, Ending::KeyRevoked).await?;
            return Ok(Ended::Dropped);
        };
        let heard = match &self.policy().n8n {
            Some(n8n) => self.post_event(n8n, row, &due, &signing_key(&key.secret_hash)).await,
            None => Heard::No,
        };
        self.settle_event(row, due, heard).await
    }

    async fn post_event(&self, n8n: &N8n, row: &SubscriptionRow, due: &DeliveryRow, key: &[u8; 32]) -> Heard {
        let failed = |why: &str| {
            tracing::warn!(subscription = %row.id, event = %due.event, attempts = due.attempts + 1, why,
                "an event could not be delivered");
        };
        let url = match n8n.allows(&row.url) {
            Ok(url) => url,
            // Registered under another config; it may come back.
            Err(why) => {
                failed(&why.to_string());
                return Heard::No;
            }
        };
        let (id, seconds) = (due.event.to_string(), self.now().millis() / 1_000);
        let mut request = N8n::post(url, due.body.clone().into());
        let signed = signature(key, &id, seconds, &due.body);
        let named = [("webhook-id", id), ("webhook-timestamp", seconds.to_string()), ("webhook-signature", signed)];
        request.headers.extend(named.map(|(name, value)| (name.to_owned(), SecretString::from(value))));
        let report = n8n.send(request, &AlwaysOpen).await;
        let heard = heard(&report);
        if heard != Heard::Yes {
            failed(&said(&report));
        }
        heard
    }

    async fn settle_event(&self, row: &SubscriptionRow, due: DeliveryRow, heard: Heard) -> Result<Ended> {
        let (now, attempts) = (self.now(), due.attempts + 1);
        let again = now.plus_ms(retry_ms(attempts));
        let (state, due_at, ended) = match heard {
            Heard::Yes => (DeliveryState::Sent, now, Ended::Sent),
            _ if again.ms_since(due.created_at) > GIVE_UP_MS => (DeliveryState::GivenUp, now, Ended::GivenUp),
            _ => (DeliveryState::Pending, again, Ended::Retried),
        };
        let settled = DeliveryRow { state, due_at, attempts, ..due };
        let after = self.store().delivery_settle(&settled, heard).await?;
        let going = after.map(|after| after.going).unwrap_or_default();
        let is_gone = heard == Heard::Gone
            && going.gone_count >= GONE_COUNT
            && going.gone_since.is_some_and(|since| now.ms_since(since) >= GONE_MS);
        if is_gone && self.end_subscription(row, &MESSENGER, Ending::Gone).await? {
            return Ok(Ended::Dropped);
        }
        Ok(ended)
    }
}

/// The pause before the next try, after this many.
fn retry_ms(attempts: i32) -> i64 {
    (RETRY_MS << (attempts - 1).clamp(0, 16)).min(RETRY_MS_MAX)
}

/// An n8n that starts answers 200, then 404, before any of its webhooks is there: neither heard it nor is gone.
fn heard(report: &Report) -> Heard {
    if report.answer.as_ref().is_some_and(is_starting) {
        return Heard::No;
    }
    match report.answer.as_ref().map(|answer| answer.status) {
        Some(200..=299) => Heard::Yes,
        Some(404 | 410) => Heard::Gone,
        _ => Heard::No,
    }
}

/// What went wrong, without a body.
fn said(report: &Report) -> String {
    match (&report.answer, &report.error) {
        (Some(answer), _) => format!("the other side answered {}", answer.status),
        (None, Some(error)) => error.clone(),
        (None, None) => "no answer".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_tries_take_more_than_ten_minutes_and_pauses_end_at_an_hour() {
        assert!((1..8).map(retry_ms).sum::<i64>() >= GONE_MS);
        assert_eq!((retry_ms(1), retry_ms(2), retry_ms(30), retry_ms(i32::MAX)), (5_000, 10_000, 3_600_000, 3_600_000));
    }
}
