//! Executes a plan: each item is one transition on its run, with the plan's id in the run's own record. So it can be
//! cut off anywhere and gone on with, by this replica or another, and no item is done twice: a run that moved is looked
//! up in its record, and what somebody else changed is skipped.

use effectgate_core::{
    actor::{Actor, Subject},
    facts,
    ids::{ReplayId, Tenant},
    journal::EntryKind,
    replay::{self, Found},
    run::Aggregate,
};
use effectgate_store::{HouseCommit, ReplayFound, ReplayItem, ReplayItemState, ReplayRow, ReplayStage, ReplayWrite};

use super::{ReplayView, plan};
use crate::{
    engine::{Engine, Step},
    error::{EngineError, Result},
    probe,
    pulse::{Topic, Touched},
    sweep::Count,
};

/// Items that are worked on before the plan is taken in hand again: well within the hold.
const SLICE: u32 = 50;
/// How long a replica that has died keeps a plan from the others. A slice takes a second on a slow database; two that
/// work on one plan at once are no harm, only waste.
const HOLD_MS: i64 = 15_000;
/// As in `change`: a chain that keeps moving under sixteen looks is a fault.
const TRIES_MAX: usize = 16;

/// What one slice came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slice {
    /// Another replica has it in hand, or it has ended.
    NotOurs,
    More,
    Ended,
}

impl Engine {
    /// Executes a plan: begins it and goes on in the background. A plan that was begun before is only shown, and gone
    /// on with if nobody does: executing twice creates nothing.
    ///
    /// # Errors
    /// Not found, expired, contended, the store.
    pub async fn replay_execute(
        &self,
        tenant: &Tenant,
        actor: &Actor,
        id: ReplayId,
        reason: Option<&str>,
    ) -> Result<ReplayView> {
        self.replay_start(tenant, actor, id, reason).await?;
        let (engine, of) = (self.clone(), tenant.clone());
        tokio::spawn(async move {
            if let Err(error) = engine.replay_work(&of, id).await {
                tracing::warn!(replay = %id, %error, "a replay was interrupted; the sweeper goes on with it");
            }
        });
        self.replay_find(tenant, id, true).await
    }

    /// Begins a plan; does nothing to one that was begun before.
    ///
    /// # Errors
    /// As for [`Engine::replay_execute`].
    pub async fn replay_start(&self, tenant: &Tenant, actor: &Actor, id: ReplayId, reason: Option<&str>) -> Result<()> {
        for _ in 0..TRIES_MAX {
            let head = self.store().house_head(tenant).await?;
            let found = self.found(tenant, id).await?;
            if found.row.stage != ReplayStage::Planned {
                return Ok(());
            }
            if found.is_expired {
                return Err(EngineError::ReplayExpired { at: found.row.expires_at });
            }
            let given = reason.map(str::trim).filter(|reason| !reason.is_empty());
            let reason = given.unwrap_or(&found.row.reason).to_owned();
            let facts = facts! { "replay" => id, "reason" => reason, "items" => found.waiting };
            let start = ReplayWrite::Start { id, by: actor.to_string(), reason, at: self.now() };
            let fill = |write: &mut effectgate_store::HouseWrite| write.replay = Some(start);
            let tried = self.house_try(tenant, head, actor, EntryKind::ReplayStarted, &facts, fill).await?;
            if matches!(tried, HouseCommit::Committed { .. }) {
                return Ok(());
            }
        }
        Err(EngineError::Contended)
    }

    /// Works on a running plan until its last item is dealt with, or another replica has it in hand.
    ///
    /// # Errors
    /// The store; what was done stays done, and the plan is free for whoever goes on.
    pub async fn replay_work(&self, tenant: &Tenant, id: ReplayId) -> Result<()> {
        let holder = uuid::Uuid::new_v4().to_string();
        loop {
            match self.replay_slice(tenant, id, &holder).await {
                Ok(Slice::More) => {}
                Ok(Slice::NotOurs | Slice::Ended) => return Ok(()),
                Err(error) => {
                    self.let_go(id, &holder).await;
                    return Err(error);
                }
            }
        }
    }

    /// Goes on with plans that nobody has in hand: their replica ended in the middle. One slice of each.
    pub(crate) async fn sweep_replays(&self, count: &mut Count) -> Result<()> {
        for (tenant, id) in self.store().replay_stalled(self.policy().sweeper.batch).await? {
            count.seen += 1;
            let holder = uuid::Uuid::new_v4().to_string();
            match self.replay_slice(&tenant, id, &holder).await? {
                Slice::NotOurs => count.lost += 1,
                Slice::Ended => count.moved += 1,
                Slice::More => {
                    count.moved += 1;
                    self.let_go(id, &holder).await;
                }
            }
        }
        Ok(())
    }

    /// Lets another one go on at once. If it cannot be said, the hold ends by itself.
    async fn let_go(&self, id: ReplayId, holder: &str) {
        if let Err(error) = self.store().replay_hold(id, holder, 0).await {
            tracing::debug!(replay = %id, %error, "the hold on a replay ends by itself");
        }
    }

    pub(crate) async fn replay_slice(&self, tenant: &Tenant, id: ReplayId, holder: &str) -> Result<Slice> {
        if !self.store().replay_hold(id, holder, HOLD_MS).await? {
            return Ok(Slice::NotOurs);
        }
        let items = self.store().replay_items(id, 0, SLICE, true).await?;
        if items.is_empty() {
            self.replay_end(tenant, id).await?;
            return Ok(Slice::Ended);
        }
        let found = self.found(tenant, id).await?;
        for item in items {
            self.replay_item(&found, item).await?;
        }
        Ok(Slice::More)
    }

    async fn replay_end(&self, tenant: &Tenant, id: ReplayId) -> Result<()> {
        for _ in 0..TRIES_MAX {
            let head = self.store().house_head(tenant).await?;
            let found = self.found(tenant, id).await?;
            if found.row.stage != ReplayStage::Running {
                return Ok(());
            }
            let facts = facts! { "replay" => id, "done" => found.done, "skipped" => found.skipped };
            let end = ReplayWrite::End { id, at: self.now() };
            let fill = |write: &mut effectgate_store::HouseWrite| write.replay = Some(end);
            let actor = Actor::System("replay");
            let tried = self.house_try(tenant, head, &actor, EntryKind::ReplayEnded, &facts, fill).await?;
            if matches!(tried, HouseCommit::Committed { .. }) {
                // The last run that moved has told the pages already, but not that this was the end.
                self.tell_pages(&Touched::of(tenant, Topic::Runs));
                return Ok(());
            }
        }
        Err(EngineError::Contended)
    }

    /// Recovers one run and notes what became of it. The two are two transactions: cut off in between, the run's record
    /// says that this plan did it. A run that the database cannot read or will not write is skipped, so that it holds up
    /// no other one: what was refused changed nothing, and the next sweep would fare no better.
    pub async fn replay_item(&self, found: &ReplayFound, mut item: ReplayItem) -> Result<()> {
        probe::at("replay.before_item").await;
        item.state = match self.dealt_with(found, &item).await {
            Err(EngineError::Store(error)) if !error.is_passing() => {
                tracing::error!(replay = %found.row.id, run = %item.run, %error, "a run of a replay is skipped");
                skipped(FAULT)
            }
            done => done?,
        };
        probe::at("replay.after_commit").await;
        // False: another replica wrote the same.
        self.store().replay_item_settle(found.row.id, &item).await?;
        Ok(())
    }

    async fn dealt_with(&self, found: &ReplayFound, item: &ReplayItem) -> Result<ReplayItemState> {
        let row = &found.row;
        let Some(agg) = self.store().run_load(&row.tenant, item.run).await? else { return Ok(skipped("gone")) };
        if agg.run.version != item.version {
            return self.moved_since(row.id, &agg).await;
        }
        if let Some(refusal) = self.refusal(&agg).await? {
            return Ok(skipped(refusal.as_str()));
        }
        let (reason, actor) = (row.start_reason.as_deref().unwrap_or(&row.reason), starter(row));
        let step = |agg: &Aggregate, now| {
            let as_planned = agg.run.version == item.version;
            let still = as_planned.then(|| replay::refusal(agg, MENDED, self.policy()));
            match (still, replay::recover(agg, row.id, &actor, reason, now)) {
                (Some(None), Some(transition)) => Ok(Step::Write(Box::new(transition), None)),
                (Some(Some(refusal)), _) => Ok(Step::Answer(Some(refusal.as_str()))),
                _ => Ok(Step::Answer(Some(CHANGED))),
            }
        };
        match self.change(&row.tenant, item.run, step).await? {
            (None, agg) => Ok(done(&agg)),
            (Some(CHANGED), agg) => self.moved_since(row.id, &agg).await,
            (Some(why), _) => Ok(skipped(why)),
        }
    }

    /// A run that is not as the plan saw it: ours, if its record says so; else somebody changed it.
    async fn moved_since(&self, id: ReplayId, agg: &Aggregate) -> Result<ReplayItemState> {
        let ours = self.is_noted(&agg.run.tenant, agg.run.id, EntryKind::Replayed, "replay", &id).await?;
        Ok(if ours { done(agg) } else { skipped(CHANGED) })
    }

    pub(super) async fn found(&self, tenant: &Tenant, id: ReplayId) -> Result<ReplayFound> {
        self.store().replay_find(tenant, id).await?.ok_or(EngineError::NotFound("replay"))
    }
}

/// What was asked outside the transaction, a moment before.
const MENDED: Found = Found { flow_known: true, content_erased: false, still_invalid: false };

/// Somebody else moved the run since the plan was made.
const CHANGED: &str = "changed";

/// The database cannot read the run, or refuses what would be written.
const FAULT: &str = "fault";

fn skipped(why: &str) -> ReplayItemState {
    ReplayItemState::Skipped { why: why.to_owned() }
}

/// Who began the plan, as the plan's row names them: the recoveries are theirs, whichever replica does them.
fn starter(row: &ReplayRow) -> Actor {
    let by = row.started_by.as_deref().unwrap_or(&row.made_by);
    match by.strip_prefix("key:") {
        Some(name) => Actor::ApiKey(name.to_owned()),
        None => Actor::Person(Subject::named(by)),
    }
}

fn done(agg: &Aggregate) -> ReplayItemState {
    ReplayItemState::Done { outcome: plan::text(&plan::standing(agg)) }
}
