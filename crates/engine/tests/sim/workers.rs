//! What workers do: deliveries and their duplicates, proposals, endings, renewals, calls of their own (inline), under a
//! lease that lives or one that was overtaken long ago. A worker whose answer was lost asks again.

use effectgate_core::{
    ids::{Fence, Owner},
    inline::Reported,
    retry::Outcome,
};
use effectgate_engine::{
    EngineError,
    propose::{Asked, Proposal},
    reserve::Reserved,
};

use crate::{
    common::{Held, PAYLOAD, asked, request},
    history::{Arrival, Event},
    provider::Fate,
    world::{KEYS, World},
};

const OTHER: &str = r#"{"other":1}"#;

impl World {
    /// A delivery of some event, by chance twice at once, by chance again, by chance with another payload.
    pub fn deliver(&mut self) {
        let n = self.dice.below(KEYS);
        let is_known =
            self.history.events().iter().any(|e| matches!(e, Event::Made { run, .. } if run.id == self.id_of(n)));
        let other = is_known && self.dice.one_in(6);
        let payload = if other { OTHER } else { PAYLOAD };
        let owners = [format!("w{}", self.dice.below(3)), format!("w{}", self.dice.below(3))];
        let count = if self.dice.one_in(3) { 2 } else { 1 };
        for _ in 0..count {
            self.deliver_to(n, payload, other, &owners[..count]);
        }
    }

    fn deliver_to(&mut self, n: usize, payload: &'static str, other: bool, owners: &[String]) {
        let caller = self.caller.clone();
        let key = format!("k{n}");
        let requests: Vec<_> = owners.iter().map(|owner| request(&key, payload, owner)).collect();
        let answers = self.run(async |engine| {
            let asked = requests.into_iter().map(|request| engine.reserve(&caller, request));
            futures_util::future::join_all(asked).await
        });
        for answer in answers.into_iter().flatten() {
            match answer {
                Ok(answer) => self.delivered(answer, other),
                Err(error) => self.unexpected(&error),
            }
        }
    }

    fn delivered(&mut self, answer: Reserved, other: bool) {
        let (word, run) = match &answer {
            Reserved::Granted { run, .. } => ("granted", run),
            Reserved::Busy { run, .. } => ("busy", run),
            Reserved::Replay { run } => ("replay", run),
            Reserved::Conflict { run, .. } => ("conflict", run),
        };
        self.history.push(Event::Delivered { run: run.id, other, answer: word, state: run.state.clone() });
        let Reserved::Granted { run, lease, .. } = answer else { return };
        let (owner, fence) = (Owner::new(lease.owner.clone()), Fence(lease.fence));
        self.history.push(Event::Granted { run: run.id, owner, fence });
        self.held.push(Held { run: *run, lease });
        // Most workers go on at once; the others are slow, or die here.
        if !self.dice.one_in(3) {
            self.work();
        }
    }

    /// One of the workers, alive or long overtaken, does something under the lease it believes in.
    pub fn work(&mut self) {
        if self.held.is_empty() {
            return;
        }
        // Usually the newest lease; by chance one that was overtaken long ago.
        let newest = self.held.len() - 1;
        let place = if self.dice.one_in(3) { self.dice.below(newest + 1) } else { newest };
        let held = self.held[place].clone();
        match self.dice.below(12) {
            0..6 => self.propose(&held),
            6 => self.complete(&held),
            7 | 8 => self.fail(&held),
            9 => self.renew(&held),
            _ => self.inline(&held),
        }
    }

    /// Asks once, and again where the answer is lost on the way: with the process, or by chance.
    fn asking<T>(&mut self, ask: impl AsyncFn(&effectgate_engine::Engine) -> effectgate_engine::Result<(bool, T)>)
    where
        T: PartialEq + std::fmt::Debug,
    {
        let first = self.run(&ask);
        if first.is_some() && !self.dice.one_in(3) {
            return self.answered(first.map(|done| done.map(drop)));
        }
        let again = self.run(&ask);
        if let (Some(Ok((_, first))), Some(Ok((repeated, again))), None) = (&first, &again, self.broken) {
            assert!(*repeated && first == again, "another answer than the first: {first:?}, {again:?}");
        }
        self.answered(again.map(|done| done.map(drop)));
    }

    fn answered(&mut self, done: Option<effectgate_engine::Result<()>>) {
        if let Some(Err(error)) = done {
            self.unexpected(&error);
        }
    }

    /// A worker that is late, or whose effects are open, or that meets the switch, is told so. With a guard taken out
    /// anything may go wrong.
    pub fn unexpected(&self, error: &EngineError) {
        let is_expected = matches!(
            error,
            EngineError::LeaseLost { .. }
                | EngineError::EffectsOpen { .. }
                | EngineError::NotBegun { .. }
                | EngineError::SwitchOff
                | EngineError::WrongState { .. }
                | EngineError::DecisionRefused { .. }
        );
        assert!(is_expected || self.broken.is_some(), "{error:?}");
    }

    fn propose(&mut self, held: &Held) {
        let all = [("note", "c-1", "{}"), ("note", "c-2", r#"{"n":2}"#), ("mail", "a@example.test", "{}")];
        let from = self.dice.below(3);
        let effects = &all[from..from + 1 + self.dice.below(3 - from)];
        let call = self.call(held, "proposal", &format!("{effects:?}"));
        self.asking(async |engine| {
            let answered = engine.propose(&call, &asked(effects)).await?;
            let state = match answered.answer {
                Proposal::Queued { run } | Proposal::Waiting { run, .. } | Proposal::Invalid { run, .. } => run.state,
            };
            Ok((answered.repeated, state))
        });
    }

    fn complete(&mut self, held: &Held) {
        let call = self.call(held, "complete", "r");
        self.asking(async |engine| {
            let answered = engine.complete(&call, "{}").await?;
            Ok((answered.repeated, answered.answer.run.state))
        });
    }

    fn fail(&mut self, held: &Held) {
        let class = *self.dice.pick(&["worker_error", "model_timeout", "model_timeout", "semantic", "schema_invalid"]);
        let call = self.call(held, "fail", class);
        self.asking(async |engine| {
            let answered = engine.fail(&call, class, None).await?;
            Ok((answered.repeated, answered.answer.run.state))
        });
    }

    fn renew(&mut self, held: &Held) {
        let (owner, fence) = (Owner::new(held.lease.owner.clone()), Fence(held.lease.fence));
        let (tenant, id) = (self.caller.tenant.clone(), held.run.id);
        let done = self.run(async |engine| engine.renew(&tenant, id, &owner, fence, None).await.map(drop));
        self.answered(done);
    }

    /// The worker calls the provider itself, and may die at any point.
    fn inline(&mut self, held: &Held) {
        let wanted = wanted("inline");
        let call = self.call(held, "begin", "note");
        let begun = match self.run(async |engine| engine.begin(&call, &wanted).await) {
            Some(Ok(begun)) => begun,
            Some(Err(error)) => return self.unexpected(&error),
            None => return,
        };
        if begun.repeated || !begun.answer.begun {
            return;
        }
        let effect = begun.answer.effect;
        let fate = self.provider.fate(&effect.provider_key);
        let Some(outcome) = self.calls_itself(held, &effect, fate) else { return };
        let reported = Reported { outcome, external_id: None, message: None };
        let call = self.call(held, "settle", &format!("{reported:?}"));
        let done = self.run(async |engine| engine.settle_inline(&call, effect.id, &reported).await.map(drop));
        self.answered(done);
    }

    /// What the worker sees of its own call; `None` if it dies before it can say.
    fn calls_itself(
        &mut self,
        held: &Held,
        effect: &effectgate_engine::view::EffectView,
        fate: Fate,
    ) -> Option<Outcome> {
        let call = |executes| self.provider.arrives(of_worker(held, effect), executes);
        match fate {
            Fate::Unreachable | Fate::Panic { executed: false } => Some(Outcome::NotSent),
            Fate::StallBeforeWrite => None,
            Fate::Refuse | Fate::RateLimit => Some(if call(false) { Outcome::Applied } else { Outcome::Refused }),
            Fate::Broken { executed } => {
                call(executed);
                Some(Outcome::Unknown)
            }
            Fate::Fine | Fate::AnswerLost => {
                call(true);
                Some(if fate == Fate::Fine { Outcome::Applied } else { Outcome::Unknown })
            }
            Fate::StallAfterWrite | Fate::Panic { .. } => {
                call(true);
                None
            }
        }
    }

    /// The last worker: finishes what inline effects are there, and completes.
    pub fn finish(&mut self, held: &Held) {
        for effect in held.run.effects.iter().filter(|e| e.executor == "inline") {
            let call = self.call(held, "begin", &effect.target);
            let wanted = wanted(&effect.target);
            let Some(Ok(begun)) = self.run(async |engine| engine.begin(&call, &wanted).await) else { continue };
            if !begun.answer.begun || begun.repeated {
                continue;
            }
            self.provider.arrives(of_worker(held, &begun.answer.effect), true);
            let applied = Reported { outcome: Outcome::Applied, external_id: None, message: None };
            let (call, id) = (self.call(held, "settle", &effect.target), begun.answer.effect.id);
            let done = self.run(async |engine| engine.settle_inline(&call, id, &applied).await.map(drop));
            self.answered(done);
        }
        let call = self.call(held, "complete", "last");
        let done = self.run(async |engine| engine.complete(&call, "{}").await.map(drop));
        self.answered(done);
    }
}

fn wanted(target: &str) -> Asked {
    Asked { effect_type: "note".into(), target: Some(target.into()), payload: "{}".into() }
}

fn of_worker(held: &Held, effect: &effectgate_engine::view::EffectView) -> Arrival {
    Arrival {
        effect: effect.id,
        provider_key: effect.provider_key.clone(),
        payload: "{}".into(),
        fence: Fence(held.lease.fence),
        inline: true,
        executed: false,
    }
}
