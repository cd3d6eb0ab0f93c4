//! The desk's clock: an effect that waits for a person for longer than its flow allows is told again. The row stays as
//! it is; what was told stands in the run's journal, so a restart and another replica do not tell it twice.

use effectgate_core::{
    effect::{Effect, EffectState},
    journal::{EntryKind, SealedEntry},
    look,
    run::Aggregate,
    time::Timestamp,
    transition::Transition,
};
use effectgate_store::DueEffect;
use serde_json::Value;

use crate::{engine::Engine, error::Result, sweep::Count};

/// A limit is at least a minute, so looking once in that time is soon enough.
pub(crate) const PERIOD_MS: i64 = 60_000;

/// How far back the last alert is searched for. What comes between two alerts of one effect are other effects' entries
/// and looks that people asked for.
const ENTRIES: i64 = 500;

impl Engine {
    /// Tells of effects that have been in review for a whole multiple of their flow's limit: at the limit, and once
    /// more for each time as long again.
    pub(crate) async fn sweep_desk(&self, count: &mut Count) -> Result<()> {
        let Some(limit_ms) = self.policy().flows.values().map(|flow| flow.flow.review_alert_ms).min() else {
            return Ok(());
        };
        if !self.inner().desk_due.take(self.now(), PERIOD_MS) {
            return Ok(());
        }
        let (since, batch) = (self.now().plus_ms(-limit_ms), self.policy().sweeper.batch);
        let mut after: Option<Effect> = None;
        loop {
            let due = self.store().effect_review(since, after.as_ref(), batch).await?;
            let is_full = due.len() == batch as usize;
            after = due.last().map(|last| last.effect.clone());
            for due in due {
                count.seen += 1;
                match self.overdue(&due).await? {
                    Some(transition) => self.move_one(transition, count).await?,
                    None => count.left += 1,
                }
            }
            if !is_full {
                return Ok(());
            }
        }
    }

    async fn overdue(&self, due: &DueEffect) -> Result<Option<Transition>> {
        let Some(limit_ms) = self.policy().flow(&due.run.flow).map(|flow| flow.flow.review_alert_ms) else {
            return Ok(None);
        };
        if times(&due.effect, limit_ms, self.now()) == 0 {
            return Ok(None);
        }
        let Some(agg) = self.store().run_load(&due.run.tenant, due.run.id).await? else { return Ok(None) };
        let after = (agg.run.head.seq - ENTRIES).max(0);
        let entries = self.store().journal_read(due.run.id, after, ENTRIES as u32).await?;
        Ok(told_again(&agg, &due.effect, &entries, limit_ms, self.now()))
    }
}

/// How often the limit has passed since the effect came to the desk; 0 for one that is not there.
fn times(effect: &Effect, limit_ms: i64, now: Timestamp) -> i64 {
    match effect.state {
        EffectState::Review { since } => now.ms_since(since) / limit_ms.max(1),
        _ => 0,
    }
}

fn told_again(
    agg: &Aggregate,
    due: &Effect,
    entries: &[SealedEntry],
    limit_ms: i64,
    now: Timestamp,
) -> Option<Transition> {
    let effect = agg.effects.iter().find(|effect| effect.id == due.id)?;
    let EffectState::Review { since } = effect.state else { return None };
    let times = times(effect, limit_ms, now);
    let is_told = entries.iter().rev().take_while(|entry| entry.at >= since).any(|entry| tells(entry, effect, times));
    (times > 0 && !is_told).then(|| look::review_overdue(&agg.run, effect, now.ms_since(since), times, now))
}

/// Told for this many times the limit already, or for more of a limit that was shorter then.
fn tells(entry: &SealedEntry, effect: &Effect, times: i64) -> bool {
    if entry.kind != EntryKind::ReviewOverdue.as_str() {
        return false;
    }
    let facts = serde_json::from_str::<Value>(&entry.text).unwrap_or_default()["facts"].take();
    facts["effect"] == effect.id.to_string() && facts["times"].as_i64().is_some_and(|told| told >= times)
}
