//! Holds what the provider executed against what the journal claims.

use effectgate_core::{effect::EffectState, run::Aggregate};

use crate::plan::Sim;

/// What a simulation saw, so that one in which nothing happens is noticed.
#[derive(Debug, Default)]
pub struct Tally {
    runs: usize,
    completed: usize,
    failed: usize,
    cancelled: usize,
    executions: usize,
    requests: usize,
    duplicates: usize,
    sent_again: usize,
    fates: std::collections::BTreeMap<String, usize>,
}

impl Tally {
    pub fn add(&mut self, other: Self) {
        self.runs += other.runs;
        self.completed += other.completed;
        self.failed += other.failed;
        self.cancelled += other.cancelled;
        self.executions += other.executions;
        self.requests += other.requests;
        self.duplicates += other.duplicates;
        self.sent_again += other.sent_again;
        for (fate, n) in other.fates {
            *self.fates.entry(fate).or_default() += n;
        }
    }

    /// Every way to end was taken, and every fate struck.
    pub fn is_varied(&self) -> bool {
        let ends = [self.completed, self.failed, self.cancelled, self.duplicates, self.sent_again];
        ends.iter().all(|n| *n > 0) && self.requests > self.executions && self.fates.len() >= 11
    }
}

pub async fn audit(sim: &Sim) -> Tally {
    let world = &sim.world;
    let mut tally = Tally { duplicates: sim.duplicates, ..Tally::default() };
    let mut claimed = std::collections::BTreeSet::new();
    for n in 0..sim.keys {
        let id = world.id_of(&format!("k{n}"));
        let Some(agg) = world.store.run_load(&world.caller.tenant, id).await.unwrap() else { continue };
        tally.runs += 1;
        assert!(agg.run.state.is_final(), "{:?}", agg.run.state);
        audit_run(sim, &agg).await;
        for effect in &agg.effects {
            claimed.insert(effect.provider_key.clone());
            tally.completed += usize::from(effect.state == EffectState::Completed);
            tally.failed += usize::from(effect.state == EffectState::Failed);
            tally.cancelled += usize::from(effect.state == EffectState::Cancelled);
        }
    }
    world.verify_all().await;
    let ledger = sim.provider.ledger.lock().unwrap();
    assert_eq!(ledger.forbidden, Vec::<String>::new(), "written to after a turn had answered");
    for (key, payloads) in &ledger.payloads {
        assert!(claimed.contains(key), "{key} arrived and nobody ever intended it");
        assert_eq!(payloads.len(), 1, "{key} arrived with two bodies");
    }
    tally.executions = ledger.executed.values().map(Vec::len).sum();
    tally.requests = ledger.requests.values().sum();
    tally.sent_again = sim.sent_again.values().sum();
    tally.fates = ledger.fates.clone();
    tally
}

async fn audit_run(sim: &Sim, agg: &Aggregate) {
    let attempts = sim.world.store.attempt_list(agg.run.id).await.unwrap();
    let decided = sim.world.facts(agg.run.id, "decided").await;
    assert!(decided.len() <= 1, "{decided:?}");
    for effect in &agg.effects {
        let key = &effect.provider_key;
        let executed = sim.provider.executed(key);
        let again = sim.sent_again.get(key).copied().unwrap_or(0);
        let story = format!("{effect:?}\n{:?}\n{attempts:#?}", sim.world.kinds(agg.run.id).await);

        assert!(executed <= 1 + again, "doubled: {executed} executions, {again} times a person said again\n{story}");
        match effect.state {
            EffectState::Completed => assert!(executed >= 1, "completed and never executed\n{story}"),
            // Where a person guessed and said "again", what became of the first one is on that word.
            EffectState::Failed | EffectState::Cancelled if again == 0 => {
                assert_eq!(executed, 0, "executed, and recorded as not done\n{story}");
            }
            EffectState::Failed | EffectState::Cancelled => {}
            _ => panic!("a final run with an effect that is not\n{story}"),
        }
        // One request, one attempt on record.
        let requests = sim.provider.ledger.lock().unwrap().requests.get(key).copied().unwrap_or(0);
        let begun = sim.world.facts(agg.run.id, "effect_begun").await.len();
        let recorded = attempts.iter().filter(|a| a.effect == effect.id).count() + begun;
        assert!(requests <= recorded, "{requests} requests, {recorded} attempts on record\n{story}");
    }
}
