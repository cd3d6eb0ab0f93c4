//! What worlds saw, so that a simulation in which little happens is noticed.

use std::collections::BTreeMap;

use effectgate_core::{effect::EffectState, run::RunState};

use crate::{history::Event, world::World};

#[derive(Debug, Default)]
pub struct Tally {
    worlds: usize,
    events: usize,
    requests: usize,
    executions: usize,
    restarts: usize,
    /// How runs ended, how effects ended, what deliveries were answered, which entries were written.
    words: BTreeMap<String, usize>,
    fates: BTreeMap<String, usize>,
    crashes: BTreeMap<String, usize>,
}

/// Points that a thousand worlds may leave out: an armed crash waits for somebody to come by, and few come by some.
const RARE: usize = 4;

impl Tally {
    pub fn of(world: &World, events: &[Event]) -> Self {
        let mut tally = Self { worlds: 1, events: events.len(), ..Self::default() };
        tally.fates = world.provider.ledger.lock().unwrap().fates.clone();
        tally.crashes = world.crash.hits().into_iter().map(|(point, n)| (point.to_owned(), n)).collect();
        events.iter().for_each(|event| tally.see(event));
        tally
    }

    fn see(&mut self, event: &Event) {
        match event {
            Event::Arrived(arrival) => {
                self.requests += 1;
                self.executions += usize::from(arrival.executed);
            }
            Event::Delivered { answer, .. } => self.count(format!("answer {answer}")),
            Event::Decided { repeated: true, .. } => self.count("answer decided before".into()),
            Event::SaidAgain { .. } => self.count("said again".into()),
            Event::Found { agg } => {
                self.restarts += 1;
                if agg.run.state.is_final() {
                    self.count(format!(
                        "run {} {}",
                        agg.run.state.as_str(),
                        agg.run.state.reason().unwrap_or_default()
                    ));
                }
                agg.effects.iter().for_each(|e| self.count(format!("effect {}", e.state.as_str())));
            }
            Event::Committed { transition, .. } => {
                transition.entries.iter().for_each(|entry| self.count(format!("entry {}", entry.kind)));
            }
            _ => {}
        }
    }

    fn count(&mut self, word: String) {
        *self.words.entry(word).or_default() += 1;
    }

    pub fn add(&mut self, other: Self) {
        self.worlds += other.worlds;
        self.events += other.events;
        self.requests += other.requests;
        self.executions += other.executions;
        self.restarts += other.restarts;
        let pairs =
            [(&mut self.words, other.words), (&mut self.fates, other.fates), (&mut self.crashes, other.crashes)];
        for (mine, others) in pairs {
            for (word, n) in others {
                *mine.entry(word).or_default() += n;
            }
        }
    }

    /// Every fate struck, nearly every point was crashed at, and everything that matters happened.
    pub fn is_varied(&self) -> bool {
        let wanted = [
            "answer busy",
            "answer conflict",
            "answer decided before",
            "answer granted",
            "answer replay",
            "effect cancelled",
            "effect completed",
            "effect failed",
            "effect review",
            "effect unknown",
            "entry approval_expired",
            "entry attempt_lost",
            "entry edited",
            "entry effects_in_doubt",
            "entry late_report",
            "entry looked",
            "entry renewed",
            "said again",
        ];
        let missed: Vec<_> = wanted.into_iter().filter(|word| !self.words.contains_key(*word)).collect();
        println!("never seen: {missed:?}");
        missed.is_empty()
            && self.fates.len() >= 11
            && self.crashes.len() + RARE >= crate::crash::POINTS.len()
            && self.requests > self.executions
    }
}
