//! Who does what: one step is one act of a worker, a person, the server's workers, or fate. At the end everybody behaves
//! and the world is brought to rest.

use std::sync::Arc;

use effectgate_core::{
    approval::Verdict,
    effect::{Effect, EffectState},
    flow::Retention,
    gate::Gate,
    ids::{EffectId, Fence, Owner, RunId},
    inline::Reported,
    lease,
    operate::{Asker, Resolution},
    provider::{Class, Lookup},
    retry::Outcome,
    run::{Aggregate, RunState},
    sending,
    switch::Scope,
    transition::Transition,
};
use effectgate_engine::{
    EngineError,
    propose::{Asked, Proposal},
    reserve::Reserved,
};

use crate::{
    common::{HOUR, Held, Options, PAYLOAD, World, asked, lead, olga},
    dice::Dice,
    provider::{Fate, SimProvider},
};

pub struct Sim {
    pub world: World,
    pub provider: SimProvider,
    /// How often a person said "send again", by provider key, without knowing whether it had happened.
    pub sent_again: std::collections::BTreeMap<String, usize>,
    pub keys: usize,
    pub duplicates: usize,
    dice: Dice,
    held: Vec<Held>,
    /// What somebody decided on an old reading and has not written yet.
    stale: Vec<Transition>,
    off: Option<(Scope, &'static str)>,
    turns: usize,
}

const KEYS: usize = 25;

impl Sim {
    pub fn new(mut dice: Dice) -> Self {
        let lookup = |authoritative| Some(Lookup { settle_delay_ms: 120_000, authoritative, period_ms: 5_000 });
        let enforcing = Class::Enforcing { key_window_ms: 24 * HOUR, margin_ms: HOUR };
        let kinds =
            [(Class::Advisory, None), (enforcing, None), (Class::Advisory, lookup(true)), (enforcing, lookup(false))];
        let (class, lookup) = *dice.pick(&kinds);
        let clock = crate::common::TestClock::new();
        let provider = SimProvider::new(class, dice.named("provider"), clock.clone());
        let options = Options {
            class,
            lookup,
            mail_gate: Some(Gate::Approve),
            connector: Some(Arc::new(provider.clone())),
            connector_of_mail: Some(Arc::new(provider.clone())),
            claims_max: 40,
            retention: Retention { content_days: 3_650, key_days: 3_650, journal_days: 3_650 },
            ..Options::default()
        };
        let world = World::on(options, clock);
        Self {
            world,
            provider,
            sent_again: Default::default(),
            keys: 0,
            duplicates: 0,
            dice,
            held: Vec::new(),
            stale: Vec::new(),
            off: None,
            turns: 0,
        }
    }

    pub async fn step(&mut self) {
        match self.dice.below(22) {
            0..4 => self.deliver().await,
            4 | 5 => self.work().await,
            6..11 => self.dispatch().await,
            11 | 12 => drop(self.world.engine.sweep_tick().await.unwrap()),
            13 => {
                let ms = *self.dice.pick(&[1_000, 5_000, 31_000, 61_000, 61_000, 600_000, 3 * HOUR, 25 * HOUR]);
                self.world.clock.advance_ms(ms);
            }
            14 | 15 => self.decide().await,
            16 => self.review().await,
            17 => self.world.restart(),
            18 => self.provider.go_on(),
            19 | 20 => self.read_now_write_later().await,
            _ => self.turn().await,
        }
    }

    /// A delivery of some event, by chance again, by chance with another payload.
    async fn deliver(&mut self) {
        let n = self.dice.below(KEYS);
        self.keys = self.keys.max(n + 1);
        let owner = format!("w{}", self.dice.below(4));
        let other = self.dice.one_in(8) && !self.world.kinds(self.world.id_of(&format!("k{n}"))).await.is_empty();
        let payload = if other { r#"{"other":1}"# } else { PAYLOAD };
        match self.world.reserve(&format!("k{n}"), payload, &owner).await {
            answer if other => {
                assert!(matches!(answer, Reserved::Conflict { .. }), "{answer:?}");
                self.duplicates += 1;
            }
            Reserved::Granted { run, lease, .. } => {
                self.held.push(Held { run: *run, lease });
                // Most workers go on at once; the others are slow, or die here.
                if !self.dice.one_in(3) {
                    self.work().await;
                }
            }
            Reserved::Busy { .. } | Reserved::Replay { .. } | Reserved::Conflict { .. } => self.duplicates += 1,
        }
    }

    /// One of the workers, alive or long overtaken, does something under the lease it believes in.
    async fn work(&mut self) {
        if self.held.is_empty() {
            return;
        }
        // Usually the newest lease; by chance one that was overtaken long ago.
        let newest = self.held.len() - 1;
        let place = if self.dice.one_in(3) { self.dice.below(newest + 1) } else { newest };
        let held = self.held[place].clone();
        let done = match self.dice.below(10) {
            0..5 => self.propose(&held).await,
            5 => self.world.engine.complete(&self.world.call(&held, "complete", "r"), "{}").await.map(drop),
            6 => {
                let class = *self.dice.pick(&["worker_error", "model_timeout", "semantic", "schema_invalid"]);
                self.world.engine.fail(&self.world.call(&held, "fail", class), class, None).await.map(drop)
            }
            7 => {
                let (owner, fence) = (Owner::new(held.lease.owner.clone()), Fence(held.lease.fence));
                self.world.engine.renew(&self.world.caller.tenant, held.run.id, &owner, fence, None).await.map(drop)
            }
            _ => self.inline(&held).await,
        };
        if let Err(error) = done {
            let is_expected = matches!(
                error,
                EngineError::LeaseLost { .. }
                    | EngineError::EffectsOpen { .. }
                    | EngineError::NotBegun { .. }
                    | EngineError::SwitchOff
                    | EngineError::WrongState { .. }
            );
            assert!(is_expected, "{error:?}");
        }
    }

    async fn propose(&mut self, held: &Held) -> Result<(), EngineError> {
        let all = [("note", "c-1", "{}"), ("note", "c-2", r#"{"n":2}"#), ("mail", "a@example.test", "{}")];
        let from = self.dice.below(3);
        let effects = &all[from..from + 1 + self.dice.below(3 - from)];
        let call = self.world.call(held, "proposal", &format!("{effects:?}"));
        let first = self.world.engine.propose(&call, &asked(effects)).await?;
        if self.dice.one_in(2) {
            // The answer was lost on the way; the worker asks again.
            let again = self.world.engine.propose(&call, &asked(effects)).await?;
            let state = |p: &Proposal| match p {
                Proposal::Queued { run } | Proposal::Waiting { run, .. } | Proposal::Invalid { run, .. } => {
                    run.state.clone()
                }
            };
            assert!(again.repeated);
            assert_eq!(state(&again.answer), state(&first.answer));
        }
        Ok(())
    }

    /// The worker calls the provider itself, and may die at any point.
    async fn inline(&mut self, held: &Held) -> Result<(), EngineError> {
        let wanted = Asked { effect_type: "note".into(), target: Some("inline".into()), payload: "{}".into() };
        let call = self.world.call(held, "begin", "note");
        let begun = self.world.engine.begin(&call, &wanted).await?;
        if begun.repeated || !begun.answer.begun {
            return Ok(());
        }
        let effect = begun.answer.effect;
        let fate = self.provider.fate(&effect.provider_key);
        let outcome = match fate {
            Fate::Unreachable | Fate::Panic { executed: false } => Some(Outcome::NotSent),
            Fate::StallBeforeWrite => None,
            Fate::Refuse | Fate::RateLimit => {
                let known = self.provider.arrives(&effect.provider_key, "{}", false);
                Some(if known { Outcome::Applied } else { Outcome::Refused })
            }
            _ => {
                self.provider.arrives(&effect.provider_key, "{}", fate != Fate::Broken { executed: false });
                match fate {
                    Fate::Fine => Some(Outcome::Applied),
                    Fate::AnswerLost | Fate::Broken { .. } => Some(Outcome::Unknown),
                    _ => None,
                }
            }
        };
        let Some(outcome) = outcome else { return Ok(()) };
        let reported = Reported { outcome, external_id: None, message: None };
        let call = self.world.call(held, "settle", &format!("{reported:?}"));
        self.world.engine.settle_inline(&call, effect.id, &reported).await.map(drop)
    }

    /// A tick, and then as long as it takes for whatever does not stand still.
    async fn dispatch(&mut self) {
        self.world.engine.dispatch_tick().await.unwrap();
        self.settle_down().await;
    }

    async fn settle_down(&self) {
        // Attempts of an engine that was left behind stand still too; they are not under way in this one.
        while self.world.engine.under_way() > self.provider.stalled() {
            tokio::task::yield_now().await;
        }
    }

    async fn runs(&self) -> Vec<Aggregate> {
        let mut runs = Vec::new();
        for n in 0..self.keys {
            let id = self.world.id_of(&format!("k{n}"));
            runs.extend(self.world.store.run_load(&self.world.caller.tenant, id).await.unwrap());
        }
        runs
    }

    /// Two people look at the same card at once.
    async fn decide(&mut self) {
        let runs = self.runs().await;
        let open: Vec<RunId> =
            runs.iter().filter(|a| a.run.state.reason() == Some("approval")).map(|a| a.run.id).collect();
        if open.is_empty() {
            return;
        }
        let id = *self.dice.pick(&open);
        let (anna, bo) = (lead("anna"), lead("bo"));
        let reject = if self.dice.one_in(4) { Verdict::Reject } else { Verdict::Approve };
        let (one, two) =
            tokio::join!(self.world.decide(id, &anna, Verdict::Approve), self.world.decide(id, &bo, reject));
        assert!(!(one.is_ok() && two.is_ok()), "both decided");
    }

    /// A person settles something that is on the desk: by what really happened, or with a guess that says "again".
    async fn review(&mut self) {
        for agg in self.runs().await {
            for effect in &agg.effects {
                match effect.state {
                    EffectState::Review { .. } => {
                        let guess = self.dice.one_in(4);
                        self.settle(effect, guess).await;
                    }
                    EffectState::Pending { .. } | EffectState::Scheduled { .. } if self.dice.one_in(6) => {
                        // May be refused: one that may have left is not called back.
                        let tenant = &self.world.caller.tenant;
                        let _ =
                            self.world.engine.cancel(tenant, effect.id, &Asker::operator(olga()), "not wanted").await;
                    }
                    _ => {}
                }
            }
        }
    }

    async fn settle(&mut self, effect: &Effect, guess: bool) {
        let happened = self.provider.executed(&effect.provider_key) > 0;
        let how = match (happened, guess) {
            (_, true) => Resolution::SendAgain,
            (true, _) => Resolution::Happened { external_id: Some("found".into()) },
            (false, _) if self.dice.one_in(2) => Resolution::SendAgain,
            (false, _) => Resolution::Cancel,
        };
        if self.world.resolve(effect.id, how.clone()).await.is_ok() && how == Resolution::SendAgain {
            *self.sent_again.entry(effect.provider_key.clone()).or_default() += 1;
        }
    }

    /// A sweeper or dispatcher that reads, is suspended, and writes what it had decided much later.
    async fn read_now_write_later(&mut self) {
        for transition in std::mem::take(&mut self.stale) {
            // Whether it still fits is the store's to judge.
            self.world.store.commit(transition).await.unwrap();
        }
        let now = self.world.engine.now();
        for agg in self.runs().await {
            let policy = self.world.engine.policy();
            if agg.run.state == RunState::Processing && agg.lease.is_some_and(|lease| !lease.is_live) {
                self.stale.extend(lease::overtaken(&agg, now, policy));
            }
            self.stale.extend(agg.effects.iter().filter_map(|e| sending::expire(&agg.run, e, now)));
        }
    }

    async fn turn(&mut self) {
        match self.off.take() {
            Some((scope, name)) => {
                self.provider.stop(false);
                self.world.turn(scope, name, true).await;
            }
            // A turn waits a quarter of a second for the process's readings to age: one in a world is enough.
            None if self.turns < 1 => {
                let scopes = [(Scope::All, ""), (Scope::Tenant, "default"), (Scope::Flow, "ticket"), (Scope::All, "")];
                let (scope, name) = *self.dice.pick(&scopes);
                self.dispatch().await;
                self.world.turn(scope, name, false).await;
                self.provider.stop(true);
                // What stood still right before its write goes on now: it must find the switch off.
                self.provider.go_on();
                self.settle_down().await;
                (self.off, self.turns) = (Some((scope, name)), self.turns + 1);
            }
            None => {}
        }
    }

    /// Everybody behaves, until the world is at rest.
    pub async fn drain(&mut self) {
        if self.off.is_some() {
            self.turn().await;
        }
        self.provider.heal();
        for _ in 0..200 {
            self.world.clock.advance_ms(61_000);
            self.world.engine.sweep_tick().await.unwrap();
            self.dispatch().await;
            let open: Vec<_> = self.runs().await.into_iter().filter(|agg| !agg.run.state.is_final()).collect();
            if open.is_empty() {
                return;
            }
            for agg in open {
                self.bring_to_an_end(&agg).await;
            }
        }
        let open: Vec<_> = self.runs().await.into_iter().filter(|agg| !agg.run.state.is_final()).collect();
        panic!("not at rest: {open:#?}");
    }

    async fn bring_to_an_end(&mut self, agg: &Aggregate) {
        for effect in agg.effects.iter().filter(|e| matches!(e.state, EffectState::Review { .. })) {
            self.settle(effect, false).await;
        }
        match &agg.run.state {
            RunState::AwaitingHuman { .. } if agg.approval().is_some() => {
                let _ = self.world.decide(agg.run.id, &lead("anna"), Verdict::Approve).await;
            }
            RunState::Quarantined { .. } => {
                self.world.engine.release(&self.world.caller.tenant, agg.run.id, &olga(), "mended").await.unwrap();
            }
            RunState::Processing | RunState::Queued | RunState::FailedRetryable { .. } => {
                let answer = self.world.reserve(&agg.run.key, PAYLOAD, "last").await;
                if let Reserved::Granted { run, lease, .. } = answer {
                    self.finish(Held { run: *run, lease }).await;
                }
            }
            _ => {}
        }
    }

    async fn finish(&mut self, held: Held) {
        for effect in &held.run.effects {
            let wanted = Asked {
                effect_type: effect.effect_type.clone(),
                target: Some(effect.target.clone()),
                payload: "{}".into(),
            };
            let begun =
                self.world.engine.begin(&self.world.call(&held, "begin", &effect.target), &wanted).await.unwrap();
            if begun.answer.begun && !begun.repeated {
                self.provider.arrives(&effect.provider_key, "{}", true);
                let id: EffectId = begun.answer.effect.id;
                let applied = Reported { outcome: Outcome::Applied, external_id: None, message: None };
                let call = self.world.call(&held, "settle", &effect.target);
                self.world.engine.settle_inline(&call, id, &applied).await.unwrap();
            }
        }
        // Where something is open at the desk the next round finds it settled.
        let _ = self.world.engine.complete(&self.world.call(&held, "complete", "last"), "{}").await;
    }
}
