//! Sweep: settle what time has overtaken. One code path for the happy case and for recovery; each row is moved by
//! compare-and-set, so a sweep on an old reading changes nothing. Journey (c).

use std::sync::atomic::{AtomicI64, Ordering};

use effectgate_core::{
    approval,
    effect::EffectState,
    lease,
    run::Aggregate,
    sending,
    time::Timestamp,
    transition::{Draft, Transition},
};
use effectgate_store::{Commit, RunOverdue, RunRef};

use crate::{
    engine::Engine,
    error::Result,
    probe::{self, Guard},
    reconcile::ReconcileReport,
};

/// What one kind of row came to in one sweep.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Count {
    pub seen: usize,
    pub moved: usize,
    /// Somebody else was faster.
    pub lost: usize,
    /// On a second look there was nothing to do.
    pub left: usize,
}

/// What one sweep saw and did.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct SweepReport {
    pub leases: Count,
    pub sendings: Count,
    pub approvals: Count,
    pub stuck: Count,
    /// Effects on the desk for longer than their flow allows.
    pub desk: Count,
    /// Replays that were cut off, gone on with.
    pub replays: Count,
    pub unknown: ReconcileReport,
    pub purged_runs: u64,
    pub purged_contents: u64,
}

impl Engine {
    /// One sweep over everything that is overdue, the unknown effects included. The running workers do the two parts
    /// side by side; a test drives them together.
    ///
    /// # Errors
    /// The store; what was moved before stays moved.
    pub async fn sweep_tick(&self) -> Result<SweepReport> {
        let mut report = self.sweep_rows().await?;
        report.unknown = self.reconcile_tick().await?;
        Ok(report)
    }

    /// The sweep alone: nothing in it waits for the network.
    ///
    /// # Errors
    /// As for [`Engine::sweep_tick`].
    pub async fn sweep_rows(&self) -> Result<SweepReport> {
        let mut report = SweepReport::default();
        self.sweep_sendings(&mut report.sendings).await?;
        self.sweep_runs(RunOverdue::LeaseOver, &mut report.leases, |agg, now| {
            let over = agg.lease.is_some_and(|lease| !lease.is_live);
            if over { lease::overtaken(agg, now, self.policy()) } else { None }
        })
        .await?;
        let due = self.store().approval_overdue(self.policy().sweeper.batch).await?;
        self.sweep_refs(due, &mut report.approvals, |agg, now| {
            if probe::is_broken(Guard::Expiry) {
                return None;
            }
            let expired = approval::expire(agg, now).map(|ended| self.with_closing_notice(ended, now));
            expired.or_else(|| approval::remind(agg, now))
        })
        .await?;
        self.sweep_stuck(&mut report.stuck).await?;
        self.sweep_desk(&mut report.desk).await?;
        self.sweep_replays(&mut report.replays).await?;
        let purged = self.store().run_purge(self.policy().sweeper.batch).await?;
        (report.purged_runs, report.purged_contents) = (purged.runs, purged.contents);
        count(&report);
        Ok(report)
    }

    /// Effects left in sending: unknown, never pending.
    async fn sweep_sendings(&self, count: &mut Count) -> Result<()> {
        for due in self.store().effect_lost(self.policy().sweeper.batch).await? {
            count.seen += 1;
            probe::at("sweep.before_move").await;
            match sending::expire(&due.run, &due.effect, self.now()) {
                Some(mut transition) => {
                    if probe::is_broken(Guard::LostAttemptIsPending) {
                        let due = EffectState::Pending { due_at: self.now() };
                        let effects = transition.effects.iter_mut().map(|write| &mut write.effect);
                        effects.for_each(|effect| (effect.state, effect.unknown_since) = (due, None));
                    }
                    self.move_one(transition, count).await?;
                }
                None => count.left += 1,
            }
        }
        Ok(())
    }

    async fn sweep_runs(
        &self,
        kind: RunOverdue,
        count: &mut Count,
        step: impl Fn(&Aggregate, Timestamp) -> Option<Transition>,
    ) -> Result<()> {
        let batch = self.policy().sweeper.batch;
        let mut after = None;
        // Page by page: rows that stay as they are must not hide the ones behind them.
        loop {
            let due = self.store().run_overdue(kind, after, batch).await?;
            let is_full = due.len() == batch as usize;
            after = due.last().map(|last| last.id);
            self.sweep_refs(due, count, &step).await?;
            if !is_full {
                return Ok(());
            }
        }
    }

    async fn sweep_refs(
        &self,
        due: Vec<RunRef>,
        count: &mut Count,
        step: impl Fn(&Aggregate, Timestamp) -> Option<Transition>,
    ) -> Result<()> {
        for RunRef { tenant, id } in due {
            count.seen += 1;
            let Some(agg) = self.store().run_load(&tenant, id).await? else {
                count.left += 1;
                continue;
            };
            probe::at("sweep.before_move").await;
            match step(&agg, self.now()) {
                Some(transition) => self.move_one(transition, count).await?,
                None => count.left += 1,
            }
        }
        Ok(())
    }

    pub(crate) async fn move_one(&self, transition: Transition, count: &mut Count) -> Result<()> {
        match self.commit(transition).await? {
            Commit::Committed { .. } => count.moved += 1,
            _ => count.lost += 1,
        }
        Ok(())
    }

    /// Runs that are not final and have not moved for long: an alert, at most one per dedupe time.
    async fn sweep_stuck(&self, count: &mut Count) -> Result<()> {
        let stuck_ms = self.policy().sweeper.stuck_ms;
        if !self.inner().stuck_due.take(self.now(), STUCK_PERIOD_MS) {
            return Ok(());
        }
        let since = self.now().plus_ms(-stuck_ms);
        self.sweep_runs(RunOverdue::Unchanged { since }, count, |agg, now| stuck(agg, stuck_ms, now)).await
    }
}

/// What has stood still for hours is seen within a minute; looking for it reads every run whose lease is long over.
const STUCK_PERIOD_MS: i64 = 60_000;

/// The next moment at which something that need not be done in every tick is due.
#[derive(Default)]
pub(crate) struct Due(AtomicI64);

impl Due {
    /// True once per period, for one caller.
    pub(crate) fn take(&self, now: Timestamp, period_ms: i64) -> bool {
        let next = self.0.load(Ordering::Relaxed);
        next <= now.millis()
            && self.0.compare_exchange(next, now.millis() + period_ms, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }
}

/// Notes that a run is stuck; the note moves `updated_at`, so the next alarm is a whole period away.
fn stuck(agg: &Aggregate, stuck_ms: i64, now: Timestamp) -> Option<Transition> {
    if agg.run.state.is_final() || now.ms_since(agg.run.updated_at) < stuck_ms {
        return None;
    }
    let mut draft = Draft::on(&agg.run, now);
    lease::note_stuck(&mut draft, agg.run.state.as_str());
    draft.run_mut().updated_at = now;
    Some(draft.noted())
}

fn count(report: &SweepReport) {
    for (kind, count) in [
        ("leases", report.leases),
        ("sendings", report.sendings),
        ("approvals", report.approvals),
        ("stuck", report.stuck),
        ("desk", report.desk),
        ("replays", report.replays),
    ] {
        for (what, n) in [("seen", count.seen), ("moved", count.moved), ("lost", count.lost), ("left", count.left)] {
            metrics::counter!("effectgate_swept_total", "kind" => kind, "what" => what).increment(n as u64);
        }
    }
}
