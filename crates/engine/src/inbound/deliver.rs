//! Delivery: each run that came in at a source is brought to the source's worker, under a lease like any other. The
//! claim is on record before the call; what the answer means, and what becomes of the run, is core's business.
//!
//! From the worker's yes on the lease is the guarantee: it renews, proposes, completes or fails under the owner and fence
//! that it was handed. A process that dies in between leaves a lease that runs out. The switch has no say here: what a
//! worker makes of an event is a draft, and nothing leaves.

use effectgate_core::{
    delivery::{self, Away, Handover, UNDELIVERED},
    ending::{self, FailClass},
    ids::{Owner, SourceName},
    journal::EntryKind,
    lease::{self, Claim},
    run::{Aggregate, Lease, Run, RunState},
    time::Timestamp,
};
use effectgate_store::{Commit, RunRef};
use futures_util::future::join_all;
use serde_json::Value;

use super::{DeliverPolicy, call::call, lane::Permit};
use crate::{
    engine::{Engine, Step},
    error::Result,
    panics::caught,
    probe, random,
};

/// What one tick of the deliverer saw and did.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct DeliverReport {
    pub seen: usize,
    pub started: usize,
    /// Could not be worked on any more.
    pub ended: usize,
    /// Somebody else was faster.
    pub lost: usize,
    /// True if there may be more that is due right now.
    pub more: bool,
}

/// A run that was claimed for its worker, and the right to make the call.
struct Claimed {
    source: SourceName,
    run: Run,
    lease: Lease,
    /// As it stood before the claim.
    before: Aggregate,
    begun_at: Timestamp,
    permit: Permit,
}

enum Taken {
    Started,
    Ended,
    Lost,
}

/// True if a source's worker is to be called with it: now, or when its time comes.
pub(crate) fn wants_delivery(run: &Run) -> bool {
    run.origin.inbound.is_some() && matches!(run.state, RunState::Queued | RunState::FailedRetryable { .. })
}

impl Engine {
    /// Claims what is due at every source that delivers, and starts the calls. They go on in the background; see
    /// [`Engine::deliver_idle`].
    ///
    /// # Errors
    /// The store. What was claimed before goes on.
    pub async fn deliver_tick(&self) -> Result<DeliverReport> {
        let mut report = DeliverReport::default();
        for (name, source) in &self.policy().sources {
            if let Some(to) = &source.deliver {
                self.deliver_source(name, to, &mut report).await?;
            }
        }
        Ok(report)
    }

    /// True if a source of the config is brought to a worker.
    #[must_use]
    pub fn delivers(&self) -> bool {
        self.policy().sources.values().any(|source| source.deliver.is_some())
    }

    /// Waits until no call is under way.
    pub async fn deliver_idle(&self) {
        self.inner().lanes.idle().await;
    }

    /// Calls under way now.
    #[must_use]
    pub fn deliveries_under_way(&self) -> usize {
        self.inner().lanes.under_way()
    }

    /// Sources whose worker this process found away, with the moment of its next call.
    #[must_use]
    pub fn paused_sources(&self) -> Vec<(SourceName, Timestamp)> {
        self.inner().lanes.paused()
    }

    async fn deliver_source(&self, name: &SourceName, to: &DeliverPolicy, report: &mut DeliverReport) -> Result<()> {
        let room = self.inner().lanes.room(name, self.now());
        if room == 0 {
            return Ok(());
        }
        let due = self.store().run_deliverable(name, u32::try_from(room).unwrap_or(u32::MAX)).await?;
        report.seen += due.len();
        report.more |= due.len() == room;
        for taken in join_all(due.into_iter().map(|due| self.take_up(name, to, due))).await {
            match taken? {
                Taken::Started => report.started += 1,
                Taken::Ended => report.ended += 1,
                Taken::Lost => report.lost += 1,
            }
        }
        Ok(())
    }

    /// Claims one run and starts its call.
    async fn take_up(&self, name: &SourceName, to: &DeliverPolicy, due: RunRef) -> Result<Taken> {
        let Some(permit) = self.inner().lanes.take(name) else { return Ok(Taken::Lost) };
        let Some(before) = self.store().run_load(&due.tenant, due.id).await? else { return Ok(Taken::Lost) };
        let now = self.now();
        let owner = Owner::new(format!("in:{name}:{}", uuid::Uuid::new_v4()));
        match lease::claim(&before, &owner, to.lease_ms, now, self.policy()) {
            Claim::NotFree => Ok(Taken::Lost),
            Claim::Ended(transition) => {
                self.commit(transition).await?;
                Ok(Taken::Ended)
            }
            Claim::Granted(transition) => {
                let run = transition.run.clone();
                let Commit::Committed { lease: Some(lease) } = self.commit(transition).await? else {
                    return Ok(Taken::Lost);
                };
                let claimed = Claimed { source: name.clone(), run, lease, before, begun_at: now, permit };
                let engine = self.clone();
                tokio::spawn(async move { engine.bring(claimed).await });
                Ok(Taken::Started)
            }
        }
    }

    /// One call from its first byte to what it means.
    async fn bring(&self, claimed: Claimed) {
        probe::at("deliver.after_claim").await;
        let handover = match caught(self.hand_over(&claimed)).await {
            Ok(Ok(handover)) => handover,
            // Nothing was sent: the content could not be read. The lease runs out, and it is tried again.
            Ok(Err(error)) => {
                tracing::warn!(source = %claimed.source, run = %claimed.run.id, %error, "a run could not be read for its delivery");
                return;
            }
            Err(words) => Handover::Unknown { why: words },
        };
        probe::at("deliver.after_answer").await;
        self.count_delivery(&claimed, &handover);
        if let Err(error) = self.settle_delivery(&claimed, &handover).await {
            tracing::warn!(source = %claimed.source, run = %claimed.run.id, %error, "what came of a delivery could not be written; its lease runs out");
        }
        drop(claimed.permit);
        // A place is free again.
        self.nudges().deliverer.notify_one();
    }

    async fn hand_over(&self, claimed: &Claimed) -> Result<Handover> {
        let Some(to) = self.policy().source(&claimed.source).and_then(|source| source.deliver.as_ref()) else {
            return Ok(Handover::TurnedAway { why: "the source delivers nowhere".into(), retry_after_ms: None });
        };
        let content = self.store().run_content(&claimed.run.tenant, claimed.run.id).await?;
        let payload = content.and_then(|content| content.payload).unwrap_or_default();
        Ok(call(to, &claimed.source, &claimed.run, &claimed.lease, payload, self.now()).await)
    }

    fn count_delivery(&self, claimed: &Claimed, handover: &Handover) {
        let (source, now) = (&claimed.source, self.now());
        let reached = !matches!(handover, Handover::TurnedAway { .. });
        if self.inner().lanes.note(source, reached, claimed.begun_at, now) {
            tracing::warn!(%source, ?handover, "the worker of a source cannot be reached; it is asked less often until it can");
        }
        let labels = [("source", source.to_string()), ("outcome", handover.as_str().to_owned())];
        metrics::counter!("effectgate_deliveries_total", &labels).increment(1);
        #[expect(clippy::cast_precision_loss, reason = "milliseconds of one call")]
        metrics::histogram!("effectgate_delivery_seconds", &labels)
            .record(now.ms_since(claimed.begun_at) as f64 / 1_000.0);
    }

    /// Writes what follows from an answer, as long as the claim is held: whoever has it meanwhile knows better.
    async fn settle_delivery(&self, claimed: &Claimed, handover: &Handover) -> Result<()> {
        let Some(owner) = &claimed.run.owner else { return Ok(()) };
        let (run, fence) = (&claimed.run, claimed.run.fence);
        match handover {
            Handover::Taken { status } => {
                self.change(&run.tenant, run.id, |agg, now| {
                    let noted = delivery::delivered(agg, owner, fence, *status, now);
                    Ok(noted.map_or(Step::Answer(()), |noted| Step::Write(Box::new(noted), ())))
                })
                .await?;
            }
            Handover::TurnedAway { why, retry_after_ms } => {
                let (since, told) = self.tried_since(claimed).await?;
                let give_up_ms = self.give_up_ms(&claimed.source);
                let away = Away { why, since, told, retry_after_ms: *retry_after_ms, give_up_ms };
                self.change(&run.tenant, run.id, |agg, now| {
                    let given_back = delivery::undelivered(agg, owner, fence, &away, now).ok();
                    Ok(given_back.map_or(Step::Answer(()), |back| Step::Write(Box::new(back), ())))
                })
                .await?;
            }
            Handover::Failed { status } => {
                let (said, jitter) = (format!("the worker of {} answered {status}", claimed.source), random::unit());
                self.change(&run.tenant, run.id, |agg, now| {
                    let flow = &self.flow_of(agg)?.flow;
                    let class = FailClass::WorkerError;
                    let failed = ending::fail(agg, flow, owner, fence, class, Some(&said), now, jitter, self.policy());
                    Ok(failed.map_or(Step::Answer(()), |failed| Step::Write(Box::new(failed), ())))
                })
                .await?;
            }
            // The worker may have begun. The lease is the guarantee.
            Handover::Unknown { why } => {
                tracing::info!(source = %claimed.source, run = %run.id, %why, "a delivery has no known answer; its lease decides");
            }
        }
        Ok(())
    }

    fn give_up_ms(&self, source: &SourceName) -> i64 {
        let to = self.policy().source(source).and_then(|source| source.deliver.as_ref());
        to.map_or(i64::MAX, |to| to.give_up_ms)
    }

    /// Since when the run waits for a worker to take it, and whether people were told. A run that was turned away before
    /// has it on record; any other became due when it came to stand as it did.
    async fn tried_since(&self, claimed: &Claimed) -> Result<(Timestamp, bool)> {
        let run = &claimed.before.run;
        match (&run.state, claimed.before.lease) {
            (RunState::FailedRetryable { reason, .. }, _) if reason == UNDELIVERED => {
                let after = (run.head.seq - UNDELIVERED_ENTRIES).max(0);
                let entries = self.store().journal_read(run.id, after, UNDELIVERED_ENTRIES as u32).await?;
                let last = entries.iter().rev().find(|entry| entry.kind == EntryKind::Undelivered.as_str());
                let entry = last.and_then(|entry| serde_json::from_str::<Value>(&entry.text).ok()).unwrap_or_default();
                let since = entry["facts"]["since"].as_str().and_then(|text| text.parse().ok());
                Ok((since.unwrap_or(run.updated_at), entry["facts"]["told"] == true))
            }
            (RunState::FailedRetryable { next_attempt_at, .. }, _) => Ok((*next_attempt_at, false)),
            (RunState::Processing, Some(lease)) => Ok((lease.expires_at, false)),
            _ => Ok((run.updated_at, false)),
        }
    }
}

/// How far back the last try is looked for: what can stand between is a conflict, a note, and each of those is bounded.
const UNDELIVERED_ENTRIES: i64 = 64;
