//! Who does what: one step is one act of a worker, a person, the server's workers, or fate, as the dice say. At the end
//! everybody behaves and the world is brought to rest.

use effectgate_core::{
    lease,
    run::{Aggregate, RunState},
    sending,
};
use effectgate_engine::reserve::Reserved;
use effectgate_store::Store as _;

use crate::{
    common::{HOUR, Held, PAYLOAD, olga, request},
    crash::POINTS,
    history::Event,
    world::World,
};

impl World {
    pub fn step(&mut self) {
        match self.dice.below(40) {
            0..6 => self.deliver(),
            6..10 => self.work(),
            10..17 => self.dispatch(),
            17..20 => self.sweep(),
            20..22 => self.reconcile(),
            22..26 => self.pass_time(),
            26 => self.set_the_clock(),
            27..30 => self.decide(),
            30 => self.review(),
            31 if self.dice.one_in(2) => self.contradict(),
            31 => self.cancel(),
            32 => self.arm(),
            33 => {
                let n = self.dice.below(self.replicas.len());
                self.die(n);
            }
            34 => self.provider.go_on(),
            35 | 36 => self.read_now_write_later(),
            37 | 38 => self.turn(),
            _ => {
                let n = self.dice.below(12);
                self.turns(n);
            }
        }
    }

    fn arm(&mut self) {
        let point = *self.dice.pick(&POINTS);
        self.crash.arm(Some(point));
    }

    fn pass_time(&mut self) {
        let ms = *self.dice.pick(&[1_000, 5_000, 31_000, 61_000, 61_000, 130_000, 600_000, 3 * HOUR, 25 * HOUR]);
        self.elapse(ms);
    }

    /// A tick, and then a few turns for the attempts: some end at once, some are still under way when the next thing
    /// happens.
    pub fn dispatch(&mut self) {
        let done = self.run(async |engine| engine.dispatch_tick().await.map(drop));
        if let Some(Err(error)) = done {
            self.unexpected(&error);
        }
        let n = *self.dice.pick(&[0, 3, 30, 30]);
        self.turns(n);
    }

    fn sweep(&mut self) {
        let done = self.run(async |engine| engine.sweep_rows().await.map(drop));
        if let Some(Err(error)) = done {
            self.unexpected(&error);
        }
    }

    /// In the background: a lookup may be slow.
    fn reconcile(&mut self) {
        let n = self.dice.below(self.replicas.len());
        let (engine, broken) = (self.replicas[n].engine.clone(), self.broken);
        self.replicas[n].spawn(async move {
            let done = engine.reconcile_tick().await;
            assert!(done.is_ok() || broken.is_some(), "{done:?}");
        });
        self.turns(20);
    }

    /// A sweeper that reads, is suspended, and writes what it had decided much later.
    fn read_now_write_later(&mut self) {
        let tap = self.tap.clone();
        for transition in std::mem::take(&mut self.stale) {
            // Whether it still fits is the store's to judge.
            let done = self.run(async |_| tap.commit(transition).await);
            assert!(self.broken.is_some() || done.is_none_or(|done| done.is_ok()));
        }
        for agg in self.runs() {
            let engine = &self.replicas[0].engine;
            let (now, policy) = (engine.now(), engine.policy());
            if agg.run.state == RunState::Processing && agg.lease.is_some_and(|lease| !lease.is_live) {
                self.stale.extend(lease::overtaken(&agg, now, policy));
            }
            self.stale.extend(agg.effects.iter().filter_map(|e| sending::expire(&agg.run, e, now)));
        }
    }

    /// Everybody behaves, until the world is at rest.
    pub fn drain(&mut self) {
        self.crash.arm(None);
        self.provider.heal();
        self.set_the_clock_ahead();
        if self.off.is_some() {
            self.turn();
        }
        for _ in 0..60 {
            self.elapse(61_000);
            self.sweep();
            self.reconcile();
            self.dispatch();
            self.turns(60);
            let open: Vec<_> = self.runs().into_iter().filter(|agg| !agg.run.state.is_final()).collect();
            if open.is_empty() {
                break;
            }
            open.iter().for_each(|agg| self.bring_to_an_end(agg));
        }
        self.note_what_is_there();
        let open: Vec<_> = self.runs().into_iter().filter(|agg| !agg.run.state.is_final()).collect();
        assert!(self.broken.is_some() || open.is_empty(), "not at rest: {open:#?}");
        self.history.push(Event::Rest);
    }

    fn bring_to_an_end(&mut self, agg: &Aggregate) {
        self.help(agg);
        match &agg.run.state {
            RunState::Quarantined { .. } => {
                let (tenant, id) = (self.caller.tenant.clone(), agg.run.id);
                let _ = self.run(async |engine| engine.release(&tenant, id, &olga(), "mended").await.map(drop));
            }
            RunState::Processing | RunState::Queued | RunState::FailedRetryable { .. } => {
                let (caller, request) = (self.caller.clone(), request(&agg.run.key, PAYLOAD, "last"));
                let answer = self.run(async |engine| engine.reserve(&caller, request).await);
                if let Some(Ok(Reserved::Granted { run, lease, .. })) = answer {
                    self.finish(&Held { run: *run, lease });
                }
            }
            _ => {}
        }
    }
}
